import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import StoreModel
import TidingsModel

/// The backend's last state of each account, and the messages that were sent as one.
struct WorldAccounts {
    var known: OrderedDictionary<ConversationID, ServiceAccount> = [:]
    /// There are none of these for now.
    var takenBack: Set<ConversationID> = []
    /// The newest messages of accounts, oldest first, at most `recentMax`.
    private(set) var recent: [(message: MessageID, account: ConversationID)] = []

    private static let recentMax = 6

    func isOperated(_ account: ConversationID, by user: UserID) -> Bool {
        !self.takenBack.contains(account) && self.known[account]?.isOperated(by: user) == true
    }

    mutating func noteSent(_ message: Message) {
        let account = message.senderAccount
        guard self.known[account] != nil else { return }
        if self.recent.count == Self.recentMax { self.recent.removeFirst() }
        self.recent.append((message.id, account))
    }
}

extension Message {
    /// The account it is from, if its sender is one.
    var senderAccount: ConversationID {
        ConversationID(type: self.conversation.type, target: self.sender.rawValue)
    }
}

// Accounts: the app's backend and the people who operate them write as them, others follow them and write to them, and meanwhile they are
// changed, taken back and declared anew. Of one of another app ours see the card, and people of the other app see that of one of ours.
extension World {
    static let accounts: [ConversationID] = [
        ConversationID(type: .customerService, target: "help"), ConversationID(type: .system, target: "notices"),
        ConversationID(type: .appPublicService, target: "news"), ConversationID(type: .publicService, target: "offers"),
        ConversationID(type: .pushService, target: "alerts"),
    ]

    /// Whose card people of the other app see, and what it is called there.
    static let offered = ConversationID(type: .publicService, target: "offers")
    static let offeredName = UserID("ours/offers")
    /// An account of the other app: its name here, and the name on its card.
    static let cardOfOther = UserProfile("theirs/weather", Profile(name: "The weather"))

    static let offeredAccounts: [UserID: UserKey] = [
        World.offeredName: UserKey(app: World.app, user: UserID(World.offered.target)),
        World.cardOfOther.id: UserKey(app: World.otherTenant, user: "weather"),
    ]

    private var hasAccounts: Bool { !self.options.population.accounts.isEmpty }

    // MARK: What the backend makes of them

    mutating func beginAccounts() {
        guard self.hasAccounts else { return }
        // Draws 100 and 101 are the consent's and the names'.
        var chance = SplitMix64(seed: self.options.seed, stream: .setup, draw: 102)
        for id in Self.accounts where self.options.population.accounts.contains(id.type) {
            self.putAccount(id, &chance)
            self.nameAccount(id, "at first", &chance)
            for person in self.people where chance.chance(perMille: 600) {
                self.callAPI(.request(Self.app, actor: person, .setFollowing(id, true)))
            }
        }
        let weather = ConversationID(type: .publicService, target: "weather")
        self.callAsOtherTenant(.putAccount(Self.otherTenant, ServiceAccount(weather, owner: self.people.first)))
        let names = [UserProfile("weather", Self.cardOfOther.profile), UserProfile("storms", Profile(name: "Storms"))]
        self.callAsOtherTenant(.setProfiles(Self.otherTenant, names))
        self.plan(.accountsAct, after: 70_000)
    }

    /// Public services are mostly for their followers, the others for everybody.
    private mutating func putAccount(_ id: ConversationID, _ chance: inout SplitMix64) {
        var account = ServiceAccount(id, operators: self.people.filter { _ in chance.chance(perMille: 350) })
        if account.operators.isEmpty || chance.chance(perMille: 400) {
            account.owner = self.people[Int(chance.number(0...Int64(self.people.count - 1)))]
        }
        let isPublic = id.type == .appPublicService || id.type == .publicService
        account.audience = isPublic == chance.chance(perMille: 850) ? .followers : .everybody
        self.accounts.known[id] = account
        self.accounts.takenBack.remove(id)
        self.callAPI(.putAccount(Self.app, account))
    }

    private mutating func nameAccount(_ id: ConversationID, _ when: String, _ chance: inout SplitMix64) {
        let user = UserID(id.target)
        self.callAPI(.setProfiles(Self.app, [UserProfile(user, Self.profile(of: user, when, &chance))]))
    }

