import Foundation
import Logging
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

/// Deleted with this object; in memory where the machine has such a place.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        let shared = URL(fileURLWithPath: "/dev/shm")
        let parent =
            FileManager.default.isWritableFile(atPath: shared.path) ? shared : FileManager.default.temporaryDirectory
        self.url = parent.appendingPathComponent("tidings-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: self.url) }

    func path(_ name: String = "store.sqlite") -> String { self.url.appendingPathComponent(name).path }

    func delete(_ name: String = "store.sqlite") {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: self.path(name) + suffix) }
    }
}

/// A record as a row of the journal, from which it has to be read as it was.
func bytesReadBack(_ record: JournalRecord) throws -> [UInt8] {
    var row = JournalRow()
    row.append(record)
    var read: [JournalRecord] = []
    try row.bytes.withUnsafeBytes {
        try JournalRow.read($0) { record in
            read.append(record)
            return true
        }
    }
    #expect(read == [record])
    return row.bytes
}

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

let ada = UserKey(app: "shop", user: "ada")
let bo = UserKey(app: "shop", user: "bo")
let team = ConversationID(type: .group, target: "team")

func message(
    _ id: UInt64, from sender: UserID = "ada", to target: String = "bo", type: ConversationType = .direct,
    client: String? = nil, content: String = "hi"
) -> Message {
    Message(
        id: MessageID(rawValue: id), app: "shop", sender: sender,
        conversation: ConversationID(type: type, target: target), clientMessageID: ClientMessageID(client ?? "c\(id)"),
        objectName: .text, content: content, flags: .normal, pushText: nil, sentAt: 1_800_000_000_000 + Int64(id))
}

func accept(_ message: Message) -> StoreCommand { .accept(message: message, senderDevice: "phone") }

extension StoreOpening {
    var plain: StoreOpening {
        var opening = self
        opening.identity = StoreIdentity()
        return opening
    }
}
