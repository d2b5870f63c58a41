import TidingsModel

// The rules of an app's push credentials, which are a part of those of `ControlState`.
//
// - Several are active at a time; which of them a push goes out with is `PushCredentialChoice`'s. One that is uploaded is not active.
// - Who takes the place of another keeps it, so that it can be rolled back to: one, the last that worked. The one which that had
//   replaced goes, and with it its sealed bytes; unless it alone has worked: then it is the one that is kept.
// - An active one is not removed. One that has expired becomes active neither by itself nor by a roll-back.
// - What APNs says of them is noted without a new revision of the app: nobody has changed anything.
extension ControlState {
    mutating func apply(
        _ change: PushCredentialChange, to id: AppID, at now: Int64
    ) throws(ServerFrame.Problem) -> ControlAnswer {
        try self.changeApp(id, at: now, isRevision: change.isRevision) { app throws(ServerFrame.Problem) in
            try app.apply(change, at: now)
        }
    }
}

extension PushCredentialChange {
    fileprivate var isRevision: Bool {
        switch self {
        case .add, .activate, .retire, .rollBack, .remove: true
        case .noteProof, .noteAccepted: false
        }
    }
}

extension ManagedApp {
    fileprivate mutating func apply(_ change: PushCredentialChange, at now: Int64) throws(ServerFrame.Problem) {
        switch change {
        case .add(let record): try self.add(record, isImport: false)
        case .activate(let id, let other, let unproven):
            try self.activate(try self.place(ofCredential: id), inPlaceOf: other, unproven: unproven, at: now)
        case .retire(let id):
            let place = try self.place(ofCredential: id)
            try self.require(.active, at: place)
            self.pushCredentials[place].state = .replaced
            self.pushCredentials[place].replaces = nil
        case .rollBack(let id): try self.rollBack(try self.place(ofCredential: id), at: now)
        case .remove(let id):
            let place = try self.place(ofCredential: id)
            guard self.pushCredentials[place].state != .active else {
                throw .init(
                    code: .notAllowed, field: "credential",
                    rule: "must not be active: put another in its place, roll it back or retire it")
            }
            self.forget(id)
        case .noteProof(let id, let proof):
            guard let place = self.pushCredentials.firstIndex(where: { $0.id == id }) else { return }
            self.pushCredentials[place].noteProof(proof)
        case .noteAccepted(let id, let topic, let environment):
            guard let place = self.pushCredentials.firstIndex(where: { $0.id == id }) else { return }
            self.pushCredentials[place].noteAccepted(topic, environment, at: now)
        }
    }

    /// - Parameter isImport: it may be active at once, as the one in a configuration file was.
    mutating func add(_ record: PushCredentialRecord, isImport: Bool) throws(ServerFrame.Problem) {
        guard !self.pushCredentials.contains(where: { $0.id == record.id }) else {
            throw ControlState.taken("credential", record.id)
        }
        guard !self.pushCredentials.contains(where: { $0.fingerprint == record.fingerprint }) else {
            throw ControlState.taken("fingerprint", record.fingerprint)
        }
        try ControlState.check { () throws(InvalidField) in
            try record.validate()
            try InvalidField.check(
                self.pushCredentials.count + 1, atMost: Self.pushCredentialsMax, "push_credentials")
        }
        var new = record
        new.environments = PushEnvironment.allCases.filter { record.environments.contains($0) }
        new.state = isImport && record.state == .active ? .active : .uploaded
        (new.replaces, new.proofs, new.provenTopics) = (nil, [], [])
        self.pushCredentials.append(new)
    }

    private mutating func activate(
        _ place: Int, inPlaceOf other: String?, unproven: Bool, at now: Int64
    ) throws(ServerFrame.Problem) {
        let record = self.pushCredentials[place]
        guard record.state != .active else {
            guard other == nil else {
                throw .init(code: .notAllowed, field: "credential", rule: "must not be active by now")
            }
            return
        }
        try Self.requireGood(record, at: now)
        guard unproven || record.proofs.contains(where: \.isGood) else {
            throw .init(
                code: .notAllowed, field: "credential",
                rule: "must be proven in one environment at least, or be activated unproven")
        }
        let kept = try other.map { other throws(ServerFrame.Problem) in try self.replace(other, by: record.id) }
        let index = try self.place(ofCredential: record.id)
        // It may have been kept for a roll-back of another.
        for place in self.pushCredentials.indices where self.pushCredentials[place].replaces == record.id {
            self.pushCredentials[place].replaces = nil
        }
        self.pushCredentials[index].state = .active
        self.pushCredentials[index].replaces = kept
    }