    private mutating func changeAccount(_ id: ConversationID) {
        let isTakenBack = self.accounts.takenBack.contains(id)
        // Nothing else of this act is drawn.
        var chance = self.chance
        switch chance.number(0...9) {
        case 0...2 where !isTakenBack:
            self.appendTrace("the backend takes \(id) back")
            self.accounts.takenBack.insert(id)
            self.callAPI(.setAccount(Self.app, id, isDeclared: false))
        case 3 where !isTakenBack:
            self.appendTrace("the backend names \(id) anew")
            self.nameAccount(id, "at \(self.time)", &chance)
        default:
            self.appendTrace("the backend says anew who operates \(id), and for whom it is")
            self.putAccount(id, &chance)
        }
    }

    // MARK: What happens

    mutating func accountsAct() {
        guard !self.hasHealed else { return }
        self.beginDraw(of: .accounts)
        self.plan(.accountsAct, after: self.chance.number(15_000...90_000) * Night.slowness(at: self.time))
        guard self.server != nil, self.happens(), let id = self.drawn(self.accounts.known.keys.elements) else { return }
        switch self.chance.number(0...19) {
        case 0...4: self.writeAsAccount(id, byOperator: true)
        case 5: self.writeAsAccount(id, byOperator: false)
        case 6...7: self.sendAsAccount(id)
        case 8...10: self.reviseAsAccount()
        case 11...12: self.follow(id)
        case 13...14: self.writeToAccount(id)
        case 15: self.readAccount(id)
        case 16: self.silenceAccount(id)
        case 17...18: self.changeAccount(id)
        default: self.askForCards()
        }
    }

    /// Draws a person who looks at the app.
    private mutating func looking(where fits: (UserID) -> Bool = { _ in true }) -> (index: Int, process: ProcessID)? {
        let looking = self.phones.indices.filter {
            self.phones[$0].isSignedIn && self.phones[$0].isInForeground && !self.phones[$0].person.isAnonymous
                && fits(self.phones[$0].person)
        }
        guard let index = self.drawn(looking), let process = self.phones[index].core.process(of: Self.bundle) else {
            return nil
        }
        return (index, process)
    }

    private mutating func write(_ draft: MessageDraft, in process: ProcessID, on index: Int) {
        self.appendTrace(
            "person on phone \(index) writes \(draft.clientMessageID) to \(draft.conversation)"
                + (draft.account.map { " as \($0)" } ?? ""))
        self.phones[index].drafts[draft.clientMessageID] = draft
        self.emit(.written(draft, by: self.phones[index].key))
        self.handle(ClientEvent.sendRequested(draft), in: process, on: index)
    }

    /// One message, or two at once.
    private mutating func writeAsAccount(_ id: ConversationID, byOperator: Bool) {
        let accounts = self.accounts
        guard let (index, process) = self.looking(where: { accounts.isOperated(id, by: $0) == byOperator }),
            let recipient = self.drawn(self.people)
        else { return }
        for number in 0...(self.chance.chance(perMille: 300) ? 1 : 0) {
            let name = "a\(index)-\(self.time)-\(number)"
            var draft = Self.draft(name, to: ConversationID(type: id.type, target: recipient.rawValue))
            draft.account = UserID(id.target)
            if self.chance.chance(perMille: 100) { draft.push = Self.loudOptions(of: name) }
            self.write(draft, in: process, on: index)
            if self.chance.chance(perMille: 150) { self.phones[index].regrets.append(draft.clientMessageID) }
        }
    }

    /// Writes to an account; a person signed in as the account answers another person there.
    private mutating func writeToAccount(_ id: ConversationID) {
        guard let (index, process) = self.looking(), let recipient = self.drawn(self.people) else { return }
        let isAccount = self.phones[index].person.rawValue == id.target
        let conversation = isAccount ? ConversationID(type: id.type, target: recipient.rawValue) : id
        self.write(Self.draft("t\(index)-\(self.time)", to: conversation), in: process, on: index)
    }

    /// A desk of the customer service may have a phone, signed in as the account, which gets what people write to it.
    mutating func accountThatSignsIn() -> UserID? {
        let desk = self.accounts.known.keys.first { $0.type == .customerService }
        guard let desk, self.chance.chance(perMille: 300) else { return nil }
        self.emit(.reached(.accountSignIns))
        return UserID(desk.target)
    }

    /// By the backend, which may say who has written it.
    private mutating func sendAsAccount(_ id: ConversationID) {
        let author = self.chance.chance(perMille: 400) ? self.drawn(self.people) : nil
        let recipients = self.people.filter { _ in self.chance.chance(perMille: 250) }
        self.appendTrace("the backend writes as \(id) to \(Self.names(recipients))")
        for recipient in recipients { self.callAPI(Self.sending(as: id, to: recipient, at: self.time, by: author)) }
    }

