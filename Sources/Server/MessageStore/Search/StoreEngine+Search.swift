import Foundation
import Logging
import StoreModel
import TidingsModel

/// How far a search index has come in which store.
struct SearchPlace: Hashable, Sendable {
    var store: String
    var generation: UInt64
    var opening: UInt64
    /// The last record of the journal that it has looked at.
    var position: JournalPosition
}

enum SearchChange: Hashable, Sendable {
    /// As it reads now, whatever the record said first.
    case present(JournalPosition, Message)
    case gone(JournalPosition)
}

enum SearchPage: Sendable {
    case changes([SearchChange], SearchPlace)
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
extension StoreEngine {
    /// What has become of messages in the next records of the journal.
    func searchPage(after held: SearchPlace?, _ bounds: SearchPageBounds) throws -> SearchPage {
        if let held, !self.isOwn(held) { return .anotherStore }
        let start = held?.position ?? 0
        let deadline = ProcessInfo.processInfo.systemUptime + bounds.seconds
        var reading = SearchReading(position: start)
        while reading.position < self.next - 1, reading.position - start < UInt64(bounds.recordsMax),
            reading.textBytes < bounds.textBytesMax,
            reading.position == start || ProcessInfo.processInfo.systemUptime < deadline
        {
            let room = bounds.recordsMax - Int(reading.position - start)
            do {
                try self.readRow(room, into: &reading)
            } catch {
                guard let damage = Self.damage(error) else { throw error }
                self.sql.resetAll()
                self.noteUnsearchable(reading.position + 1, damage)
                // The journal goes on with its next row.
                let following = try self.sql.rowsAfter.bind(reading.position + 1).first { try $0.count(0) }
                reading.position = (following ?? self.next) - 1
            }
        }
        return .changes(
            reading.changes,
            SearchPlace(
                store: self.identity.id, generation: self.identity.generation, opening: self.identity.opening,
                position: reading.position))
    }

    private struct SearchReading {
        var position: JournalPosition
        var changes: [SearchChange] = []
        var textBytes = 0
    }

    private func isOwn(_ place: SearchPlace) -> Bool {
        guard place.store == self.identity.id, place.generation == self.identity.generation,
            let end = self.openingEnds[place.opening]
        else { return false }
        return place.position < min(end, self.next)
    }

    private func readRow(_ room: Int, into reading: inout SearchReading) throws {
        let row = self.sql.rowAt
        row.bind(reading.position + 1)
        guard try row.step() else { throw StoredBytesFault.missing("journal record \(reading.position + 1)") }
        let first = try row.count(0)
        let bytes = row.bytes(1)
        // Records refer to others, which the same statement reads.
        row.reset()
        let start = reading.position
        try bytes.withUnsafeBytes { bytes in
            try JournalRow.read(bytes, from: Int(start + 1 - first)) { record in
                reading.position += 1
                do {
                    if let change = try self.searchChange(of: record, at: reading.position) {
                        if case .present(_, let message) = change { reading.textBytes += message.content.utf8.count }
                        reading.changes.append(change)
                    }
                } catch {
                    guard let damage = Self.damage(error) else { throw error }
                    self.noteUnsearchable(reading.position, damage)
                }
                return reading.position - start < UInt64(room)
            }
        }
        guard reading.position > start else {
            throw StoredBytesFault.missing("journal record \(start + 1)")
        }
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

    /// As it reads now; nil if it was recalled.
    private func presentMessage(_ message: Message) throws -> Message? {
        let revision = try self.revision(of: message.id)
        guard revision.recalled == 0 else { return nil }
        return message.revised(content: try self.editedContent(revision), isGone: false)
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
                self.sql.resetAll()
                self.noteUnsearchable(record, damage)
            }
        }
        return messages
    }

    private func noteUnsearchable(_ position: JournalPosition, _ damage: UnreadableRow) {
        guard self.notedDamage.insert("search of record \(position)").inserted else { return }
        self.logger.error(
            "a message cannot be searched", metadata: ["record": "\(position)", "error": "\(damage)"])
    }
}
