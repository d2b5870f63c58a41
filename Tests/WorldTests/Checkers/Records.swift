import OrderedCollections
import StoreModel
import Testing
import TidingsModel

@testable import ClientCore
@testable import PhoneCore
@testable import World

/// What the phone tells of a notification it presents.
func record(
    _ message: Message, isRemote: Bool = true, banner: Bool = true, reason: PresentationReason = .system
) -> PresentationRecord {
    PresentationRecord(
        identifier: message.id.description, isRemote: isRemote, banner: banner, list: true,
        reason: banner ? reason : .passive)
}

/// The kit's notification of a message.
func notification(_ message: Message, title: PushLine = "bob", isSilent: Bool = false) throws -> LocalNotification {
    LocalNotification(
        message: message.id, conversation: withBob, title: title, body: "text",
        payload: try NotificationPayload(message: message, seenBy: "ann", at: 1), isSilent: isSilent, unread: 1,
        position: 1)
}

/// A message as an extension hears of it that has missed its push.
func missed(_ message: Message, text: String = "text") throws -> MissedMessage {
    let payload = try NotificationPayload(message: message, seenBy: "ann", at: 1)
    let entry: JSONValue = [
        "position": 1, "message_id": .string(message.id.description), "rings": true, "sender": "bob",
        "text": ["body": .string(text)], NotificationPayload.key: .object(payload.dictionary),
    ]
    var ledger = Ledger()
    let posts = MissedDecision.posts(
        ["entries": [entry]], MissedFetch(after: 0, before: 2), hidden: nil, pushRings: false, delivered: [],
        ledger: &ledger, wall: 0)
    return try #require(posts.first?.message)
}
