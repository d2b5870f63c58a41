import StoreModel
import TidingsModel

/// The names that people and groups had at one time or another of the run: from the backend, themselves, a group, and the app.
struct NameBook {
    static let kinds = FactKinds(.named, .change)

    private var people: [UserID: Set<String>] = [:]
    private var nicknames: [ConversationSender: Set<String>] = [:]
    private var groups: [ConversationID: Set<String>] = [:]
    private var portraits: [UserID: Set<String>] = [:]
    /// Who has had a name ever since the store had so many messages; nil for who has lost it.
    private var namedSince: [UserID: Int?] = [:]

    func isOf(_ user: UserID, _ name: String, in conversation: ConversationID) -> Bool {
        name == World.contactName(of: user) || self.people[user]?.contains(name) ?? false
            || self.nicknames[ConversationSender(user, in: conversation)]?.contains(name) ?? false
    }

    func isOf(_ group: ConversationID, _ name: String) -> Bool {
        name == World.contactName(of: group) || self.groups[group]?.contains(name) ?? false
    }

    func isPortrait(_ portrait: String, of user: UserID) -> Bool { self.portraits[user]?.contains(portrait) ?? false }

    /// Returns true if the server has had a name for its sender from before the message on.
    func knowsSender(of accepted: StoreView.Accepted) -> Bool {
        (self.namedSince[accepted.message.sender] ?? nil).map { $0 <= accepted.number } ?? false
    }

    /// `messages`: how many the store has.
    mutating func apply(_ command: StoreCommand, _ result: StoreResult, messages: Int) {
        switch (command, result) {
        case (.setProfiles(_, let profiles, _), .done):
            for profile in profiles { self.apply(profile, messages) }
        case (.putConversation(let record), .done):
            self.groups[record.conversation, default: []].insert(record.name)
        case (.change, .changed(let changes, _)):
            for made in changes { self.apply(made.change) }
        default: break  // tidy: the other commands name nobody
        }
    }

    private mutating func apply(_ named: UserProfile, _ messages: Int) {
        if let portrait = named.profile.portrait { self.portraits[named.id, default: []].insert(portrait) }
        guard let name = named.profile.name else { return self.namedSince[named.id] = .some(nil) }
        self.people[named.id, default: []].insert(name)
        if (self.namedSince[named.id] ?? nil) == nil { self.namedSince[named.id] = messages }
    }

    private mutating func apply(_ change: ConversationChange) {
        switch change.action {
        case .create(let name, _, _), .rename(let name): self.groups[change.conversation, default: []].insert(name)
        case .setNickname(let user, let name?):
            self.nicknames[ConversationSender(user, in: change.conversation), default: []].insert(name)
        case .setNickname(_, nil), .setPortrait, .add, .join, .leave, .remove, .setRole, .dissolve, .ban, .unban, .mute,
            .unmute, .setOnlyAdminsWrite, .invite, .decline, .withdraw:
            break
        }
    }
}
