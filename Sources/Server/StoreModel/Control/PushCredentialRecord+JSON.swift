package import TidingsModel

// How a store keeps push credentials, with their app.
extension PushCredentialRecord {
    package var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("id", .string(self.id)), ("kind", .string(self.kind.rawValue)), ("key", .string(self.sealed.keyID)),
            ("sealed", .string(Base64.encode(self.sealed.bytes, .url))), ("fingerprint", .string(self.fingerprint)),
            ("topics", .texts(self.topics)), ("environments", .texts(self.environments.map(\.rawValue))),
            ("created_at", .int(self.createdAt)), ("state", .string(self.state.rawValue)),
        ]
        if let keyID = self.keyID { members.append(("key_id", .string(keyID))) }
        if let teamID = self.teamID { members.append(("team_id", .string(teamID))) }
        if let subject = self.subject { members.append(("subject", .string(subject))) }
        if let end = self.expiresAt { members.append(("expires_at", .int(end))) }
        if let other = self.replaces { members.append(("replaces", .string(other))) }
        if !self.proofs.isEmpty { members.append(("proofs", .array(self.proofs.map(\.json)))) }
        if !self.provenTopics.isEmpty {
            members.append(("proven_topics", .array(self.provenTopics.map(\.json))))
        }
        return .members(members)
    }

    package init(json fields: JSONFields) throws(InvalidField) {
        let sealed: String = try fields.get("sealed")
        guard let kind: Kind = try fields.word("kind"), let state: State = try fields.word("state") else {
            throw fields.problem("kind", "is missing, or state is")
        }
        guard let bytes = Base64.decode(Array(sealed.utf8), isStrict: true) else {
            throw fields.problem("sealed", "must be base64 without padding")
        }
        self.init(
            id: try fields.get("id"), kind: kind, sealed: SealedBytes(keyID: try fields.get("key"), bytes: bytes),
            fingerprint: try fields.get("fingerprint"), keyID: try fields.given("key_id"),
            teamID: try fields.given("team_id"), subject: try fields.given("subject"),
            topics: try fields.get("topics"), environments: try fields.get("environments"),
            createdAt: try fields.get("created_at"), expiresAt: try fields.given("expires_at"), state: state)
        self.replaces = try fields.given("replaces")
        if fields.has("proofs") {
            for proof in try fields.list("proofs") { self.proofs.append(try Proof(json: proof)) }
        }
        if fields.has("proven_topics") {
            for topic in try fields.list("proven_topics") { self.provenTopics.append(try ProvenTopic(json: topic)) }
        }
    }
}

extension PushCredentialRecord.Proof {
    fileprivate var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("environment", .string(self.environment.rawValue)), ("good", .bool(self.isGood)), ("at", .int(self.at)),
        ]
        if let reason = self.reason { members.append(("reason", .string(reason))) }
        return .members(members)
    }

    fileprivate init(json fields: JSONFields) throws(InvalidField) {
        self.init(
            try fields.get("environment"), isGood: try fields.get("good"), reason: try fields.given("reason"),
            at: try fields.get("at"))
    }
}

extension PushCredentialRecord.ProvenTopic {
    fileprivate var json: JSONValue {
        .members([
            ("topic", .string(self.topic)), ("environment", .string(self.environment.rawValue)), ("at", .int(self.at)),
        ])
    }

    fileprivate init(json fields: JSONFields) throws(InvalidField) {
        self.init(try fields.get("topic"), try fields.get("environment"), at: try fields.get("at"))
    }
}
