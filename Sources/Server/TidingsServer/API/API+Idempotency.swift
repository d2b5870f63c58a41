import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// Under what the core carries a request out at most once.
struct Once: Equatable, Sendable {
    var key: IdempotencyKey
    var fingerprint: [UInt8]

    static let header = "Idempotency-Key"
    static let bytesMax = 128

    func wrap(_ command: APICommand) -> APICommand { .once(self.key, fingerprint: self.fingerprint, command) }
}

extension APIProblem {
    static let keyReused = APIProblem(
        .idempotencyKeyReused, field: Once.header, rule: "must be new: it was another request's in the last 24 hours")
    static let keyInUse = APIProblem(
        .idempotencyKeyInUse, field: Once.header, rule: "must wait: its first request is not answered yet",
        headers: [.retryAfter: "1"])
}

extension APIKeys.Caller {
    /// The name that keeps the keys of one app apart. No API key has a name with a colon.
    var idempotencyName: String {
        switch self {
        case .key(let name): name
        case .ofOperator(let name): "operator:\(name)"
        }
    }
}

extension API {
    private static let idempotencyKey = HTTPField.Name(Once.header)

    /// The body, and the idempotency key of a POST that has one: to put something twice is to put it once.
    /// - Parameter without: members that make no other request of it: a password must not be in a digest that the store keeps.
    func keyedBody(
        _ request: Request, _ context: Context, _ app: AppID, mayBeEmpty: Bool = false,
        without: Set<String> = [API.ownPassword]
    ) async throws -> (body: APIBody, once: Once?) {
        let text = try Self.idempotencyKey(of: request)
        let bytes = try await self.bytes(request)
        let body = try APIBody(bytes.isEmpty && mayBeEmpty ? Array("{}".utf8) : bytes)
        guard let text, let caller = context.note.caller else { return (body, nil) }
        let key = IdempotencyKey(app: app, apiKey: caller.idempotencyName, text: text)
        let members = body.allMembers.object.members
        let kept = members.filter { !without.contains($0.key) }
        let asked =
            kept.count == members.count
            ? bytes : Array(JSONValue.members(kept.map { ($0.key, $0.value) }).serialized)
        return (body, Once(key: key, fingerprint: Self.fingerprint(of: request, asked)))
    }

    /// Two requests that differ in a byte are two: what they ask for is not compared.
    private static func fingerprint(of request: Request, _ body: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: Data("\(request.method.rawValue) \(request.uri.string)\n".utf8))
        hash.update(data: Data(body))
        return Array(hash.finalize())
    }

    /// A string of structured fields (RFC 8941 §3.3.3), as the draft wants it; without its quotation marks it is the same key.
    static func idempotencyKey(of request: Request) throws(InvalidField) -> String? {
        guard request.method == .post, let name = Self.idempotencyKey else { return nil }
        let values = request.headers[values: name]
        guard let value = values.first else { return nil }
        guard values.count == 1 else { throw InvalidField(field: Once.header, rule: "must not be there twice") }
        guard let text = Self.unquoted(value.trimmingCharacters(in: .whitespaces)),
            (1...Once.bytesMax).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else {
            throw InvalidField(
                field: Once.header,
                rule: "must be 1 to \(Once.bytesMax) visible ASCII characters in quotation marks")
        }
        return text
    }

    /// Nil for text that begins as a string and is none.
    private static func unquoted(_ value: String) -> String? {
        guard value.hasPrefix("\"") else { return value }
        guard value.count >= 2, value.hasSuffix("\"") else { return nil }
        var text = ""
        var isEscaped = false
        for character in value.dropFirst().dropLast() {
            if isEscaped {
                guard character == "\"" || character == "\\" else { return nil }
                text.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                return nil
            } else {
                text.append(character)
            }
        }
        return isEscaped ? nil : text
    }
}
