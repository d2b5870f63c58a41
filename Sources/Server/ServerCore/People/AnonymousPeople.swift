import StoreModel
import TidingsModel

/// The one place that says what anonymous people may do, and others with them (docs/inside/decisions/0049-anonymous-people.md).
///
/// They are there to be pushed to. Anyone with the app's binary can be as many of them as they like, so nothing that they do reaches
/// another person: they write to nobody, are in no group and no chat room, and watch nobody. Reports on their own phone, and what is theirs
/// alone, is open to them as to everybody: connection, push registration, receipts, openings, read cursors and settings.
enum AnonymousRules {
    static func check(_ request: ClientRequest, _ asked: Asked) throws(ServerFrame.Problem) {
        if let actor = asked.actor, actor.isAnonymous, !request.isOpenToAnonymousPeople {
            guard asked.isBackend else { throw Self.notOpen("request") }
            try Self.checkNames([actor], "actor")
        }
        try Self.checkNames(request.namedPeople, "users")
    }

    /// - Parameters: sender: in whose name. asker: who asks for it.
    static func check(_ draft: MessageDraft, from sender: UserID, by asker: Asker) throws(ServerFrame.Problem) {
        switch asker {
        case .backend: try Self.checkNames([sender], "sender")
        case .person(let person):
            guard !person.user.isAnonymous, !sender.isAnonymous else { throw Self.notOpen("send") }
            guard !draft.conversation.type.targetIsPeer || !UserID(draft.conversation.target).isAnonymous else {
                throw .init(
                    code: .notAllowed, field: "conversation.target",
                    rule: "must not be an anonymous person: the app's backend alone writes to them")
            }
        }
    }

    static func mayType(in conversation: ConversationID, _ user: UserID) -> Bool {
        !user.isAnonymous && !(conversation.type.targetIsPeer && UserID(conversation.target).isAnonymous)
    }

    /// Checks a command of the app's backend; questions on a person's behalf, and messages, go through the functions above.
    static func check(_ command: APICommand) throws(ServerFrame.Problem) {
        switch command {
        case .send(_, _, _, let author): try Self.checkNames([author].compactMap(\.self), "author")
        case .putConversation(let conversation): try Self.checkNames(conversation.members.map(\.id), "members")
        case .putAccount(_, let account):
            try Self.checkNames([account.owner].compactMap(\.self), "owner")
            try Self.checkNames(account.operators, "operators")
        case .setProfiles(_, let profiles): try Self.checkNames(profiles.map(\.id), "profiles")
        case .ring(_, let call): try Self.checkNames([call.caller], "from")
        // A token of theirs comes with the app's client key, or by the right to renew it, and in no other way.
        case .issueToken(let user): try Self.checkNames([user.user], "user")
        case .installation(let user, _, _):
            guard user.user.isAnonymous else {
                throw .init(code: .invalidField, field: "user", rule: "must be an anonymous person")
            }
        // The backend pushes to them as to others, sees their devices, names them for audiences, signs them out and bans them.
        case .sendCustom, .markRead, .createPush, .changePush, .countAudience, .setLabels, .call, .pushActivity,
            .activityPush, .channels, .testPush, .registerInstallations, .silentPush, .trace, .legs, .openLegs,
            .signOut, .signOutAll, .devices, .changeAccount, .media, .fromExtension:
            break
        case .request, .once, .setObjectNames, .setAccount, .changeControl, .quotas, .pushLanes, .previewPush:
            break
        }
    }

    /// Refuses to make anonymous people something that only others are: members, operators, callers, people with a profile or with tokens
    /// of the backend's.
    static func checkNames(_ people: some Sequence<UserID>, _ field: String) throws(ServerFrame.Problem) {
        guard let found = people.first(where: \.isAnonymous) else { return }
        throw .init(
            code: .invalidField, field: field,
            rule: "must not name an anonymous person (\(UserID.anonymousPrefix)…), got \"\(found)\"")
    }

    static func notOpen(_ field: String) -> ServerFrame.Problem {
        .init(code: .notAllowed, field: field, rule: "must not be an anonymous person's: sign in for it")
    }
}

extension ClientRequest {
    /// About nothing but the person and their own phone.
    fileprivate var isOpenToAnonymousPeople: Bool {
        switch self {
        case .delete, .setConversationSettings, .setConversationState, .setPersonSettings, .conversation, .settings,
            .history, .renewToken, .registerVoIP, .devices, .signOutDevice, .setTags:
            true
        case .change, .recall, .edit, .setBlocked, .enterRoom, .exitRoom, .receipts, .watch, .unwatch, .setProfile,
            .profiles, .setFollowing, .following:
            false
        }
    }

    /// Whom it would make something of that anonymous people cannot be. Profiles of theirs there are none, so asking for them finds nothing.
    fileprivate var namedPeople: [UserID] {
        switch self {
        case .change(_, let action): action.people
        case .watch(let users): users
        case .setBlocked(let user, _): [user]
        case .recall, .edit, .delete, .setConversationSettings, .setConversationState, .setPersonSettings,
            .conversation, .settings, .history, .enterRoom, .exitRoom, .receipts, .unwatch, .renewToken, .setProfile,
            .profiles, .registerVoIP, .devices, .signOutDevice, .setFollowing, .following, .setTags:
            []
        }
    }
}

extension ServerCore {
    /// The cost of a new anonymous person in the share of an address; the renewal of a token costs 1.
    package static let installationCost = 60

    /// Nothing is kept of a person who never connects.
    mutating func serveInstallation(
        of user: UserKey, renewalIssuedAt: Int64?, from address: String, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        try self.turn.checkBacklog(of: .backend(user.app))
        let cost = renewalIssuedAt == nil ? Self.installationCost : 1
        try self.admitInstallation(cost: cost, from: address)
        self.turn.ask(
            .readAccount(user), for: .api(request, .issueToken(at: self.turn.now.wall, ofRenewal: renewalIssuedAt)))
    }

    /// Takes nothing if it refuses.
    private mutating func admitInstallation(cost: Int, from address: String) throws(ServerFrame.Problem) {
        guard !address.isEmpty else { return }
        let limit = self.turn.settings.limits[.address, .installations]
        if let wait = self.turn.shares.addresses[address].wait(.installations, cost, limit, at: self.turn.now.monotonic)
        {
            self.turn.emit(.countRefusal(.address, .installations))
            throw RateRefusal(scope: .address, kind: .installations, wait: wait).problem("installation")
        }
        self.turn.shares.addresses.consume(.installations, cost, limit, from: address, at: self.turn.now.monotonic)
    }
}
