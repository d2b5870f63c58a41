import OrderedCollections
package import StoreModel
package import TidingsModel

// Who speaks for an app or a service: few, so all are in memory. Who follows them: many, so only their number is.
extension StoreMachine {
    func setAccount(_ account: ConversationID, of app: AppID, isDeclared: Bool) throws -> StoreResult {
        let isKnown = self.accounts[app]?[account] != nil
        guard isKnown != isDeclared else { return .done }
        guard isDeclared else { return try self.write(.account(app, account, nil)) }
        return try self.putAccount(ServiceAccount(account), of: app)
    }

    func putAccount(_ account: ServiceAccount, of app: AppID) throws -> StoreResult {
        if let fault = StoreRules.fault(in: account, known: self.accounts[app]) { return .refused(fault) }
        guard self.accounts[app]?[account.id] != account else { return .done }
        return try self.write(.account(app, account.id, account))
    }

    /// Sorted.
    func accounts(
        of app: AppID, only account: ConversationID? = nil, after: ConversationID? = nil, limit: Int = .max
    ) throws -> [AccountInfo] {
        let known = (self.accounts[app] ?? [:]).filter { account == nil || $0.key == account }
        let ids = known.keys.filter { id in after.map { id > $0 } ?? true }.sorted().prefix(limit)
        return try ids.compactMap { id in
            try known[id].map {
                AccountInfo(
                    $0, profile: try self.profile(of: UserID(id.target), in: app).profile,
                    followers: self.followerCounts[AccountKey(app: app, conversation: id)] ?? 0)
            }
        }
    }

    /// Nothing of another app is told but this.
    func card(of user: UserID, in app: AppID, offered account: UserKey?) throws -> UserProfile {
        let own = try self.profile(of: user, in: app)
        guard own.profile.isEmpty, let account, self.accounts[account.app]?[StoreRules.offeredID(account)] != nil else {
            return own
        }
        return UserProfile(user, StoreRules.card(try self.profile(of: account.user, in: account.app).profile))
    }

    func applyAccount(_ account: ServiceAccount?, _ id: ConversationID, of app: AppID) {
        self.accounts[app, default: [:]][id] = account
        if self.accounts[app]?.isEmpty == true { self.accounts[app] = nil }
        self.accountsTail.insert(AccountKey(app: app, conversation: id))
    }

    func storeAccounts() throws {
        // tidy: order does not leave: each row is its own
        for key in self.accountsTail {
            try self.rows.put(.account(key, self.accounts[key.app]?[key.conversation]))
        }
        self.accountsTail.removeAll()
    }
}

// MARK: - Followers

extension StoreMachine {
    /// Refuses a message as an account by others than its operators, or to others than its followers.
    func refusal(_ message: Message, by author: UserID?, isBackend: Bool) throws -> ServerFrame.Problem? {
        try StoreRules.refusal(message, by: author, isBackend: isBackend, among: self.accounts[message.app])
            ?? self.refusalToStrangers(message)
    }

    /// Refuses an account's message to a person who does not follow it, if the account writes to its followers.
    func refusalToStrangers(_ message: Message) throws -> ServerFrame.Problem? {
        try StoreRules.refusal(message, toFollowersAmong: self.accounts[message.app]) { user, account in
            try self.isFollower(.init(account: .init(app: message.app, conversation: account), user: user))
        }
    }

    func isFollower(_ key: FollowerKey) throws -> Bool {
        try self.followerTail[key] ?? self.rows.has(.follower(key))
    }

    func setFollowing(_ key: UserKey, _ account: ConversationID, _ isFollowing: Bool) throws -> StoreResult {
        if let fault = StoreRules.fault(inFollowing: account, isFollowing, among: self.accounts[key.app]) {
            return .refused(fault)
        }
        let follower = FollowerKey(account: .init(app: key.app, conversation: account), user: key.user)
        guard try self.isFollower(follower) != isFollowing else { return .done }
        return try self.write(.following(key, account, isFollowing))
    }

    /// Sorted. An app has few accounts that people follow, and they may have millions of followers: they are asked one by one.
    func following(_ key: UserKey) throws -> [ConversationID] {
        let known = self.accounts[key.app] ?? [:]
        return try known.keys.filter { id in
            let account = AccountKey(app: key.app, conversation: id)
            return try (self.followerCounts[account] ?? 0) > 0
                && self.isFollower(FollowerKey(account: account, user: key.user))
        }.sorted()
    }

    /// Applied again after a crash, rows may be ahead of the record: in the end each person is counted as their row says.
    func applyFollowing(_ isFollowing: Bool, of account: ConversationID, by user: UserKey) throws {
        let key = FollowerKey(account: .init(app: user.app, conversation: account), user: user.user)
        if try self.isFollower(key) != isFollowing {
            let count = (self.followerCounts[key.account] ?? 0) + (isFollowing ? 1 : -1)
            self.followerCounts[key.account] = count > 0 ? count : nil
        }
        self.followerTail[key] = isFollowing
    }

    func followers(of account: ConversationID, in app: AppID, after: UserID?, limit: Int) throws -> StoreResult {
        let key = AccountKey(app: app, conversation: account)
        let tail: OrderedDictionary = self.followerTail.filter { $0.key.account == key }
        // As many as may have gone since.
        let stored = try self.rows.followers(of: key, after: after, limit: limit + 1 + tail.count)
        let new = tail.filter { change in change.value && after.map { change.key.user > $0 } ?? true }.map(\.key.user)
        let users = Set(stored).union(new).filter { tail[FollowerKey(account: key, user: $0)] != false }.sorted()
        return .followers(Array(users.prefix(limit)), hasMore: users.count > limit)
    }

    func storeFollowers(_ rows: inout Int) throws {
        for (key, isFollowing) in self.followerTail.take(&rows) {
            try self.rows.put(.fact(.follower(key), isFollowing))
        }
    }

    /// For the dump; without empty sets and dictionaries.
    func allFollowers() throws -> [AppID: [ConversationID: Set<UserID>]] {
        var all: [AppID: [ConversationID: Set<UserID>]] = [:]
        let stored = try self.rows.allFollowers().map { ($0, true) }
        // tidy: order does not leave: each is its own
        for (key, isFollowing) in stored + self.followerTail.map({ ($0.key, $0.value) }) {
            let (app, account) = (key.account.app, key.account.conversation)
            if isFollowing {
                all[app, default: [:]][account, default: []].insert(key.user)
            } else {
                all[app]?[account]?.remove(key.user)
            }
        }
        return all.mapValues { $0.filter { !$0.value.isEmpty } }.filter { !$0.value.isEmpty }
    }
}

extension ByteReader {
    package mutating func account(_ id: ConversationID) throws(StoredBytesFault) -> ServiceAccount {
        let owner: UserID? = try self.read()
        let operators: [UserID] = try self.read()
        return ServiceAccount(id, owner: owner, operators: operators, audience: try self.read())
    }
}

extension ServiceAccount.Audience: StoredValue {}
