import APNsModel
package import TidingsModel

// Providers' connections, keys and certificates.
extension APNsService {
    mutating func arrive(_ id: ConnectionID, into effects: inout [Effect]) {
        switch self.faults.arrival() {
        case .outage, .refuseConnect: effects.append(.refuseConnection(id))
        case .tlsAlert(let alert): effects.append(.alertTLS(id, alert))
        // Faults of other occasions, which `arrival` never answers.
        case nil, .respond, .delay, .loseAnswer, .blackHole, .resetStream, .refuseStream, .goAway, .cut, .streamLimit,
            .clockSkew:
            break
        }
    }

    mutating func open(
        _ id: ConnectionID, _ host: ProviderHost, _ certificate: ClientCertificateFacts?, at now: Now,
        into effects: inout [Effect]
    ) {
        guard !self.faults.cutsOpened() else { return effects.append(.cutConnection(id)) }
        if let certificate, let alert = self.credentials.alert(on: certificate, at: now) {
            return effects.append(.alertTLS(id, alert))
        }
        self.connections[id] = ProviderConnection(
            host: host, certificate: certificate, rules: self.configuration, at: now)
        if let certificate, !certificate.environments.contains(host.environment) {
            return self.closeWithGoAway(id, .badCertificateEnvironment, into: &effects)
        }
        self.watch(id, at: now)
    }

    /// Limits that the plan before has set end with it.
    mutating func change(_ plan: FaultPlan, into effects: inout [Effect]) {
        self.faults = FaultState(plan)
        for id in self.connections.keys.sorted() {
            if self.faults.outage {
                self.connections[id] = nil
                effects.append(.cutConnection(id))
            } else {
                self.connections[id]?.limit(by: nil)
                self.announceLimit(id, into: &effects)
            }
        }
    }

    mutating func announceLimit(_ id: ConnectionID, into effects: inout [Effect]) {
        guard let limit = self.connections[id]?.changedStreamLimit(self.configuration) else { return }
        effects.append(.announceStreamLimit(id, limit))
    }

    /// APNs reference, section 3.3. Every request so far is answered.
    mutating func closeWithGoAway(_ id: ConnectionID, _ reason: APNsReason, into effects: inout [Effect]) {
        guard let connection = self.connections.removeValue(forKey: id) else { return }
        effects.append(
            .goAway(
                id, lastStream: connection.lastStream, code: HTTP2Code.noError, debug: APNsResponse.body(of: reason)))
    }

    /// Apple lets a team have two team-scoped keys and 200 topic-specific ones in an environment (APNs reference,
    /// section 4, "Key kinds"). Revoked ones do not count. - Throws: `InvalidField` naming the member and the rule.
    package func check(_ key: ProviderKey) throws(InvalidField) {
        // tidy: order does not leave: they are counted and searched.
        let known = Array(self.credentials.keys.values)
        try key.validate(prefix: "", among: known + [key])
        for (index, topic) in (key.topics ?? []).enumerated() where !APNsFormat.isBundleID(topic) {
            throw InvalidField(field: "topics[\(index)]", rule: "must be a bundle identifier")
        }
        guard let related = key.relatedKeyID else { return }
        guard known.contains(where: { $0.keyID == related && $0.teamID == key.teamID }) else {
            throw InvalidField(field: "related_key_id", rule: "must name a key of the team, got \(related)")
        }
    }

    mutating func change(_ event: Event, into effects: inout [Effect]) {
        switch event {
        case .keyAdded(let key):
            self.credentials.keys[key.keyID] = key
            self.undo(.revokedKey, key.keyID, into: &effects)
            self.save(ServiceRecord(kind: .key, key: key.keyID, json: key.json), into: &effects)
        case .keyRevoked(let keyID):
            self.credentials.keys[keyID] = nil
            self.undo(.key, keyID, into: &effects)
            self.save(
                ServiceRecord(kind: .revokedKey, key: keyID, json: ["key_id": .string(keyID)]), into: &effects)
        case .certificateRevoked(let fingerprint):
            self.credentials.revokedCertificates.insert(fingerprint)
            self.save(
                ServiceRecord(
                    kind: .revokedCertificate, key: fingerprint, json: ["fingerprint": .string(fingerprint)]),
                into: &effects)
        case .bundleIDRegistered(let teamID, let bundleID):
            // A team without a list may use every topic already.
            guard self.credentials.bundleIDs[teamID] != nil else { return }
            self.credentials.bundleIDs[teamID]?.insert(bundleID)
            self.save(
                ServiceRecord(
                    kind: .bundleID, key: "\(teamID)/\(bundleID)",
                    json: ["team_id": .string(teamID), "bundle_id": .string(bundleID)]), into: &effects)
        case .connectionArrived, .connectionOpened, .connectionClosed, .requestReceived, .phoneConnected,
            .courierClosed,
            .registrationRequested, .unregistrationRequested, .deliveryAcknowledged, .powerReported, .appReported,
            .subscriptionChanged, .faultsChanged, .tokenRetired, .deviceRegistered, .tallyChanged,
            .broadcastCapabilityChanged, .shutdownBegun,
            .timeReached:
            break
        }
    }

    private mutating func save(_ record: ServiceRecord, into effects: inout [Effect]) {
        self.changes[record.kind, default: [:]][record.key] = record
        effects.append(.save(record))
    }

    private mutating func undo(_ kind: ServiceRecord.Kind, _ key: String, into effects: inout [Effect]) {
        guard self.changes[kind]?.removeValue(forKey: key) != nil else { return }
        effects.append(.forget(kind, key: key))
    }

    mutating func switchBroadcast(_ bundleID: String, isOn: Bool, into effects: inout [Effect]) {
        let isOff = self.channels.off.contains(bundleID)
        guard isOff == isOn else { return }
        for name in self.channels.switchBroadcast(bundleID, isOn: isOn) { self.deleteChannel(name, into: &effects) }
        if isOn {
            effects.append(.forget(.broadcastOff, key: bundleID))
        } else {
            effects.append(.save(Self.broadcastOffRecord(bundleID)))
        }
    }

    static func broadcastOffRecord(_ bundleID: String) -> ServiceRecord {
        ServiceRecord(kind: .broadcastOff, key: bundleID, json: ["bundle_id": .string(bundleID)])
    }

    mutating func deleteChannel(_ name: ChannelName, into effects: inout [Effect]) {
        for phone in self.channels.delete(name) {
            let subscriber = ChannelStore.Subscriber(phone: phone, channel: name)
            effects.append(.forget(.subscription, key: ChannelStore.key(subscriber)))
        }
        effects.append(.forget(.channel, key: name.recordKey))
        effects.append(.save(Self.deletedRecord(name)))
    }

    static func deletedRecord(_ name: ChannelName) -> ServiceRecord {
        ServiceRecord(kind: .deletedChannel, key: name.recordKey, json: name.json)
    }
}

/// RFC 9113, section 7.
package enum HTTP2Code {
    static let noError: UInt32 = 0
    static let protocolError: UInt32 = 1
    /// The request was not processed (RFC 9113, section 8.7).
    package static let refusedStream: UInt32 = 7
}
