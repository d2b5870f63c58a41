import ServerCore
import StoreModel
import TidingsModel

/// The way in for the first operator: a person who may ask over the socket beside the database has the server's own user, and could read
/// its secrets anyway.
struct OperatorKeys: Sendable {
    let registry: AppRegistry
    let core: @Sendable (APICommand) async -> APIResult
    let audit: AuditLog

    /// In words for a person.
    struct Refusal: Error, CustomStringConvertible {
        var description: String
    }

    /// Adds an operator; of one there is, sets the role, and replaces the key at once.
    /// - Parameter words: name and role.
    /// - Returns: the key, which is kept nowhere.
    func draw(for words: String) async throws -> String {
        let parts = words.split(separator: " ")
        guard parts.count == 2, let role = OperatorRole(rawValue: String(parts[1])) else {
            let roles = OperatorRole.allCases.map(\.rawValue).joined(separator: ", ")
            throw Refusal(description: "must be operator, a name, and one of \(roles)")
        }
        let name = String(parts[0])
        let (key, hash) = APIKeys.draw(APIKeys.operatorPrefix)
        let now = Clocks.now().wall
        let known = self.registry.operatorNamed(name)
        if let known {
            if known.role != role { try await self.change(.setOperatorRole(name: name, role)) }
            try await self.change(.rotateOperator(name: name, hash: hash, previousEndsAt: now))
        } else {
            let record = OperatorRecord(name: name, role: role, hashes: KeyHashes(hash), createdAt: now)
            try await self.change(.addOperator(record))
        }
        self.audit.logLocalChange(known == nil ? "added" : "key replaced", operator: name, role.rawValue)
        return key
    }

    /// Makes a one-time link to the console, and an operator who administers if there is none of that name.
    /// - Returns: the link with its secret, which is kept nowhere.
    func drawLink(for name: String, _ access: ConsoleAccess, _ address: ConsoleAddress) async throws -> String {
        guard access.isEnabled else { throw Refusal(description: "console.enabled must be true") }
        guard access.takesLocal else {
            throw Refusal(description: "console.local must be true where a proxy is named or api.host is open")
        }
        guard let address = address.text else {
            throw Refusal(
                description: "the server must be ready, and api.host an address of this machine alone or all of them")
        }
        let isNew = self.registry.operatorNamed(name) == nil
        if isNew {
            // Nobody knows the key: another is drawn when one is wanted.
            let (_, hash) = APIKeys.draw(APIKeys.operatorPrefix)
            let now = Clocks.now().wall
            try await self.change(
                .addOperator(OperatorRecord(name: name, role: .administer, hashes: KeyHashes(hash), createdAt: now)))
        }
        let role = self.registry.operatorNamed(name)?.role ?? .administer
        self.audit.logLocalChange(
            isNew ? "added, and a link to the console made" : "link to the console made", operator: name, role.rawValue)
        return "\(address)/console/#link=\(access.links.draw(for: name, at: Clocks.now()))"
    }

    private func change(_ change: ControlChange) async throws {
        switch await self.core(.changeControl(.by(ControlAuthor(.commandLine), change))) {
        case .control: return
        case .refused(let problem): throw Refusal(description: "\(problem.field) \(problem.rule)")
        default: throw Refusal(description: "the server failed; see its log")
        }
    }
}
