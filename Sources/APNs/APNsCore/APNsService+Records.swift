import APNsModel
package import TidingsModel

// What is found again after a restart.
extension APNsService {
    /// Without connections and faults, every phone away. - Parameter records: what `Effect.save` asked to keep and
    /// `Effect.forget` did not remove, in any order. - Throws: `InvalidField` naming the kind and key of a record
    /// that cannot be read.
    package init(configuration: Configuration, restoring records: [ServiceRecord]) throws(InvalidField) {
        self.init(configuration: configuration)
        // Channels before their listeners, the older push before the newer.
        let order = ServiceRecord.Kind.allCases
        var pushes: [AcceptedPush] = []
        for kind in order {
            for record in records.filter({ $0.kind == kind }).sorted(by: { $0.key < $1.key }) {
                try InvalidField.check(
                    self.restore(record, pushes: &pushes), "record \(kind.rawValue) \(record.key)", "cannot be read")
            }
        }
        for push in pushes.sorted(by: { ($0.acceptedAt, $0.uniqueID) < ($1.acceptedAt, $1.uniqueID) }) {
            self.couriers[push.target.phone, default: Courier(push.target.phone, rules: configuration)].waiting
                .append(Courier.Parcel(push: push, isStored: true))
        }
    }

    private mutating func restore(_ record: ServiceRecord, pushes: inout [AcceptedPush]) -> Bool {
        let json = record.json
        switch record.kind {
        case .device:
            guard let device = RegisteredDevice(record: json) else { return false }
            self.registry.restore(device)
        case .push:
            guard let push = AcceptedPush(record: json) else { return false }
            pushes.append(push)
        case .key:
            guard let key = try? ProviderKey(json: json) else { return false }
            self.credentials.keys[key.keyID] = key
            self.changes[.key, default: [:]][record.key] = record
        case .revokedKey:
            self.credentials.keys[record.key] = nil
            self.changes[.revokedKey, default: [:]][record.key] = record
        case .revokedCertificate:
            self.credentials.revokedCertificates.insert(record.key)
            self.changes[.revokedCertificate, default: [:]][record.key] = record
        case .bundleID:
            guard let teamID = json["team_id"]?.stringValue, let bundleID = json["bundle_id"]?.stringValue else {
                return false
            }
            self.credentials.bundleIDs[teamID]?.insert(bundleID)
            self.changes[.bundleID, default: [:]][record.key] = record
        case .broadcastOff:
            _ = self.channels.switchBroadcast(record.key, isOn: false)
        case .channel:
            guard let channel = BroadcastChannel(record: json) else { return false }
            self.channels[channel.name] = channel
        case .deletedChannel:
            guard let name = try? ChannelName(json: json) else { return false }
            self.channels.restoreDeleted(name)
        case .subscription:
            guard let name = try? ChannelName(json: json), let phone = json["phone"]?.stringValue,
                let seen = json["seen"]?.intValue
            else { return false }
            _ = self.channels.subscribe(ChannelStore.Subscriber(phone: PhoneID(phone), channel: name), seen: seen)
        }
        return true
    }

    /// By kind and key: what a shell holds that has followed every `save` and `forget`.
    package var records: [ServiceRecord] {
        var all = self.registry.devices.map(\.record)
        // tidy: order does not leave: the records are sorted below.
        for courier in self.couriers.values { all += courier.waiting.filter(\.isStored).map(\.push.record) }
        // tidy: order does not leave: the records are sorted below.
        for records in self.changes.values { all += records.values }
        // tidy: order does not leave: the records are sorted below.
        all += self.channels.off.map { Self.broadcastOffRecord($0) }
        all += self.channels.all.map(\.record)
        // tidy: order does not leave: the records are sorted below.
        all += self.channels.deleted.map { Self.deletedRecord($0) }
        all += self.channels.subscriptionRecords
        return all.sorted { ($0.kind.rawValue, $0.key) < ($1.kind.rawValue, $1.key) }
    }
}