    /// - Returns: the one that is kept for a roll-back: the one that is replaced, or, if that has not worked, the one that it had replaced.
    private mutating func replace(
        _ id: String, by successor: String
    ) throws(ServerFrame.Problem) -> String {
        let place = try self.place(ofCredential: id)
        try self.require(.active, at: place)
        let before = self.pushCredentials.first { $0.id == self.pushCredentials[place].replaces }
        let works = self.pushCredentials[place].proofs.contains(where: \.isGood)
        self.pushCredentials[place].state = .replaced
        self.pushCredentials[place].replaces = nil
        // One that comes back may be the one that would go.
        guard let before, before.id != successor else { return id }
        guard works || !before.proofs.contains(where: \.isGood) else { return before.id }
        self.forget(before.id)
        return id
    }

    private mutating func rollBack(_ place: Int, at now: Int64) throws(ServerFrame.Problem) {
        try self.require(.active, at: place)
        guard let id = self.pushCredentials[place].replaces,
            let before = self.pushCredentials.firstIndex(where: { $0.id == id })
        else {
            throw .init(
                code: .notAllowed, field: "credential", rule: "must have taken the place of one that is still kept")
        }
        try Self.requireGood(self.pushCredentials[before], at: now)
        self.pushCredentials[before].state = .active
        self.pushCredentials[place].state = .rolledBack
        self.pushCredentials[place].replaces = nil
    }

    private static func requireGood(_ record: PushCredentialRecord, at now: Int64) throws(ServerFrame.Problem) {
        guard !record.isExpired(at: now) else {
            throw .init(code: .notAllowed, field: "credential", rule: "must not have expired: \"\(record.id)\" has")
        }
    }

    private func require(_ state: PushCredentialRecord.State, at place: Int) throws(ServerFrame.Problem) {
        let record = self.pushCredentials[place]
        guard record.state == state else {
            throw .init(
                code: .notAllowed, field: "credential",
                rule: "must be \(state.rawValue), but \"\(record.id)\" is \(record.state.rawValue)")
        }
    }

    private func place(ofCredential id: String) throws(ServerFrame.Problem) -> Int {
        guard let place = self.pushCredentials.firstIndex(where: { $0.id == id }) else {
            throw ControlState.unknown("credential", "a push credential of the app", id)
        }
        return place
    }

    /// Removes it, sealed bytes and all, if it is not active.
    private mutating func forget(_ id: String?) {
        guard let id else { return }
        self.pushCredentials.removeAll { $0.id == id && $0.state != .active }
        for index in self.pushCredentials.indices where self.pushCredentials[index].replaces == id {
            self.pushCredentials[index].replaces = nil
        }
    }
}

extension PushCredentialRecord {
    fileprivate func validate() throws(InvalidField) {
        func check(_ text: String?, _ field: String, upTo bytesMax: Int = 64) throws(InvalidField) {
            guard let text else { return }
            let isClean = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
            try InvalidField.check(
                (1...bytesMax).contains(text.utf8.count) && isClean, field,
                "must be 1 to \(bytesMax) characters of ASCII without spaces")
        }
        try check(self.id, "credential")
        try check(self.keyID, "key_id")
        try check(self.teamID, "team_id")
        try check(self.subject, "subject", upTo: 255)
        try self.sealed.validate("credential", upTo: Self.sealedBytesMax)
        try InvalidField.check(
            Hexadecimal.bytes(self.fingerprint.utf8)?.count == 32, "fingerprint", "must be 64 hexadecimal digits")
        try InvalidField.check(self.topics.count, atMost: Self.topicsMax, "topics")
        for topic in self.topics { try check(topic, "topics", upTo: 255) }
        try InvalidField.check(!self.environments.isEmpty, "environments", "must not be empty")
        switch self.kind {
        case .tokenKey:
            try InvalidField.check(self.keyID != nil, "key_id", "must be given for a token key")
            try InvalidField.check(self.teamID != nil, "team_id", "must be given for a token key")
        case .certificate:
            try InvalidField.check(!self.topics.isEmpty, "topics", "must not be empty for a certificate")
            try InvalidField.check(self.expiresAt != nil, "expires_at", "must be given for a certificate")
        }
    }

    fileprivate mutating func noteProof(_ proof: Proof) {
        self.proofs.removeAll { $0.environment == proof.environment }
        self.proofs.append(proof)
        self.proofs.sort { PushEnvironment.place(of: $0.environment) < PushEnvironment.place(of: $1.environment) }
    }

    /// An accepted push proves the credential, too.
    fileprivate mutating func noteAccepted(_ topic: String, _ environment: PushEnvironment, at now: Int64) {
        if self.proof(in: environment)?.isGood != true { self.noteProof(Proof(environment, isGood: true, at: now)) }
        guard !self.isProven(topic, in: environment), self.provenTopics.count < 2 * Self.topicsMax else { return }
        self.provenTopics.append(ProvenTopic(topic: topic, environment: environment, at: now))
        self.provenTopics.sort {
            ($0.topic, PushEnvironment.place(of: $0.environment))
                < ($1.topic, PushEnvironment.place(of: $1.environment))
        }
    }
}

extension PushEnvironment {
    fileprivate static func place(of environment: PushEnvironment) -> Int {
        switch environment {
        case .sandbox: 0
        case .production: 1
        }
    }
}
