import TidingsModel

// Who speaks for an app or a service, and who follows it.
extension ReferenceStore {
    /// Sorted.
    func accounts(
        of app: AppID, only account: ConversationID? = nil, after: ConversationID? = nil, limit: Int = .max
    ) -> [AccountInfo] {
        let known = (self.accounts[app] ?? [:]).filter { account == nil || $0.key == account }
        let ids = known.keys.filter { id in after.map { id > $0 } ?? true }.sorted().prefix(limit)
        return ids.compactMap { id in
            known[id].map {
                AccountInfo(
                    $0, profile: self.profile(of: UserID(id.target), in: app).profile,
                    followers: self.followers[app]?[id]?.count ?? 0)
            }
        }
    }

    mutating func setAccount(_ account: ConversationID, of app: AppID, isDeclared: Bool) -> StoreResult {
        guard isDeclared else {
            self.accounts[app]?[account] = nil
            if self.accounts[app]?.isEmpty == true { self.accounts[app] = nil }
            return .done
        }
        guard self.accounts[app]?[account] == nil else { return .done }
        return self.putAccount(ServiceAccount(account), of: app)
    }

    mutating func putAccount(_ account: ServiceAccount, of app: AppID) -> StoreResult {
        if let fault = StoreRules.fault(in: account, known: self.accounts[app]) { return .refused(fault) }
        self.accounts[app, default: [:]][account.id] = account
        return .done
    }

    /// Nothing of another app is told but this.
    func card(of user: UserID, in app: AppID, offered account: UserKey?) -> UserProfile {
        let own = self.profile(of: user, in: app)
        guard own.profile.isEmpty, let account, self.accounts[account.app]?[StoreRules.offeredID(account)] != nil else {
            return own
        }
        return UserProfile(user, StoreRules.card(self.profile(of: account.user, in: account.app).profile))
    }

    /// Of what is written as an account, by its operators or to its followers.
    func refusal(_ message: Message, by author: UserID?, isBackend: Bool) -> ServerFrame.Problem? {
        StoreRules.refusal(message, by: author, isBackend: isBackend, among: self.accounts[message.app])
            ?? self.refusalToStrangers(message)
    }

    /// Of what an account says to somebody who does not follow it, where it writes to its followers.
    func refusalToStrangers(_ message: Message) -> ServerFrame.Problem? {
        StoreRules.refusal(message, toFollowersAmong: self.accounts[message.app]) { user, account in
            self.followers[message.app]?[account]?.contains(user) == true
        }
    }

    mutating func setFollowing(_ key: UserKey, _ account: ConversationID, _ isFollowing: Bool) -> StoreResult {
        if let fault = StoreRules.fault(inFollowing: account, isFollowing, among: self.accounts[key.app]) {
            return .refused(fault)
        }
        var all = self.followers[key.app] ?? [:]
        var users = all[account] ?? []
        if isFollowing { users.insert(key.user) } else { users.remove(key.user) }
        all[account] = users.isEmpty ? nil : users
        self.followers[key.app] = all.isEmpty ? nil : all
        return .done
    }

    /// Sorted.
    func following(_ key: UserKey) -> [ConversationID] {
        let known = self.accounts[key.app] ?? [:]
        return known.keys.filter { self.followers[key.app]?[$0]?.contains(key.user) == true }.sorted()
    }

    func followers(of account: ConversationID, in app: AppID, after: UserID?, limit: Int) -> StoreResult {
        let all = (self.followers[app]?[account] ?? []).sorted()
        let rest = after.map { after in all.drop { $0 <= after } } ?? all[...]
        return .followers(Array(rest.prefix(limit)), hasMore: rest.count > limit)
    }

    mutating func changeControl(_ change: ControlChange, at: Int64) -> StoreResult {
        let before = self.control
        do throws(ServerFrame.Problem) {
            let answer = try self.control.apply(change, at: at)
            if self.control != before || change.isCall { self.keepRecord(of: change, at: at, refusal: nil) }
            return .control(answer)
        } catch {
            self.keepRecord(of: change, at: at, refusal: error.code)
            return .refused(error)
        }
    }

    private mutating func keepRecord(of change: ControlChange, at now: Int64, refusal: ServerFrame.Problem.Code?) {
        let number = (self.audit.last?.number ?? 0) + 1
        guard let record = change.audited(number: number, at: now, refusal: refusal) else { return }
        self.audit.append(record)
        if self.audit.count > AuditRecord.countMax { self.audit.removeFirst(self.audit.count - AuditRecord.countMax) }
    }

    func readAudit(_ question: AuditQuestion, limit: Int) -> StoreResult {
        let found = self.audit.reversed().filter { question.isAbout($0) }
        return .audit(Array(found.prefix(limit)), hasMore: found.count > limit)
    }
}
