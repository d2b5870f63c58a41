import ClientCore
import Foundation
import TidingsModel

@testable import TidingsClient

let team = ConversationID(type: .group, target: "team")

/// A local store of alice's in a folder of its own, which takes entries one after the other.
final class StoreBench {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
    var file: URL { self.folder.appendingPathComponent("store.sqlite") }
    private(set) var store: LocalStore
    private var position: LogPosition = 0

    init() throws { self.store = try LocalStore(file: self.folder.appendingPathComponent("store.sqlite")) }

    deinit { try? FileManager.default.removeItem(at: self.folder) }

    func reopen() throws {
        try self.store.close()
        self.store = try LocalStore(file: self.file)
    }

    @discardableResult
    func append(_ body: LogEntry.Body) throws -> LocalStore.Written {
        self.position += 1
        return try self.store.writeEntries([LogEntry(position: self.position, body: body)], person: "alice")
    }

    /// A text of bob's, to the team or to alice alone; its id is a hundred more than its position.
    @discardableResult
    func appendText(
        _ text: String, in conversation: ConversationID = team, mentions: Mentions = .none,
        flags: MessageFlags = .normal
    ) throws -> MessageID {
        let id = MessageID(rawValue: 101 + self.position)
        try self.append(
            .message(
                Message(
                    id: id, app: "demo", sender: "bob", conversation: conversation,
                    clientMessageID: ClientMessageID("c\(id)"), objectName: .text,
                    content: JSONValue.members([("content", .string(text))]).text, flags: flags, pushText: nil,
                    sentAt: 5, mentions: mentions)))
        return id
    }

    func recall(_ message: MessageID) throws {
        let id = MessageID(rawValue: 9_999)
        try self.append(.recall(Recall(id: id, message: message, conversation: team, sender: "bob", at: 1)))
    }

    func found(_ text: String, in conversation: ConversationID? = nil, limit: Int = 9) throws -> [String?] {
        try self.store.search(text, in: conversation, limit: limit).map(\.text)
    }

    func change(
        _ version: UInt64, _ action: ConversationAction, by actor: UserID? = "bob"
    ) throws -> LocalStore.Written {
        try self.append(
            .change(.init(conversation: team, version: version, action: action, by: actor, at: Int64(version))))
    }
}
