import GRDBSQLite
import Logging
import StoreModel
import TidingsModel

struct UnreadableRow: Error, CustomStringConvertible {
    var number: Int64?
    var key: UserKey?
    var detail: String

    var description: String {
        let whose = self.key.map { "what belongs to \($0)" } ?? self.number.map { "what belongs to person \($0)" }
        return [whose, self.detail].compactMap(\.self).joined(separator: ": ")
    }
}

/// A record is in the journal's buffer and could not be applied: the state in memory is void.
struct InterruptedRecord: Error {
    var cause: any Error
    /// Which of the commands that were handed over together wrote it, from 0; nil outside commands.
    var command: Int?
}

/// The journal or a commit could not be written, whatever SQLite called it.
struct UnwrittenJournal: Error {
    var cause: any Error
}

/// A person whose rows cannot be read: what they lack is in the journal, and nothing more is derived for them.
struct SetAsidePerson: Equatable {
    var number: Int64
    var key: UserKey?
}

/// Commands that need stored bytes that cannot be read are refused; all others go on.
extension StoreEngine {
    /// If more people than this are unreadable, it is no damaged page: the store stops.
    static let setAsideMax = 1_000

    /// Nil for anything but damage, above all for a failed write.
    static func damage(_ error: any Error) -> UnreadableRow? {
        switch error {
        case let row as UnreadableRow: row
        case let fault as StoredBytesFault: UnreadableRow(detail: fault.description)
        case let failure as SQLiteFailure where failure.isDamage: UnreadableRow(detail: failure.message)
        default: nil
        }
    }

    func reading<Value>(of person: PersonState, _ body: () throws -> Value) throws -> Value {
        try self.attributingDamage(to: person.number, person.key, body)
    }

    /// Damage that is nobody's yet becomes that of the person whose rows `body` reads.
    func attributingDamage<Value>(
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

    /// Replaces each person who is set aside: everything counts as applied to them, and nothing of them is read.
    func placeSetAside(_ people: [SetAsidePerson]) {
        for aside in people where aside.number > 0 && aside.number < Int64(self.peopleByNumber.count) {
            let person = PersonState(
                number: aside.number, key: aside.key ?? UserKey(app: "", user: ""), applied: .max)
            person.isSetAside = true
            self.hasSetAside = true
            person.devices = []
            person.openLegs = [:]
            person.sentHashes = []
            self.peopleByNumber[Int(aside.number)] = person
            if let key = aside.key { self.peopleByKey[key] = person }
        }
    }

    func isSetAside(_ number: Int64) -> Bool {
        0..<Int64(self.peopleByNumber.count) ~= number && self.peopleByNumber[Int(number)]?.isSetAside == true
    }

    func loadSetAside() throws -> [SetAsidePerson] {
        try self.sql.allSetAside.all { row in
            SetAsidePerson(number: row.int(0), key: row.isNull(1) || row.isNull(2) ? nil : row.userKey(1))
        }
    }

    /// Within a transaction.
    func storeSetAside(_ people: [SetAsidePerson]) throws {
        for aside in people {
            let insert = self.sql.insertSetAside
            try insert.bind(aside.number, aside.key?.app.rawValue, aside.key?.user.rawValue).run()
            self.logger.error(
                "a person is set aside",
                metadata: [
                    "person": "\(aside.key.map { "\($0)" } ?? "number \(aside.number)")",
                    "remedy": "stop the server, then run tidings rebuild",
                ])
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
            guard let row = Self.damage(error), self.sql.begin.isInTransaction == self.isInTransaction else {
                throw InterruptedRecord(cause: error, command: index)
            }
            self.sql.resetAll()
            self.lastFound = nil
            self.logDamage(row, at: command)
            return .unreadable(nil, row.description)
        }
    }

    private func logDamage(_ row: UnreadableRow, at command: StoreCommand) {
        let words = "\(row)"
        guard self.notedDamage.count < Self.setAsideMax, self.notedDamage.insert(words).inserted else { return }
        self.logger.error(
            "stored data cannot be read",
            metadata: [
                "error": "\(words)", "person": "\(row.key.map { "\($0)" } ?? command.subject.map { "\($0)" } ?? "")",
                "remedy": "stop the server, then run tidings check",
            ])
    }
}

extension SQLiteFailure {
    /// The bytes on the disk are wrong, or the disk does not give them.
    fileprivate var isDamage: Bool { self.code & 0xff == SQLITE_CORRUPT || self.isOfReading }
}

extension StoreCommand {
    /// Whose unreadable rows keep the command from being carried out; nil for commands that are nobody's in particular.
    var subject: UserKey? {
        switch self {
        case .accept(let message, _, _, _, _, _): UserKey(app: message.app, user: message.sender)
        case .delete(let key, _, _), .setConversationSettings(let key, _, _, _),
            .setConversationState(let key, _, _, _), .endLevel(let key, _, _),
            .setPersonSettings(let key, _, _), .setBlocked(let key, _, _, _), .markRead(let key, _, _, _),
            .compareLog(let key, _), .loadUser(let key), .readLog(let key, _, _, _), .readHistory(let key, _, _, _, _),
            .readSettings(let key), .readUnread(let key, _),
            .readConversationList(let key, _, _), .changeAccount(let key, _, _), .readAccount(let key),
            .mayWrite(let key, _, _), .setFollowing(let key, _, _), .readFollowing(let key),
            .readMedia(let key, _, _, _), .setLabels(let key, _), .readLabels(let key), .readPushRecipient(let key, _):
            key
        case .signIn(let key, _, _, _), .signOut(let key, _), .setPushState(let key, _, _),
            .setVoIPToken(let key, _, _), .setDeviceStatus(let key, _), .advance(let key, _, _):
            key.user
        case .keepLeg(let open): open.leg.user
        case .endLeg(let ended): ended.leg.user
        case .receipt(let leg, _, _): leg.user
        case .once(_, let command): command.subject
        case .readLegs(let question): question.user.map { UserKey(app: question.app, user: $0) }
        case .putConversation, .change, .recall, .edit, .acceptCustom, .trace, .readConversation, .readReceipts,
            .setObjectNames, .readObjectNames, .readRestrictions, .setAccount, .putAccount, .readAccounts,
            .readFollowers, .readPeople, .readConversations, .setProfiles, .readProfiles, .readKept, .readMediaUses,
            .changeControl,
            .readControl, .readAudit, .createPush, .stepPush, .changePush, .readPush, .readPushes, .countAudience:
            nil
        }
    }
}
