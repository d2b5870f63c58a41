import StoreMachine
import StoreModel
import TidingsModel

extension SQLiteRows {
    func person(_ key: UserKey) throws -> PersonRow? {
        try self.person(self.sql.personByKey.bind(key.app.rawValue, key.user.rawValue))
    }

    func person(_ number: Int64) throws -> PersonRow? { try self.person(self.sql.personByNumber.bind(number)) }

    private func person(_ statement: SQLStatement) throws -> PersonRow? {
        try statement.first { row in
            let number = Int64(try row.count(0))
            guard number <= self.lastPerson else { throw StoredBytesFault.badValue("person's number") }
            let key = row.userKey(1)
            return try StoreMachine.attributingDamage(to: number, key) {
                var person = PersonRow(number: number, key: key)
                (person.head, person.applied) = (try row.count(3), try row.count(5))
                person.counts = UnreadCounts(
                    unread: Int(try row.count(4)), unreadWithMuted: Int(try row.count(6)),
                    mentions: Int(try row.count(7)))
                person.signedIn = Int(try row.count(9))
                person.settings = try row.decoded(8, as: AllSettings.self) ?? AllSettings()
                person.account = AccountState(
                    ban: try row.decoded(10, as: AccountBan.self), tokensNotBefore: row.isNull(11) ? nil : row.int(11))
                person.profile = Profile(name: row.optionalText(12), portrait: row.optionalText(13))
                person.drafts = try row.decoded(14, as: [ConversationID: JournalPosition].self) ?? [:]
                person.labels = try row.decoded(15, as: PersonLabels.self) ?? PersonLabels()
                person.chunk = try self.sql.lastChunk.bind(number).first {
                    try LogChunk(first: try $0.count(0), stored: $0.blob(1))
                }
                return person
            }
        }
    }

    func personFacts(_ number: Int64) throws -> PersonFacts? {
        try self.sql.personFacts.bind(number).first { row in
            PersonFacts(
                key: row.userKey(0), signedIn: Int(try row.count(2)),
                labels: try row.decoded(3, as: PersonLabels.self) ?? PersonLabels())
        }
    }

    func people(of app: AppID, after: UserID?, limit: Int) throws -> [PersonSummary] {
        try self.sql.peopleAfter.bind(app.rawValue, after?.rawValue ?? "", limit).all { row in
            PersonSummary(
                id: UserID(row.text(0)), ban: try row.decoded(1, as: AccountBan.self), devices: Int(try row.count(2)),
                unread: Int(try row.count(3)))
        }
    }

    func allPeople() throws -> [UserKey] { try self.sql.allPeople.all { $0.userKey(0) } }

    // MARK: Logs and conversations

    func entries(
        of person: Int64, from start: LogPosition, before end: LogPosition, _ body: (LogChunk.Entry) throws -> Bool
    ) throws {
        try self.sql.chunksFrom.bind(person, start, end).forEach { row in
            try LogChunk.read(row.blob(1), first: try row.count(0), body)
        }
    }

    func chunk(
        of person: Int64, at position: LogPosition, _ body: (LogChunk.Entry) throws -> Bool
    ) throws -> LogPosition? {
        try self.sql.chunkAt.bind(person, position).first { row in
            let first = try row.count(0)
            try LogChunk.read(row.blob(1), first: first, body)
            return first
        }
    }

    func conversationState(
        _ conversation: ConversationNumber, of person: Int64
    ) throws -> PersonState.ConversationState? {
        try self.sql.conversationState.bind(person, conversation.rawValue).first { row in
            var state = PersonState.ConversationState()
            (state.unread, state.mentions) = (Int(try row.count(0)), Int(try row.count(3)))
            (state.counted, state.read) = (try row.count(1), try row.count(2))
            (state.last, state.listed) = (try row.count(5), try row.count(7))
            state.hasWritten = row.int(6) != 0
            var reader = ByteReader(row.blob(4))
            while !reader.isAtEnd { state.recalled.append((state.recalled.last ?? 0) &+ (try reader.number())) }
            return state
        }
    }

    func conversations(of person: Int64) throws -> [ConversationNumber] {
        try self.sql.allConversationStates.bind(person).all { ConversationNumber(rawValue: $0.position(0)) }
    }

    func newestConversations(
        of person: Int64, before: LogPosition, limit: Int
    ) throws -> [(number: ConversationNumber, listed: LogPosition)] {
        try self.sql.newestConversations.bind(person, before, limit).all { row in
            (number: ConversationNumber(rawValue: row.position(0)), listed: try row.count(1))
        }
    }

    func sentMessage(_ id: ClientMessageID, by person: Int64) throws -> PersonState.SentMessage? {
        try self.sql.sentMessage.bind(person, id.rawValue).first {
            PersonState.SentMessage(id: $0.message(0), at: $0.int(1))
        }
    }

    func sentMessages(by person: Int64, limit: Int) throws -> [(id: ClientMessageID, message: MessageID)] {
        try self.sql.sentMessages.bind(person, limit).all { (id: ClientMessageID($0.text(0)), message: $0.message(1)) }
    }

    // MARK: Devices and legs

    func devices(of person: Int64, _ key: UserKey) throws -> [DeviceRecord] {
        try self.sql.devices.bind(person).all { row in
            var device = DeviceRecord(
                key: DeviceKey(user: key, device: DeviceID(row.text(0))), platform: row.text(1),
                push: try row.pushState(), settled: try row.count(8), decided: try row.count(9),
                since: try row.count(10), signedInAt: row.int(11), isSignedOut: row.int(12) != 0,
                voIP: try row.decoded(15, as: VoIPToken.self), status: try row.decoded(16, as: ReportedStatus.self))
            var reader = ByteReader(row.blob(14))
            while !reader.isAtEnd { device.unpushed.insert(try reader.read()) }
            return device
        }
    }

