import ClientCore
import Foundation
import TidingsAppGroup
import TidingsModel

/// Two runs of the extension, each a process of its own: one decides on ROUNDS messages and answers a moment later, the other recalls
/// them meanwhile; of every third it hears first. What each of them answers is appended to `FOLDER/answers`, in the order of the
/// answers, as one line: the message's number and the text.
struct Recalls {
    let group: AppGroup
    let folder: URL

    private static let facts = ExtensionDecision.Facts(signIn: .signedIn(recipientTag: "tag"))

    /// Whether the recall comes first.
    private static func isLate(_ round: UInt64) -> Bool { round % 3 == 0 }

    private static func push(_ round: UInt64, isRecall: Bool) -> JSONValue {
        let info = PushInfo(
            message: MessageID(rawValue: round), position: LogPosition(round), badgePosition: LogPosition(round),
            recipientTag: "tag", isRecall: isRecall, text: isRecall ? nil : .init(body: "secret"))
        return ["tidings": info.dictionary]
    }

    /// The run of each message.
    func answer(_ rounds: UInt64) throws {
        for round in 1...rounds {
            if Self.isLate(round) { try self.wait(round) { $0?.isRecalled == true } }
            try self.run(round, isRecall: false)
        }
    }

    /// The run of each recall.
    func recall(_ rounds: UInt64) throws {
        for round in 1...rounds {
            if !Self.isLate(round) { try self.wait(round) { $0 != nil } }
            try self.run(round, isRecall: true)
        }
    }

    private func wait(_ round: UInt64, until isDue: (Ledger.Entry?) -> Bool) throws {
        while try !self.group.update({ isDue($0.ledger[MessageID(rawValue: round)]) }) { usleep(50) }
    }

    private func run(_ round: UInt64, isRecall: Bool) throws {
        let push = Self.push(round, isRecall: isRecall)
        let changes = try self.group.update { contents in
            ExtensionDecision.changes(
                userInfo: push, facts: Self.facts, ledger: &contents.ledger, badge: &contents.badge, wall: 0)
        }
        guard let changes else { return }
        if !isRecall { usleep(useconds_t(round % 7) * 50) }
        try self.group.update { contents in
            let answer = ExtensionDecision.answer(
                changes, userInfo: push, facts: Self.facts, ledger: contents.ledger, badge: contents.badge)
            try self.write("\(round) \(answer.body?.plain ?? "")\n")
        }
    }

    private func write(_ line: String) throws {
        let file = try FileHandle(forUpdating: self.folder.appendingPathComponent("answers"))
        try file.seekToEnd()
        try file.write(contentsOf: Data(line.utf8))
        try file.close()
    }
}
