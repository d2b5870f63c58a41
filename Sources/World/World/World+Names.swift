import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import TidingsModel

/// Where the app on a phone has the names of people and groups from (S0.4, S3.5).
enum NameSource: Hashable, Sendable, CaseIterable {
    case app
    /// The app knows every second person, and all groups.
    case contacts
    /// The app knows nobody, and takes the server's (`usesServerNames`).
    case server
    /// The app knows nobody: nothing of the kit's is posted. Pushes have the server's names.
    case nobody
}

/// The use of a name.
enum NameUse: Hashable {
    case notification(MessageID)
    /// A message of the person's own is donated.
    case sent(MessageID)
    /// The extension is to know it.
    case learning
}

struct NameAsk {
    var question: NameQuestion
    var use: NameUse
    /// The names that app and local store know.
    var app: ResolvedNames
    var server: ResolvedNames
}

// What people and groups are called: by the server, by the app, and in a group. Nobody's name is another's, or an id.
extension World {
    private static let given = ["Ada", "Bo", "Çelik", "李娜", "محمد", "Zoë 🌻"]
    private static let portraitHost = "cdn.example.com"

    static var imageHosts: [String] { [Self.portraitHost] }

    /// Returns the name that the app has on the phone.
    static func contactName(of user: UserID) -> String { "Contact \(user)" }
    static func contactName(of group: ConversationID) -> String { "Chat \(group.target)" }

    static func isPushedPortrait(_ portrait: String) -> Bool { portrait.hasPrefix("https://\(Self.portraitHost)/") }

    private static func isContact(_ user: UserID) -> Bool { user.rawValue.utf8.last?.isMultiple(of: 2) ?? false }

    /// Returns the name that the backend gives a group.
    static func name(of group: ConversationID) -> String { "Group \(group.target)" }

    // MARK: What the server is told

    /// Names most people from the beginning, and the caller at the end.
    mutating func beginNames() {
        // Draw 100 is the consent's.
        var chance = SplitMix64(seed: self.options.seed, stream: .setup, draw: 101)
        let profiles = self.people.filter { _ in chance.chance(perMille: 850) }.map { person in
            UserProfile(person, Self.profile(of: person, "at first", &chance))
        }
        self.callAPI(.setProfiles(Self.app, profiles + [UserProfile(Self.caller, Profile(name: "The caller"))]))
        self.plan(.namesChange, after: 75_000)
    }

    static func profile(of user: UserID, _ when: String, _ chance: inout SplitMix64) -> Profile {
        let given = Self.given[Int(chance.number(0...Int64(Self.given.count - 1)))]
        // Of another host than the app lists, it stays out of pushes.
        let host = chance.chance(perMille: 700) ? Self.portraitHost : "elsewhere.example.org"
        return Profile(
            name: "\(given) \(user) \(when)",
            portrait: chance.chance(perMille: 600)
                ? "https://\(host)/\(user)-\(when.replacing(" ", with: "-")).jpg" : nil)
    }

    mutating func namesChange() {
        guard !self.hasHealed else { return }
        self.beginDraw(of: .names)
        self.plan(.namesChange, after: self.chance.number(20_000...180_000) * Night.slowness(at: self.time))
        guard self.server != nil, self.happens(), let person = self.drawn(self.people) else { return }
        switch self.chance.number(0...9) {
        case 0...2: self.setProfiles(of: [person])
        case 3:
            let some = self.people.filter { _ in self.chance.chance(perMille: 500) }
            self.setProfiles(of: some.isEmpty ? [person] : some)
        case 4: self.takeNameAway(of: person)
        case 5...6:
            self.askAsSomebody { world, person in
                .setProfile(Self.profile(of: person, "at \(world.time)", &world.chance))
            }
        case 7:
            self.askAsSomebody { world, _ in
                world.drawn(world.groups).map { .change($0, .rename("Group \($0.target) at \(world.time)")) }
            }
        case 8:
            guard let group = self.drawn(self.groups) else { return }
            self.appendTrace("the backend renames \(group)")
            let name = "Group \(group.target) at \(self.time)"
            self.callAPI(.request(Self.app, actor: nil, .change(group, .rename(name))))
        default:
            guard let group = self.drawn(self.groups) else { return }
            self.appendTrace("the backend calls \(person) otherwise in \(group)")
            let name = "\(person) in \(group.target) at \(self.time)"
            self.callAPI(.request(Self.app, actor: nil, .change(group, .setNickname(person, name))))
        }
    }

