import StoreModel
import TidingsModel

// Who may do what: bans, revoked tokens, who is in a room.
extension CommandGenerator {
    mutating func accountChange() -> AccountChange {
        switch self.number(0..<6) {
        case 0: .ban
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

    mutating func readRoom() -> StoreCommand {
        .readHistory(
            UserKey(app: "shop", user: self.pick(["ada", "bo", "cy", "eve"])),
            ConversationID(type: .chatRoom, target: "team"), before: nil, limit: 3, room: self.roomAccess())
    }

    mutating func roomAccess() -> RoomAccess {
        RoomAccess(isOpen: self.chance(75), isInside: self.chance(60), at: self.clock)
    }
}
