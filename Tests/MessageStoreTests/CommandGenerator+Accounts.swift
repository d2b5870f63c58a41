import StoreMachine
import StoreModel
import TidingsModel

// Who may do what: bans, revoked tokens, who is in a room.
extension CommandGenerator {
    mutating func accountChange() -> AccountChange {
        switch self.number(0..<6) {
        case 0:
            .ban(
                AccountBan(
                    reason: self.chance(50) ? "spam" : nil,
                    until: self.chance(50) ? self.clock + Int64(self.number(0..<2_000)) : nil))
        case 1..<4: .unban
        default: .revokeTokens(before: self.clock - Int64(self.number(0..<2_000)), signsOut: self.chance(50))
        }
    }

    mutating func ofBlocked() -> Message? {
        guard let (key, user) = self.blocked, self.number(0..<2) == 0 else { return nil }
        return self.made.last {
            $0.app == key.app && $0.sender == user && $0.conversation.type.targetIsPeer
                && $0.conversation.target == key.user.rawValue
        }
    }

    /// What somebody has said who is muted or removed there, or is to be.
    mutating func ofMuted() -> Message? {
        guard let (key, place) = self.muted, self.number(0..<4) > 0 else { return nil }
        return self.made.last { $0.app == key.app && $0.sender == key.user && $0.conversation == place }
    }

    mutating func declareAccount() -> StoreCommand {
        let account = ConversationID(
            type: self.pick([.customerService, .customerService, .publicService, .direct]),
            target: self.user().rawValue)
        return .setAccount(self.app(), account, isDeclared: self.chance(70))
    }

    mutating func nextAboutAccounts() -> StoreCommand {
        switch self.number(0..<16) {
        case 0..<4: self.putAccount()
        case 4..<8:
            .setFollowing(
                self.userKey(), self.followed ?? self.account?.id ?? self.serviceConversation(), self.chance(70))
        case 8: .readFollowers("shop", self.followed ?? self.serviceConversation(), after: self.user(), limit: 2)
        case 9 where self.chance(50):
            .readAccounts("shop", after: self.account?.id ?? self.serviceConversation(), limit: self.number(0..<3))
        case 10:
            .readConversations(
                self.app(), after: self.chance(50) ? self.conversation() : nil, limit: self.number(0..<4))
        case 11 where self.chance(50):
            .readConversationList(
                self.userKey(), before: self.chance(50) ? LogPosition(self.number(0..<40)) : nil,
                limit: self.number(0..<4))
        case 9: .readAccounts("shop", only: self.account?.id)
        case 14: .readFollowing(self.userKey())
        case 15: .readPeople(self.app(), after: self.chance(70) ? self.user() : nil, limit: self.number(0..<5))
        default: self.writeAsAccount()
        }
    }

    /// Some of accounts that are offered from app to app, or of what is none there.
    mutating func readProfiles() -> StoreCommand {
        let offered = UserKey(app: "shop", user: self.account.map { UserID($0.id.target) } ?? self.user())
        return .readProfiles(
            self.app(), self.users(0..<4), offered: self.chance(50) ? ["ada": offered, "bo": offered] : [:])
    }

    private mutating func serviceConversation() -> ConversationID {
        ConversationID(
            type: self.pick([.customerService, .publicService, .system, .direct]), target: self.user().rawValue)
    }

    private mutating func putAccount() -> StoreCommand {
        let id = self.chance(40) ? self.account?.id : nil
        let account = ServiceAccount(
            id ?? self.serviceConversation(), owner: self.chance(30) ? self.user() : nil,
            operators: self.chance(90) ? [self.user(), self.user()] : ["a b"],
            audience: self.chance(60) ? .followers : .everybody)
        self.account = account
        if account.audience == .followers { self.followed = account.id }
        return .putAccount("shop", account)
    }

    /// By one of its operators, by somebody else, or as the backend says.
    private mutating func writeAsAccount() -> StoreCommand {
        var message = self.message()
        if let account, self.chance(90) {
            message.app = "shop"
            message.sender = UserID(account.id.target)
            message.conversation = ConversationID(type: account.id.type, target: self.user().rawValue)
            message.mentions = .none
            message.recipients = []
        }
        let author = self.chance(70) ? self.account?.operators.first ?? self.user() : self.user()
        return .accept(message: message, senderDevice: self.chance(70) ? "phone" : nil, author: author)
    }

    mutating func readRoom() -> StoreCommand {
        .readHistory(
            UserKey(app: "shop", user: self.pick(["ada", "bo", "cy", "eve"])),
            ConversationID(type: .chatRoom, target: "team"), before: nil, limit: 3, room: self.roomAccess())
    }

    mutating func roomAccess() -> RoomAccess {
        RoomAccess(isOpen: self.chance(75), isInside: self.chance(60), at: self.clock)
    }
}
