package import TidingsModel

/// Who speaks to people for an app or a service: customer service, system, public service or push service. What it is called and looks
/// like is its profile's to say.
package struct ServiceAccount: Hashable, Sendable {
    /// Whom what it sends is for.
    package enum Audience: String, Hashable, Sendable, CaseIterable, JSONWritable {
        case everybody
        case followers
    }

    /// Its kind, and its id as target: the conversation with it as people see it.
    package var id: ConversationID
    /// Who answers for it, and is one of its operators; nil for the app's backend.
    package var owner: UserID?
    /// Who may write as it from a phone; sorted, without repeats, at most `operatorsMax`.
    package var operators: [UserID]
    package var audience: Audience

    package static let operatorsMax = 100

    package init(
        _ id: ConversationID, owner: UserID? = nil, operators: [UserID] = [], audience: Audience = .everybody
    ) {
        self.id = id
        self.owner = owner
        self.operators = Set(operators).sorted()
        self.audience = audience
    }

    package func isOperated(by user: UserID) -> Bool { self.owner == user || self.operators.contains(user) }
}

/// An account as its app's backend is told of it.
package struct AccountInfo: Hashable, Sendable {
    package var account: ServiceAccount
    package var profile: Profile
    /// How many people follow it.
    package var followers: Int

    package init(_ account: ServiceAccount, profile: Profile = Profile(), followers: Int = 0) {
        self.account = account
        self.profile = profile
        self.followers = followers
    }
}

extension StoreRules {
    package static let accountsMax = 1_000

    /// The accounts of an app, by kind and id.
    package typealias Accounts = [ConversationID: ServiceAccount]

    /// Only accounts of this kind are offered to people of other apps.
    package static func offeredID(_ account: UserKey) -> ConversationID {
        ConversationID(type: .publicService, target: account.user.rawValue)
    }

    /// Returns an account's profile for people of other apps. A file of its app opens for none of them.
    package static func card(_ profile: Profile) -> Profile {
        Profile(name: profile.name, portrait: profile.portrait.flatMap { MediaID(reference: $0) == nil ? $0 : nil })
    }

    /// Returns true if a person writes from an account that the backend has declared, or to one.
    package static func hasAccount(_ user: UserID, in conversation: ConversationID, among accounts: Accounts?) -> Bool {
        guard conversation.type.needsAccount, let accounts else { return false }
        return accounts[conversation] != nil
            || accounts[ConversationID(type: conversation.type, target: user.rawValue)] != nil
    }

    package static func fault(in account: ServiceAccount, known: Accounts?) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            try InvalidField.check(
                account.id.type.isService, "kind", "must be CS, SYS, MC, MP or PH, got \(account.id.type.rawValue)")
            _ = try UserID.validated(account.id.target, field: "id")
            if let owner = account.owner { _ = try UserID.validated(owner.rawValue, field: "owner") }
            try InvalidField.check(
                account.operators.count, atMost: ServiceAccount.operatorsMax, "operators", unit: " people")
            for user in account.operators { _ = try UserID.validated(user.rawValue, field: "operators") }
            try InvalidField.check(
                known?[account.id] != nil || (known?.count ?? 0) < Self.accountsMax, "id",
                "must be one of at most \(Self.accountsMax) accounts of an app")
        }
    }

    /// Refuses an `author` who may not write in the name of the account that is the message's sender: from a phone one of its operators
    /// may; the app's backend names any author, but for an account only.
    package static func refusal(
        _ message: Message, by author: UserID?, isBackend: Bool, among accounts: Accounts?
    ) -> ServerFrame.Problem? {
        guard let author else { return nil }
        let type = message.conversation.type
        let account = accounts?[ConversationID(type: type, target: message.sender.rawValue)]
        if isBackend {
            return account != nil
                ? nil
                : .init(
                    code: .notAllowed, field: "author",
                    rule: "must be left out: the sender is no account of kind \(type.rawValue)")
        }
        guard account?.isOperated(by: author) != true else { return nil }
        // The same whether there is such an account or not.
        return .init(
            code: .notAllowed, field: "account",
            rule: "must be an account of kind \(type.rawValue) that the sender operates, got \"\(message.sender)\"")
    }

    /// Returns true if the actor is a person who operates the account that has sent the message; not the account itself.
    package static func isOperator(_ actor: UserID?, ofSenderOf message: Message, among accounts: Accounts?) -> Bool {
        guard let actor, actor != message.sender, message.conversation.type.isService else { return false }
        let account = ConversationID(type: message.conversation.type, target: message.sender.rawValue)
        return accounts?[account]?.isOperated(by: actor) == true
    }

    /// Refuses a message of an account with that audience to others than its followers. `isFollower` is asked only where it matters.
    package static func refusal(
        _ message: Message, toFollowersAmong accounts: Accounts?,
        isFollower: (_ user: UserID, _ account: ConversationID) throws -> Bool
    ) rethrows -> ServerFrame.Problem? {
        guard message.conversation.type.isService, let accounts else { return nil }
        let id = ConversationID(type: message.conversation.type, target: message.sender.rawValue)
        let recipient = UserID(message.conversation.target)
        guard accounts[id]?.audience == .followers, try !isFollower(recipient, id) else { return nil }
        return .init(
            code: .notAFollower, field: "conversation.target",
            rule: "must name a follower of the account \"\(message.sender)\", \"\(recipient)\" is none")
    }

    /// Returns the fault of following an account. A person may always stop following.
    package static func fault(
        inFollowing account: ConversationID, _ isFollowing: Bool, among accounts: Accounts?
    ) -> ServerFrame.Problem? {
        guard isFollowing, accounts?[account]?.audience != .followers else { return nil }
        return .init(
            code: .notAllowed, field: "account", rule: "must be an account that people follow, got \(account)")
    }
}
