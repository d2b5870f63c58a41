import Foundation
import StoreMachine
import StoreModel
import TidingsModel

enum SearchChange: Hashable, Sendable {
    /// The message as it reads now, whatever the record said first.
    case present(JournalPosition, Message)
    case gone(JournalPosition)
}

enum SearchPage: Sendable {
    case changes([SearchChange], JournalPlace)
    /// The place is none of this store: it was restored, or is another one.
    case anotherStore
}

/// How much one look takes, so that no batch waits long for it.
struct SearchPageBounds: Sendable {
    var recordsMax = 500
    var textBytesMax = 1_048_576
    var seconds = 0.005
}

// What the search index is made of. It is read here and kept elsewhere: nothing of the store depends on it.
extension StoreMachine {
    /// Reads the next records of the journal, and returns what has become of their messages.
    func searchPage(after held: JournalPlace?, _ bounds: SearchPageBounds) throws -> SearchPage {
        if let held, !self.isOwn(held) { return .anotherStore }
        var changes: [SearchChange] = []
        var textBytes = 0
        let deadline = TimeInterval.uptime + bounds.seconds
        let position = try self.readRecords(
            after: held?.position ?? 0, upTo: bounds.recordsMax,
            isEnough: { textBytes >= bounds.textBytesMax || TimeInterval.uptime >= deadline },
            { record, position in
                guard let change = try self.searchChange(of: record, at: position) else { return }
                if case .present(_, let message) = change { textBytes += message.content.utf8.count }
                changes.append(change)
            }, skip: { self.noteUnsearchable($0, $1) })
        return .changes(changes, self.place(at: position))
    }

    private func searchChange(of record: JournalRecord, at position: JournalPosition) throws -> SearchChange? {
        switch record {
        case .accept(let message, _, _, _, _): try self.searchChange(of: message, accepted: position)
        case .recall(_, _, let accepted): .gone(accepted)
        case .edit(_, _, let accepted):
            if case .accept(let message, _, _, _, _) = try self.record(at: accepted) {
                try self.searchChange(of: message, accepted: accepted)
            } else {
                nil
            }
        case .putConversation, .change, .delete, .conversationSettings, .personSettings, .blocked, .custom, .signIn,
            .signOut, .setPushState, .deviceStatus, .setVoIPToken, .advance, .markRead, .keepLeg, .endLeg, .receipt,
            .objectNames, .userAccount, .profile, .account, .following, .control, .pushChange, .labels, .lost:
            nil
        // What an audience was told is one text for all of them: none of its messages is found.
        case .push, .pushStep: nil
        }
    }

    /// Nil for what no search finds.
    private func searchChange(of message: Message, accepted: JournalPosition) throws -> SearchChange? {
        guard message.flags.contains(.stored), message.objectName == .text || message.objectName == .reference else {
            return nil
        }
        return try self.presentMessage(message).map { .present(accepted, $0) } ?? .gone(accepted)
    }

    /// The messages of these records as they read now, without those that are gone or that the question does not admit.
    func foundMessages(at records: [JournalPosition], _ question: MessageQuestion) throws -> [Message] {
        var messages: [Message] = []
        for record in records {
            do {
                guard case .accept(let message, _, _, _, _) = try self.record(at: record), question.admits(message),
                    let present = try self.presentMessage(message)
                else { continue }
                messages.append(present)
            } catch {
                guard let damage = Self.damage(error) else { throw error }
                self.noteUnsearchable(record, damage)
            }
        }
        return messages
    }

    private func noteUnsearchable(_ position: JournalPosition, _ damage: UnreadableRow) {
        self.noteOnce(.unsearchable(position, damage), as: "search of record \(position)")
    }
}
