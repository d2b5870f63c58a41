// What is sent as an account comes from its operators and the app's backend alone, is for its audience, stands in the conversation with it,
// and names nobody but the account. Of another app's accounts people see the card of those that are offered, and nothing else.
import ClientCore
import OrderedCollections
import PhoneCore
import StoreModel
import TidingsModel

struct AccountChecker: Checker {
    static let kinds = FactKinds(
        .accept, .edit, .recall, .named, .askStore, .refused, .answered, .pushed, .applied, .toldMissed, .shown,
        .otherTenantNotified)

    private var accounts: [ConversationID: ServiceAccount] = [:]
    private var followers: [ConversationID: Set<UserID>] = [:]
    /// The authors of messages that were sent as an account to another person.
    private var authors: [MessageID: UserID] = [:]
    /// The newest that is in the history of an account or person, and where.
    private var newest: [ConversationSender: MessageID] = [:]
    /// True once there was an account: messages as an account are shown also after it was taken back.
    private var hadAccounts = false
    /// The messages that the store has refused as it had to.
    private var refused: Set<ClientMessageID> = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .committed(let command, let result): self.applyCommand(command, result, state, into: &findings)
        case .toldProfiles(let profiles, let app): self.checkCards(profiles, in: app, state, into: &findings)
        case .refused(let draft, let problem, let key):
            guard draft.conversation.type.isService, !self.refused.contains(draft.clientMessageID) else { return }
            findings.add("accounts", "\(draft.clientMessageID) of \(key) was refused, and may be sent: \(problem)")
        default:  // tidy: the others show what was written as an account, if anything was
            if self.hadAccounts { self.checkShown(fact, state, into: &findings) }
        }
    }

    // MARK: Who may write as an account, and to whom

    private mutating func applyCommand(
        _ command: StoreCommand, _ result: StoreResult, _ state: CheckerState, into findings: inout Findings
    ) {
        switch (command, result) {
        case (.putAccount(_, let account), .done):
            self.hadAccounts = true
            self.accounts[account.id] = account
        case (.setAccount(_, let id, let isDeclared), .done):
            self.hadAccounts = true
            self.accounts[id] = isDeclared ? self.accounts[id] ?? ServiceAccount(id) : nil
        case (.setFollowing(let key, let account, true), .done):
            self.followers[account, default: []].insert(key.user)
        case (.setFollowing(let key, let account, false), .done): self.followers[account]?.remove(key.user)
        case (.accept(let message, _, _, _, _, _), _) where message.conversation.type.isService:
            self.applySend(command, result, state, into: &findings)
        case (.edit(let operation), .noted(.edit(_)?, _)):
            self.checkRevision(of: operation.message, by: operation.actor, "edited", state, into: &findings)
        case (.recall(let operation), .recalled(let recall, let message, _, _)):
            self.forget(message)
            self.checkRevision(of: operation.message, by: operation.actor, "recalled", state, into: &findings)
            guard message.conversation.type.isService, recall.sender != message.sender else { return }
            findings.add("accounts", "the recall of \(message.id) is from \(recall.sender), not \(message.sender)")
        case (.readHistory(let key, let conversation, nil, _, _), .history(let messages, _)):
            self.checkHistory(messages, in: conversation, of: key.user, state, into: &findings)
        default: break  // tidy: the other commands are about no account
        }
    }

    private mutating func applySend(
        _ command: StoreCommand, _ result: StoreResult, _ state: CheckerState, into findings: inout Findings
    ) {
        guard case .accept(let message, let device, _, let past, _, let author) = command else { return }
        let due = self.refusal(
            of: message, from: device, by: author, isBlocked: self.isBlocked(message, state) && !past.contains(.blocks))
        switch result {
        case .accepted(let deliveries, _, _):
            let recipient = UserID(message.conversation.target)
            if let author, author != recipient { self.authors[message.id] = author }
            let isPush = message.pushJob != nil
            if message.flags.contains(.stored) {
                // What went to an audience is not in the account's own history.
                for side in message.sides where !isPush || side.sender == recipient { self.newest[side] = message.id }
            }
            if let due {
                findings.add("accounts", "\(message.id) was accepted from \(author ?? message.sender): \(due)")
            }
            let expected: Set<UserID> = isPush ? [recipient] : [recipient, message.sender]
            guard Set(deliveries.map(\.user)) != expected || deliveries.count > 2 else { return }
            findings.add("accounts", "\(message.id) to \(recipient) went to \(deliveries.map(\.user))")
        case .refused(let problem):
            if problem.code == due {
                self.refused.insert(message.clientMessageID)
            } else {
                findings.add("accounts", "\(message.clientMessageID) of \(message.sender) was refused: \(problem)")
            }
        default: break  // tidy: a repeat changes nothing
        }
    }

    /// With which code a message must be refused, in the order of the store's rules.
    private func refusal(
        of message: Message, from device: DeviceID?, by author: UserID?, isBlocked: Bool
    ) -> ServerFrame.Problem.Code? {
        let type = message.conversation.type
        let account = self.accounts[message.senderAccount]
        let peer = UserID(message.conversation.target)
        if let author, device == nil ? account == nil : !Self.isOperated(account, by: author) { return .notAllowed }
        if account?.audience == .followers, !self.follows(peer, message.senderAccount) { return .notAFollower }
        if device != nil, author == nil, type.isForBackend { return .notAllowed }
        if type.needsAccount, account == nil, self.accounts[message.conversation] == nil { return .notAllowed }
        return isBlocked ? .blocked : nil
    }

    /// Not by the server's own answer, which is what is checked.
    private static func isOperated(_ account: ServiceAccount?, by user: UserID) -> Bool {
        account.map { $0.owner == user || $0.operators.contains(user) } ?? false
    }

    private func isBlocked(_ message: Message, _ state: CheckerState) -> Bool {
        state.committed.settings(of: UserID(message.conversation.target)).blocked.contains(message.sender)
    }

    private func follows(_ user: UserID, _ account: ConversationID) -> Bool {
        self.followers[account]?.contains(user) == true
    }

    /// The backend may revise everything. An edit reaches followers only.
    private func checkRevision(
        of id: MessageID, by actor: UserID?, _ what: String, _ state: CheckerState, into findings: inout Findings
    ) {
        guard let actor, let message = state.committed.messages[id]?.message, message.conversation.type.isService else {
            return
        }
        let account = self.accounts[message.senderAccount]
        if actor != message.sender, !Self.isOperated(account, by: actor) {
            findings.add("accounts", "\(actor) \(what) \(id), and does not operate \(message.senderAccount)")
        } else if what == "edited", account?.audience == .followers,
            !self.follows(UserID(message.conversation.target), message.senderAccount)
        {
            findings.add("accounts", "\(id) was edited for \(message.conversation.target), who does not follow")
        } else if actor != message.sender, state.committed.messages[id]?.author.map({ $0 != actor }) ?? true {
            findings.reach(.colleagueRevisions)
        }
    }

    // MARK: What people write to it

    private mutating func forget(_ message: Message) {
        // What stood before it is not kept here.
        for side in message.sides where self.newest[side] == message.id { self.newest[side] = nil }
    }

    /// The account's history has what was written to it.
    private func checkHistory(
        _ messages: [Message], in conversation: ConversationID, of user: UserID, _ state: CheckerState,
        into findings: inout Findings
    ) {
        guard self.accounts[ConversationID(type: conversation.type, target: user.rawValue)] != nil,
            let newest = self.newest[ConversationSender(user, in: conversation)], messages.first?.id != newest,
            // As a phone that is signed in as the account may.
            !state.committed.isDeleted(newest, by: user)
        else { return }
        findings.add("accounts", "\(user) is not told of \(newest) in \(conversation)")
    }

    // MARK: What shows of it

    private func checkShown(_ fact: Fact, _ state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .pushed(let request, let key):
            guard let id = request.message, let accepted = self.fromAccount(id, state) else { return }
            if accepted.position(of: key.user.user) == nil {
                findings.add("accounts", "a push of \(id) went to \(key)")
            }
            self.check(String(decoding: request.payload, as: UTF8.self), of: id, "a push", to: key, into: &findings)
        case .applied(let entries, let key):
            for entry in entries {
                guard let id = entry.body.message, self.authors[id] != nil else { continue }
                self.check("\(entry.body)", of: id, "an entry", to: key, into: &findings)
            }
        case .toldMissed(let answer, let key):
            for entry in answer["entries"]?.arrayValue ?? [] {
                guard let id = entry["message_id"]?.stringValue.flatMap({ MessageID($0) }) else { continue }
                self.check(entry.text, of: id, "what an extension fetched", to: key, into: &findings)
            }
        case .answered(_, .answered(.history(let messages, _)), let key):
            for message in messages { self.check("\(message)", of: message.id, "a history", to: key, into: &findings) }
        case .shown(let request, let key):
            guard let id = MessageID(request.identifier), let accepted = self.fromAccount(id, state) else { return }
            let content = request.content
            let userInfo = JSONValue.object(content.userInfo)
            let words = [content.title, content.subtitle, content.body, userInfo.text].joined(separator: "\n")
            self.check(words, of: id, "a notification", to: key, into: &findings)
            // A push for another person comes on a phone that changed hands as it is, if no extension could strip it: also to a person with
            // the account's id, whose own phones show what the account says as the account sees it.
            var users = [key.user.user]
            if accepted.message.sender == users[0] { users.append(UserID(accepted.message.conversation.target)) }
            // A stripped one has no place.
            guard users.contains(where: { accepted.position(of: $0) != nil }),
                let place = try? NotificationPayload(userInfo: userInfo).conversation,
                !users.contains(where: { accepted.message.conversation(seenBy: $0) == place })
            else { return }
            findings.add("accounts", "\(key) shows \(id) of \(accepted.message.senderAccount) in \(place)")
        default: break  // tidy: the others are not among the kinds
        }
    }

    /// Also once the account is taken back.
    private func fromAccount(_ id: MessageID, _ state: CheckerState) -> StoreView.Accepted? {
        guard let accepted = state.committed.messages[id], accepted.message.conversation.type.isService else {
            return nil
        }
        return accepted
    }

    /// Their own id tells operators nothing.
    private func check(
        _ text: String, of id: MessageID, _ what: String, to key: DeviceKey, into findings: inout Findings
    ) {
        guard let author = self.authors[id], author != key.user.user, Self.isNamed(author, in: text) else { return }
        findings.add("accounts", "\(what) of \(id) tells \(key) of \(author), who has written it")
    }

    /// Returns true if the text names the user as a word of its own: p1 is not in p12.
    private static func isNamed(_ user: UserID, in text: String) -> Bool {
        text.utf8.split { !(0x30...0x39 ~= $0 || 0x41...0x5a ~= $0 || 0x61...0x7a ~= $0) }
            .contains { $0.elementsEqual(user.rawValue.utf8) }
    }

    // MARK: Cards

    private func checkCards(
        _ profiles: [UserProfile], in app: AppID, _ state: CheckerState, into findings: inout Findings
    ) {
        for told in profiles where told.id.rawValue.contains("/") && !told.profile.isEmpty {
            if app == World.app, told == World.cardOfOther {
                findings.reach(.cards)
            } else if app == World.otherTenant, told.id == World.offeredName, self.accounts[World.offered] != nil,
                let name = told.profile.name, state.names.isOf(UserID(World.offered.target), name, in: World.offered)
            {
                findings.reach(.offeredCards)
            } else {
                findings.add("accounts", "\(told) was told in \(app), where no such account is offered")
            }
        }
    }
}

extension Message {
    /// In whose histories it is, and where.
    fileprivate var sides: [ConversationSender] {
        let recipient = UserID(self.conversation.target)
        return [
            ConversationSender(self.sender, in: self.conversation),
            ConversationSender(recipient, in: self.conversation(seenBy: recipient)),
        ]
    }
}

extension LogEntry.Body {
    /// The message that the entry is about.
    fileprivate var message: MessageID? {
        switch self {
        case .message(let message): message.id
        case .recall(let recall): recall.message
        case .edit(let edit): edit.message
        case .read, .custom, .deletion, .conversationSettings, .personSettings, .blocked, .change, .unknown: nil
        }
    }
}
