import Foundation
import Logging
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

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

let backToVersion24 = "ALTER TABLE open_leg DROP COLUMN steps"
let backToVersion22 = "\(backToVersion24); DROP TABLE audit"
let backToVersion21 = "\(backToVersion22); DROP TABLE push_reached; ALTER TABLE push_job DROP COLUMN pass"
let backToVersion20 = """
    \(backToVersion21); DROP TABLE push_job; DROP TABLE push_step; DROP TABLE push_end; DROP TABLE alias;
    ALTER TABLE person DROP COLUMN labels; ALTER TABLE open_leg DROP COLUMN push_job
    """
let backToVersion19 = "\(backToVersion20); DROP TABLE app; DROP TABLE operator; DROP TABLE key_use"
let backToVersion18 = "\(backToVersion19); DROP TABLE follower; ALTER TABLE account DROP COLUMN details"
let backToVersion17 = "\(backToVersion18); ALTER TABLE person DROP COLUMN drafts"
let backToVersion16 = "\(backToVersion17); ALTER TABLE device DROP COLUMN status"
let backToVersion15 = "\(backToVersion16); ALTER TABLE conversation DROP COLUMN push"
let backToVersion14 = "\(backToVersion15); DROP TABLE media_use"
let backToVersion13 = """
    \(backToVersion14); ALTER TABLE conversation DROP COLUMN mutes; ALTER TABLE conversation DROP COLUMN only_admins_write;
    ALTER TABLE conversation DROP COLUMN invited; ALTER TABLE person_conversation DROP COLUMN wrote;
    ALTER TABLE kept_answer DROP COLUMN invited
    """
let backToVersion12 = """
    \(backToVersion13); DROP INDEX device_voip_token; ALTER TABLE device DROP COLUMN voip_token; ALTER TABLE device DROP COLUMN voip
    """
let backToVersion10 = """
    \(backToVersion12); ALTER TABLE person DROP COLUMN name; ALTER TABLE person DROP COLUMN portrait
    """
let backToVersion9 = "\(backToVersion10); DROP TABLE kept_answer"

let backToVersion8 = "\(backToVersion9); ALTER TABLE device DROP COLUMN unpushed"

let backToVersion7 = """
    \(backToVersion8);
    DROP TABLE opening; DROP TABLE set_aside;
    ALTER TABLE store DROP COLUMN identity; ALTER TABLE store DROP COLUMN generation
    """

let backToVersion5 = """
    \(backToVersion7);
    ALTER TABLE conversation DROP COLUMN bans; DROP TABLE account;
    ALTER TABLE person DROP COLUMN banned; ALTER TABLE person DROP COLUMN tokens_not_before;
    ALTER TABLE device DROP COLUMN push_accepted
    """

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