    func deviceStatuses(of person: Int64) throws -> [(device: DeviceID, status: ReportedStatus)] {
        try self.sql.deviceStatuses.bind(person).all { row in
            guard let status = try row.decoded(1, as: ReportedStatus.self) else { throw StoredBytesFault.truncated }
            return (device: DeviceID(row.text(0)), status: status)
        }
    }

    func devices(with token: PushToken) throws -> [DeviceKey] {
        try self.sql.devicesWithToken.bind(token.rawValue).all {
            DeviceKey(user: $0.userKey(0), device: DeviceID($0.text(2)))
        }
    }

    func openLegs(of person: Int64, _ key: UserKey) throws -> [LegID: OpenLeg] {
        var legs: [LegID: OpenLeg] = [:]
        try self.sql.openLegs.bind(person).forEach { row in
            let device = row.text(1)
            let leg = LegID(message: row.message(0), user: key, device: device.isEmpty ? nil : DeviceID(device))
            guard let wait = LegWait(rawValue: row.text(3)) else { throw StoredBytesFault.badValue("wait") }
            legs[leg] = OpenLeg(
                leg: leg, position: try row.count(2), wait: wait, apnsID: row.optionalText(4),
                attempts: Int(try row.count(5)), notBefore: row.isNull(6) ? nil : row.int(6),
                pushJob: row.isNull(7) ? nil : row.message(7), steps: try row.legSteps(8))
            return true
        }
        return legs
    }

    // MARK: Facts, aliases and followers

    func has(_ fact: RowFact) throws -> Bool {
        let row =
            switch fact {
            case .receipt(let person, let receipt):
                self.sql.receipt.bind(
                    person, receipt.message.rawValue, receipt.device.rawValue, receipt.receipt.rawValue)
            case .pushEnd(let person, let end): self.sql.pushEnd.bind(person, end.message.rawValue, end.device.rawValue)
            case .deleted(let person, let message): self.sql.deleted.bind(person, message.rawValue)
            case .pushReached(let person, let job): self.sql.pushReached.bind(person, job.rawValue)
            case .follower(let follower): Self.bind(follower, to: self.sql.follower)
            }
        return try row.first { _ in true } ?? false
    }

    private static func bind(_ follower: FollowerKey, to row: SQLStatement) -> SQLStatement {
        let account = follower.account
        return row.bind(
            account.app.rawValue, account.conversation.type.rawValue, account.conversation.target,
            follower.user.rawValue)
    }

    func put(_ fact: RowFact, _ holds: Bool) throws {
        switch fact {
        case .receipt(let person, let receipt):
            try self.sql.insertReceipt.bind(
                person, receipt.message.rawValue, receipt.device.rawValue, receipt.receipt.rawValue
            ).run()
        case .pushEnd(let person, let end):
            try self.sql.insertPushEnd.bind(person, end.message.rawValue, end.device.rawValue).run()
        case .deleted(let person, let message): try self.sql.insertDeleted.bind(person, message.rawValue).run()
        case .pushReached(let person, let job): try self.sql.insertPushReached.bind(person, job.rawValue).run()
        case .follower(let follower):
            try Self.bind(follower, to: holds ? self.sql.insertFollower : self.sql.deleteFollower).run()
        }
    }

    func deletedMessages(of person: Int64) throws -> [MessageID] {
        try self.sql.allDeleted.bind(person).all { $0.message(0) }
    }

    func pushesReached(of person: Int64) throws -> [PushJobID] {
        try self.sql.pushesReached.bind(person).all { $0.message(0) }
    }

    func alias(_ key: AliasKey) throws -> UserID? {
        try self.sql.alias.bind(key.app.rawValue, key.alias.rawValue).first { UserID($0.text(0)) }
    }

    func allAliases() throws -> [(key: AliasKey, user: UserID)] {
        try self.sql.allAliases.all {
            (key: AliasKey(app: AppID($0.text(0)), alias: Alias($0.text(1))), user: UserID($0.text(2)))
        }
    }

    func followers(of account: ConversationKey, after: UserID?, limit: Int) throws -> [UserID] {
        let key = FollowerKey(account: account, user: after ?? UserID(""))
        return try Self.bind(key, to: self.sql.followersAfter).bind(at: 5, limit).all { UserID($0.text(0)) }
    }

    func allFollowers() throws -> [FollowerKey] {
        try self.sql.allFollowers.all { FollowerKey(account: try $0.conversationKey(), user: UserID($0.text(3))) }
    }
}

extension SQLStatement {
    fileprivate func pushState() throws -> PushState {
        func registration() throws -> PushRegistration {
            guard let environment = PushEnvironment(rawValue: self.text(4)) else {
                throw StoredBytesFault.badValue("push environment")
            }
            return PushRegistration(token: PushToken(self.text(3)), environment: environment, topic: self.text(5))
        }
        switch self.int(2) {
        case 0: return .none
        case 1: return .registered(try registration(), at: self.int(6), wasAccepted: self.int(13) != 0)
        case 2: return .quarantined(try registration(), at: self.int(6), reason: self.text(7))
        case 3: return .dead(timestamp: self.int(6))
        default: throw StoredBytesFault.badValue("push state")
        }
    }

    fileprivate func legSteps(_ column: Int32) throws(StoredBytesFault) -> LegSteps {
        guard !self.isNull(column) else { return LegSteps() }
        var reader = ByteReader(self.blob(column))
        let steps: LegSteps = try reader.read()
        guard reader.isAtEnd else { throw .badValue("steps of a leg") }
        return steps
    }
}
