import StoreModel
package import TidingsModel

package struct UnreadableRow: Error, Equatable, CustomStringConvertible {
    package var number: Int64?
    package var key: UserKey?
    package var detail: String

    package var description: String {
        let whose = self.key.map { "what belongs to \($0)" } ?? self.number.map { "what belongs to person \($0)" }
        return [whose, self.detail].compactMap(\.self).joined(separator: ": ")
    }
}

/// A failure of what keeps the rows.
package protocol RowsFailure: Error {
    /// What it says of bytes that are wrong or cannot be read; nil for any other failure, above all of writing.
    var damage: String? { get }
}

/// A record is in the journal's buffer and could not be applied: the state in memory is void.
package struct InterruptedRecord: Error {
    package var cause: any Error
    /// Which of the commands that were handed over together wrote it, from 0; nil outside commands.
    package var command: Int?
}

/// The journal or a commit could not be written, whatever the rows called it.
package struct UnwrittenJournal: Error {
    package var cause: any Error

    package init(cause: any Error) { self.cause = cause }
}

/// Commands that need stored bytes that cannot be read are refused; all others go on.
extension StoreMachine {
    /// If more people than this are unreadable, it is no damaged page: the store stops.
    package static let setAsideMax = 1_000

    /// Nil for anything but damage, above all for a failed write.
    package static func damage(_ error: any Error) -> UnreadableRow? {
        switch error {
        case let row as UnreadableRow: row
        case let fault as StoredBytesFault: UnreadableRow(detail: fault.description)
        case let failure as any RowsFailure: failure.damage.map { UnreadableRow(detail: $0) }
        default: nil
        }
    }

    /// Reads rows of a person; nil for one who is set aside.
    @discardableResult
    func reading<Value>(of person: PersonState, _ body: () throws -> Value?) throws -> Value? {
        person.isSetAside ? nil : try Self.attributingDamage(to: person.number, person.key, body)
    }

    /// Damage that is nobody's yet becomes that of the person whose rows `body` reads.
    package static func attributingDamage<Value>(
        to number: Int64? = nil, _ key: UserKey? = nil, _ body: () throws -> Value
    ) throws -> Value {
        do {
            return try body()
        } catch {
            guard var row = Self.damage(error), row.number == nil, row.key == nil else { throw error }
            row.number = number
            row.key = key
            throw row
        }
    }

    /// Replaces each person who is set aside: everything counts as applied to them, and their rows are neither read nor written again.
    func placeSetAside(_ people: [SetAsidePerson]) {
        for aside in people where aside.number > 0 && aside.number < Int64(self.peopleByNumber.count) {
            let person = PersonState(
                number: aside.number, key: aside.key ?? UserKey(app: "", user: ""), applied: .max)
            person.isDirty = true
            self.hasSetAside = true
            self.peopleByNumber[Int(aside.number)] = person
            if let key = aside.key { self.peopleByKey[key] = person }
        }
    }

    package func isSetAside(_ number: Int64) -> Bool {
        0..<Int64(self.peopleByNumber.count) ~= number && self.peopleByNumber[Int(number)]?.isSetAside == true
    }

    /// Within a transaction.
    func storeSetAside(_ people: [SetAsidePerson]) throws {
        for aside in people {
            try self.rows.put(.setAside(aside))
            self.notes.append(.setAside(aside))
        }
    }

    /// Refuses a command whose rows cannot be read, which is possible only where nothing was written yet.
    /// - Parameter index: counts the commands of one transaction from 0.
    func answer(_ command: StoreCommand, index: Int, refusing refused: Set<Int>) throws -> StoreResult {
        if self.hasSetAside, let user = command.subject, self.peopleByKey[user]?.isSetAside ?? false {
            return .unreadable(user, "what belongs to \(user) is set aside until the store is rebuilt")
        }
        guard !refused.contains(index) else { return .unreadable(nil, "it needs a row that cannot be read") }
        do {
            return try self.execute(command)
        } catch {
            guard !self.isApplying else { throw InterruptedRecord(cause: error, command: index) }
            // An error of the disk may have ended the transaction: then what came before in it is gone.
            guard let row = Self.damage(error), self.rows.isTransactionWhole else {
                throw InterruptedRecord(cause: error, command: index)
            }
            self.lastFound = nil
            self.noteOnce(.unreadable(row, subject: command.subject), as: "\(row)")
            return .unreadable(nil, row.description)
        }
    }

    /// Notes what is likely to be found again and again, the first time.
    package func noteOnce(_ note: StoreNote, as words: String) {
        guard self.notedDamage.count < Self.setAsideMax, self.notedDamage.insert(words).inserted else { return }
        self.notes.append(note)
    }
}
