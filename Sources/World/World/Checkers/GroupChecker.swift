// A message of a person who may not write in a group reaches nobody, nor does an edit; nobody is made a member by a person without their
// consent; and an invited person gets nothing of the group but the invitation.
import OrderedCollections
import StoreModel
import TidingsModel

struct GroupChecker: Checker {
    static let kinds = FactKinds(.accept, .edit, .change)

    private struct Group {
        var members: [Member] = []
        /// With the time at which each ends; nil for when it is lifted.
        var mutes: OrderedDictionary<UserID, Int64?> = [:]
        var onlyAdminsWrite = false

        func isMember(_ user: UserID) -> Bool { self.members.contains { $0.id == user } }

        func mayWrite(_ user: UserID, at wall: Int64) -> Bool {
            if let until = self.mutes[user], until.map({ wall < $0 }) ?? true { return false }
            return !self.onlyAdminsWrite || self.members.contains { $0.id == user && $0.role != .member }
        }

        /// A mute that was over when another was made or lifted does not come back with a clock that goes back.
        mutating func forgetEndedMutes(at wall: Int64) { self.mutes.removeAll { $0.value.map { $0 <= wall } ?? false } }
    }

    private struct Written: Hashable {
        var sender: UserID
        var recipient: UserID
    }

    private var groups: [ConversationID: Group] = [:]
    private var written: Set<Written> = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .committed(.putConversation(let record), .done):
            self.groups[record.conversation, default: Group()].members = record.members
        case .committed(.accept(let message, let device, _, _, _, _), .accepted(let deliveries, _, _)):
            if message.conversation.type == .direct, device != nil {
                self.written.insert(Written(sender: message.sender, recipient: UserID(message.conversation.target)))
            }
            guard let group = self.groups[message.conversation] else { return }
            self.check(message, was: "accepted", at: message.sentAt, into: &findings)
            for delivery in deliveries where !group.isMember(delivery.user) {
                findings.add("consent", "\(message.id) of \(message.conversation) reached \(delivery.user), no member")
            }
        case .committed(.edit(let operation), .noted(.edit(_)?, _)) where operation.actor != nil:
            guard let message = state.committed.messages[operation.message]?.message else { return }
            self.check(message, was: "edited", at: operation.at, into: &findings)
        case .committed(.change(let operation), .changed(let changes, _)):
            for made in changes {
                self.checkConsent(made.change, in: state, into: &findings)
                self.apply(made, at: operation.at, into: &findings)
            }
        default: break  // tidy: the other facts are other promises'
        }
    }

    private func check(_ message: Message, was what: String, at wall: Int64, into findings: inout Findings) {
        guard let group = self.groups[message.conversation], !group.mayWrite(message.sender, at: wall) else { return }
        findings.add(
            "mute", "\(message.id) was \(what), and \(message.sender) may not write to \(message.conversation)")
    }

    private func checkConsent(_ change: ConversationChange, in state: CheckerState, into findings: inout Findings) {
        let users: [UserID] =
            switch change.action {
            case .create(_, _, let members): members
            case .add(let users): users
            default: []  // tidy: nothing else brings a person in
            }
        for user in users {
            guard let person = change.by, user != person else { continue }
            let consent = state.committed.settings(of: user).person.mayBeAddedBy
            let isContact = self.written.contains(Written(sender: user, recipient: person))
            guard consent == .nobody || consent == .contacts && !isContact else { continue }
            findings.add("consent", "\(person) made \(user) a member of \(change.conversation) without asking")
        }
    }

    private mutating func apply(_ made: MadeChange, at wall: Int64, into findings: inout Findings) {
        let change = made.change
        let before = self.groups[change.conversation] ?? Group()
        var after = before
        after.members = change.members(after: before.members)
        var invited: [UserID] = []
        switch change.action {
        case .mute(let users, let until):
            after.forgetEndedMutes(at: wall)
            for user in users { after.mutes.updateValue(until, forKey: user) }
        case .unmute(let users):
            after.forgetEndedMutes(at: wall)
            for user in users { after.mutes.removeValue(forKey: user) }
        case .setOnlyAdminsWrite(let isOn): after.onlyAdminsWrite = isOn
        case .invite(let users, _, _), .withdraw(let users): invited = users
        case .decline: invited = [change.by].compactMap { $0 }
        case .create, .add, .join, .remove, .leave, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .ban,
            .unban:
            break
        }
        self.groups[change.conversation] = after
        for delivery in made.deliveries
        where !before.isMember(delivery.user) && !after.isMember(delivery.user) && !invited.contains(delivery.user) {
            findings.add("consent", "\(delivery.user) was told of \(change.action.name) in \(change.conversation)")
        }
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        for phone in ending.phones {
            let person = phone.key.user.user
            var waiting: OrderedSet<ConversationID> = []
            for entry in phone.disk.log {
                switch entry.body {
                case .message(let message):
                    guard waiting.contains(message.conversation) else { continue }
                    findings.add("consent", "\(phone.key) has \(message.id) of a group it is only invited to")
                case .change(let change):
                    self.check(change, of: person, &waiting, on: phone.key, into: &findings)
                case .read, .custom, .recall, .edit, .deletion, .conversationSettings, .personSettings, .blocked,
                    .unknown:
                    break
                }
            }
        }
    }

    private func check(
        _ change: ConversationChange, of person: UserID, _ waiting: inout OrderedSet<ConversationID>,
        on key: DeviceKey, into findings: inout Findings
    ) {
        switch change.action {
        case .invite(let users, _, _) where users.contains(person):
            waiting.append(change.conversation)
            if users != [person] { findings.add("consent", "\(key) is told who else is invited: \(users)") }
        case .withdraw(let users) where users.contains(person):
            waiting.remove(change.conversation)
            if users != [person] { findings.add("consent", "\(key) is told who else was invited: \(users)") }
        case .decline where change.by == person: waiting.remove(change.conversation)
        case .join where change.by == person: waiting.remove(change.conversation)
        case .add(let users) where users.contains(person): waiting.remove(change.conversation)
        default:  // tidy: whatever else is told is told to members
            guard waiting.contains(change.conversation) else { return }
            findings.add("consent", "\(key) is told of \(change.action.name) in a group it is only invited to")
        }
    }
}