    private static func sending(
        as id: ConversationID, to recipient: UserID, at time: Int64, by author: UserID? = nil
    ) -> APICommand {
        let conversation = ConversationID(type: id.type, target: recipient.rawValue)
        return .send(
            UserKey(app: Self.app, user: UserID(id.target)), Self.draft("k\(time)-\(recipient)", to: conversation),
            author: author)
    }

    /// Recalls or edits a message of an account: by an operator, its author, the backend, or a person who may not.
    private mutating func reviseAsAccount() {
        guard let newest = self.accounts.recent.last else { return }
        let (message, account) =
            self.chance.chance(perMille: 700) ? newest : self.drawn(self.accounts.recent) ?? newest
        let text = JSONValue.members([("content", .string("e-\(self.time)"))]).text
        let request: ClientRequest =
            self.chance.chance(perMille: 500) ? .recall(message) : .edit(message, content: text)
        let accounts = self.accounts
        let isByOperator = self.chance.chance(perMille: 800)
        if self.chance.chance(perMille: 200) {
            self.appendTrace("the backend asks: \(Self.word(for: request))")
            return self.callAPI(.request(Self.app, actor: nil, request))
        }
        guard let (index, process) = self.looking(where: { accounts.isOperated(account, by: $0) == isByOperator })
        else { return }
        self.sendRequest(request, in: process, on: index)
    }

    /// Follows an account, or leaves it; then the backend may write to the person who left.
    private mutating func follow(_ id: ConversationID) {
        guard let (index, process) = self.looking() else { return }
        let follows = self.chance.chance(perMille: 550)
        self.sendRequest(.setFollowing(id, follows), in: process, on: index)
        guard !follows, self.chance.chance(perMille: 500) else { return }
        self.lastAPIRequest += 1
        self.plan(
            .apiRequest(
                APIRequestID(self.lastAPIRequest), Self.sending(as: id, to: self.phones[index].person, at: self.time)),
            after: self.chance.number(0...3_000))
    }

    /// Has a person read the account's messages to them, and the backend, for the operators, a person's messages to it.
    private mutating func readAccount(_ id: ConversationID) {
        if let (index, process) = self.looking() {
            self.sendRequest(.history(id, before: nil, limit: 20), in: process, on: index)
        }
        guard let person = self.drawn(self.people) else { return }
        let conversation = ConversationID(type: id.type, target: person.rawValue)
        self.appendTrace("the backend reads \(conversation) as \(id.target)")
        self.callAPI(
            .request(Self.app, actor: UserID(id.target), .history(conversation, before: nil, limit: 20)))
    }

    private mutating func silenceAccount(_ id: ConversationID) {
        guard let (index, process) = self.looking() else { return }
        let user = UserID(id.target)
        let store = self.phones[index].disk.store
        if self.chance.chance(perMille: 500) {
            let isBlocked = store.rows.settings.blocked.contains(user)
            return self.sendRequest(.setBlocked(user, !isBlocked), in: process, on: index)
        }
        let isSet = store.preferences().current.conversations[id]?.level != nil
        let settings =
            isSet ? ConversationSettings() : ConversationSettings(level: self.drawn(NotificationLevel.allCases))
        self.pendingChange(.conversation(id, settings), in: process, on: index)
    }

    /// Asks for cards of accounts that are offered to the other app, of others, and of a person who has the same id.
    private mutating func askForCards() {
        if let (index, process) = self.looking() {
            let theirs: [UserID] = [Self.cardOfOther.id, "theirs/storms", "theirs/p0", "p0"]
            self.sendRequest(.profiles(theirs), in: process, on: index)
        }
        let ours: [UserID] = [Self.offeredName, "ours/help", "ours/news", "ours/p0", "offers", "p0"]
        self.requestOfOtherTenant(self.people.first, .profiles(ours))
    }
}

// What the store has carried out.
extension World {
    mutating func noteSent(_ command: StoreCommand) {
        guard !self.accounts.known.isEmpty, case .accept(let message, _, _, _, _, _) = command, message.app == Self.app
        else { return }
        self.accounts.noteSent(message)
    }

    /// Emits the profiles that either app is told: those from the other app are asked for by ids with a slash.
    mutating func emitTold(_ profiles: [UserProfile], for command: StoreCommand) {
        guard !self.accounts.known.isEmpty, case .readProfiles(let app, _, _) = command else { return }
        self.emit(.toldProfiles(profiles, in: app))
    }
}
