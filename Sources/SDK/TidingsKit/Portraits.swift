public import ClientCore
public import Foundation
import TidingsModel

/// The portraits that the app's providers gave with their last names, for the notifications that follow.
struct Portraits {
    enum Owner: Hashable {
        case user(UserID)
        case group(ConversationID)
    }

    /// Together they must not fill an app's memory.
    private static let countMax = 50

    /// Oldest first.
    private var kept: [(owner: Owner, image: Data)] = []

    subscript(owner: Owner) -> Data? { self.kept.first { $0.owner == owner }?.image }

    /// Nil where the app has none now. One that is too large is left out, as the extension does.
    mutating func store(_ image: Data?, of owner: Owner) {
        self.kept.removeAll { $0.owner == owner }
        guard let image, image.count <= NotificationImage.portraitBytesMax else { return }
        self.kept.append((owner, image))
        if self.kept.count > Self.countMax { self.kept.removeFirst() }
    }
}

extension NotificationIntegration {
    /// The image that the app's providers gave with the last name, for a banner: a group's in a group or discussion, otherwise the
    /// sender's. Nil where there is none, and for a banner without a title, which says of nobody who writes.
    public func portrait(of banner: InAppBanner) -> Data? {
        guard !banner.text.title.isEmpty, let payload = try? NotificationPayload(userInfo: banner.userInfo) else {
            return nil
        }
        let owner =
            payload.conversationType.isGroup
            ? Portraits.Owner.group(payload.conversation) : .user(payload.senderID)
        return self.host.providers.withLock { $0.portraits[owner] }
    }
}