    private mutating func setProfiles(of people: [UserID]) {
        self.appendTrace("the backend names \(Self.names(people))")
        let profiles = people.map { UserProfile($0, Self.profile(of: $0, "at \(self.time)", &self.chance)) }
        self.callAPI(.setProfiles(Self.app, profiles))
    }

    private mutating func takeNameAway(of person: UserID) {
        self.appendTrace("the backend takes the name of \(person) away")
        self.callAPI(.setProfiles(Self.app, [UserProfile(person, Profile())]))
    }

    /// Sends a request of a person who looks at the app.
    private mutating func askAsSomebody(_ request: (inout World, UserID) -> ClientRequest?) {
        let looking = self.phones.indices.filter {
            self.phones[$0].isSignedIn && self.phones[$0].isInForeground && !self.phones[$0].person.isAnonymous
        }
        guard let index = self.drawn(looking), let process = self.phones[index].core.process(of: Self.bundle),
            let asked = request(&self, self.phones[index].person)
        else { return }
        self.sendRequest(asked, in: process, on: index)
    }

    // MARK: What the app is asked

    /// Asks for names as the shipped client does: its own, those of the local store, and where the app has chosen it the server's.
    mutating func askNames(_ question: NameQuestion, for use: NameUse, in process: ProcessID, on index: Int) {
        let phone = self.phones[index]
        let isKnown =
            switch phone.naming {
            case .app: true
            case .contacts: Self.isContact(question.sender)
            case .server, .nobody: false
            }
        let knowsGroup = phone.naming == .app || phone.naming == .contacts
        let app = ResolvedNames(
            user: isKnown ? Self.contactName(of: question.sender) : nil,
            group: knowsGroup ? question.group.map { Self.contactName(of: $0) } : nil)
        var server = ResolvedNames()
        if let group = question.group, let info = phone.disk.store.rows.infos[group] {
            let members = phone.disk.store.rows.members(of: group)
            server.member = members.first { $0.id == question.sender }?.nickname
            server.group = info.name
            server.memberCount = members.isEmpty ? nil : members.count
        }
        let ask = NameAsk(question: question, use: use, app: app, server: server)
        let wait = use == .learning ? 1 : phone.chance.number(1...200)
        guard phone.naming == .server, let hosted = phone.processes[process] else {
            return self.finishNames(ask, user: nil, in: process, on: index, after: wait)
        }
        let number = phone.nextRequest
        phone.nextRequest += 1
        hosted.nameAsks[number] = ask
        self.planClientEvent(
            .requestSubmitted(number, .profiles([question.sender])), in: process, on: index, after: wait)
    }

    /// Returns true if a request was about names.
    mutating func finishNames(
        _ number: RequestNumber, _ outcome: RequestOutcome, in process: ProcessID, on index: Int
    ) -> Bool {
        guard let ask = self.phones[index].processes[process]?.nameAsks.removeValue(forKey: number) else {
            return false
        }
        var name: String?
        if case .answered(.profiles(let profiles)) = outcome {
            self.emit(.reached(.serverNames))
            name = profiles.first?.profile.name
        }
        self.finishNames(ask, user: name, in: process, on: index, after: 1)
        return true
    }

    private mutating func finishNames(
        _ ask: NameAsk, user: String?, in process: ProcessID, on index: Int, after wait: Int64
    ) {
        var server = ask.server
        server.user = user
        let names = ask.app.filled(by: server, self.kitSettings(of: index))
        if ask.use.isRemembered, self.phones[index].canReadGroup {
            self.phones[index].group.names.remember(names, for: ask.question)
        }
        switch ask.use {
        case .notification(let id):
            self.planClientEvent(.namesResolved(id, names), in: process, on: index, after: wait)
        case .sent(let id): self.planClientEvent(.sentNamed(id, names), in: process, on: index, after: wait)
        case .learning: break
        }
    }
}

extension NameUse {
    fileprivate var isRemembered: Bool {
        switch self {
        case .notification, .learning: true
        case .sent: false
        }
    }
}

/// The names that the app has told its extension.
struct WorldNames: Hashable {
    private var people: [UserID: String] = [:]
    private var groups: [ConversationID: String] = [:]
    private var memberCounts: [ConversationID: Int] = [:]

    mutating func remember(_ names: ResolvedNames, for question: NameQuestion) {
        if let name = names.user { self.people[question.sender] = name }
        guard let group = question.group else { return }
        if let name = names.group { self.groups[group] = name }
        if let count = names.memberCount { self.memberCounts[group] = count }
    }

    func known(of payload: NotificationPayload) -> KnownNames {
        KnownNames(
            sender: self.people[payload.senderID], group: self.groups[payload.conversation],
            memberCount: self.memberCounts[payload.conversation])
    }
}
