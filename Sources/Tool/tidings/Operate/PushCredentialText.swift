import Foundation
import TidingsModel

/// Push credentials as lines for people, from the API's JSON.
enum PushCredentialText {
    static func list(_ all: [JSONValue]) -> [String] {
        let rows = all.map { credential in
            [
                self.text(credential, "id"), self.state(credential), self.kind(credential),
                self.list(credential, "environments"), self.topics(credential), self.proofs(credential),
                self.end(credential),
            ]
        }
        return TextTable.list(
            ["id", "state", "kind", "environments", "topics", "proof", "lasts"], rows,
            nothing: "there are no push credentials")
    }

    static func one(_ credential: JSONValue) -> [String] {
        var rows = [
            ["id", self.text(credential, "id")], ["state", self.state(credential)], ["kind", self.kind(credential)],
            ["team", credential["team_id"]?.stringValue ?? "not known"],
            ["environments", self.list(credential, "environments")], ["topics", self.topics(credential)],
            ["uploaded", TextTable.time(credential["created_at"])], ["lasts", self.end(credential)],
            ["fingerprint", self.text(credential, "fingerprint")],
        ]
        if let before = credential["replaces"]?.stringValue { rows.append(["goes back to", before]) }
        let proofs = credential["proofs"]?.arrayValue ?? []
        for proof in proofs { rows.append(["proof", "\(self.proof(proof)), \(TextTable.time(proof["at"]))"]) }
        if proofs.isEmpty { rows.append(["proof", "none"]) }
        for proven in credential["proven_topics"]?.arrayValue ?? [] {
            let place = "\(self.text(proven, "topic")) in \(self.text(proven, "environment"))"
            rows.append(["accepted", "\(place), first \(TextTable.time(proven["at"]))"])
        }
        return TextTable.lines(rows)
    }

    private static func state(_ credential: JSONValue) -> String {
        self.text(credential, "state").replacingOccurrences(of: "_", with: " ")
    }

    private static func kind(_ credential: JSONValue) -> String {
        self.text(credential, "kind") == "certificate" ? "certificate" : "key \(self.text(credential, "key_id"))"
    }

    private static func topics(_ credential: JSONValue) -> String {
        let topics = self.list(credential, "topics")
        return topics.isEmpty ? "every topic of the team" : topics
    }

    private static func proofs(_ credential: JSONValue) -> String {
        let proofs = (credential["proofs"]?.arrayValue ?? []).map(self.proof)
        return proofs.isEmpty ? "not proven" : proofs.joined(separator: ", ")
    }

    private static func proof(_ proof: JSONValue) -> String {
        let place = self.text(proof, "environment")
        guard proof["good"]?.boolValue != true else { return "proven in \(place)" }
        return "refused in \(place) (\(proof["reason"]?.stringValue ?? "no word of Apple's"))"
    }

    private static func end(_ credential: JSONValue) -> String {
        credential["expires_at"]?.intValue == nil
            ? "until it is revoked" : "until \(TextTable.time(credential["expires_at"]))"
    }

    private static func list(_ value: JSONValue, _ member: String) -> String {
        (value[member]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: ", ")
    }

    private static func text(_ value: JSONValue, _ member: String) -> String { value[member]?.stringValue ?? "?" }
}
