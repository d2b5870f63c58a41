import TidingsModel

/// Devices and their legs.
extension ReferenceStore {
    mutating func signIn(_ key: DeviceKey, platform: String, at: Int64) -> StoreResult {
        var person = self.people[key.user] ?? Person()
        let device: DeviceRecord
        if var known = person.devices[key.device], !known.isSignedOut {
            known.platform = platform
            known.signedInAt = at
            device = known
        } else {
            let head = person.head
            device = DeviceRecord(
                key: key, platform: platform, push: .none, settled: head, decided: head, since: head, signedInAt: at,
                isSignedOut: false)
        }
        person.devices[key.device] = device
        self.people[key.user] = person
        return .device(device)
    }

    mutating func signOut(_ key: DeviceKey, at: Int64) -> StoreResult {
        guard var device = self.people[key.user]?.devices[key.device], !device.isSignedOut else { return .done }
        device.push = .none
        device.isSignedOut = true
        self.people[key.user]?.devices[key.device] = device
        self.endLegs(of: key, .signedOut, at: at)
        return .done
    }

    mutating func setPushState(_ key: DeviceKey, _ state: PushState) -> StoreResult {
        guard let device = self.people[key.user]?.devices[key.device] else {
            return .refused(StoreRules.unknownDevice(key))
        }
        if device.isSignedOut { return .done }
        self.people[key.user]?.devices[key.device]?.push = state
        guard case .registered(let registration, let at) = state else { return .done }
        let others = self.people.filter { $0.key.app == key.user.app }.flatMap { $0.value.devices.values }
            .filter { $0.key != key && $0.push.registration == registration }.map(\.key).sorted()
        for other in others {
            self.people[other.user]?.devices[other.device]?.push = .none
            self.endLegs(of: other, .noToken, at: at)
        }
        return others.isEmpty ? .done : .taken(others)
    }

    private mutating func endLegs(of key: DeviceKey, _ end: LegEnd, at: Int64) {
        let legs = self.people[key.user]?.openLegs.keys.sorted().filter { $0.device == key.device } ?? []
        for leg in legs { _ = self.endLeg(EndedLeg(leg: leg, end: end, at: at)) }
    }

    mutating func advance(
        _ key: DeviceKey, settled: LogPosition?, decided: LogPosition?
    ) -> StoreResult {
        guard let person = self.people[key.user], var device = person.devices[key.device] else {
            return .refused(StoreRules.unknownDevice(key))
        }
        if let settled, settled > person.head {
            return .refused(StoreRules.pastHead(field: "settled", head: person.head, got: settled))
        }
        if let decided, decided > person.head {
            return .refused(StoreRules.pastHead(field: "decided", head: person.head, got: decided))
        }
        device.settled = max(device.settled, settled ?? 0)
        device.decided = max(device.decided, decided ?? 0)
        self.people[key.user]?.devices[key.device] = device
        return .done
    }

    mutating func keepLeg(_ leg: OpenLeg) -> StoreResult {
        self.people[leg.leg.user, default: Person()].openLegs[leg.leg] = leg
        return .done
    }

    mutating func endLeg(_ end: EndedLeg) -> StoreResult {
        self.people[end.leg.user]?.openLegs[end.leg] = nil
        if self.ended[end.leg.message]?[end.leg] == nil {
            self.ended[end.leg.message, default: [:]][end.leg] = end
        }
        return .done
    }

    mutating func keepReceipt(_ leg: LegID, _ receipt: LegReceipt, at: Int64) -> StoreResult {
        let key = ReceiptKey(leg: leg, receipt: receipt)
        if self.receipts[leg.message]?[key] == nil { self.receipts[leg.message, default: [:]][key] = at }
        return .done
    }
}
