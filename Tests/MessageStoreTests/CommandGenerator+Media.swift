import StoreMachine
import StoreModel
import TidingsModel

extension CommandGenerator {
    static let media = ["0", "1"].map { MediaID(String(repeating: $0, count: 32)) }

    mutating func mediaContent() -> String {
        let named = self.chance(30) ? Self.media : [self.pick(Self.media)]
        return "{\"imageUri\":\"\(named.map(\.reference).joined(separator: " "))\"}"
    }

    mutating func shortContent() -> String {
        self.chance(25) ? self.mediaContent() : "{\"content\":\"héllo\"}"
    }

    mutating func readMedia() -> StoreCommand {
        let message = self.earlier()
        let media = message.namedMedia.last ?? self.pick(Self.media)
        if self.chance(40) {
            return .readMediaUses(
                self.chance(90) ? message.app : self.app(), media, by: self.chance(60) ? message.sender : nil)
        }
        let key = UserKey(app: message.app, user: self.chance(50) ? message.sender : self.user())
        return .readMedia(self.chance(90) ? key : self.userKey(), media, in: message.id, room: self.roomAccess())
    }
}
