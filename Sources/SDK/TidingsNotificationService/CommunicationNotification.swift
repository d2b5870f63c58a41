import ClientCore
import Foundation
import TidingsModel
import UserNotifications

#if canImport(Intents)
    import Intents
#endif

/// Makes a notification one of a person rather than of an app (ios-delivery.md §11). The app needs the capability, and
/// `INSendMessageIntent` among its `NSUserActivityTypes`.
enum CommunicationNotification {
    /// Nil where the system refuses, or the sender's name is not known. `body` is the text without the sender's name.
    static func content(
        from content: UNNotificationContent, payload: NotificationPayload, names: KnownNames, body: String?
    ) -> UNNotificationContent? {
        #if canImport(Intents)
            guard let name = names.sender, let plain = content.mutableCopy() as? UNMutableNotificationContent else {
                return nil
            }
            if let body { plain.body = body }
            let sender = INPerson(
                personHandle: INPersonHandle(value: payload.senderID.rawValue, type: .unknown), nameComponents: nil,
                displayName: name, image: nil, contactIdentifier: nil, customIdentifier: payload.senderID.rawValue)
            let intent = INSendMessageIntent(
                recipients: nil, outgoingMessageType: .outgoingMessageText, content: plain.body,
                speakableGroupName: names.group.map { INSpeakableString(spokenPhrase: $0) },
                conversationIdentifier: payload.conversation.description, serviceName: nil, sender: sender,
                attachments: nil)
            let interaction = INInteraction(intent: intent, response: nil)
            interaction.direction = .incoming
            interaction.donate(completion: nil)
            return try? plain.updating(from: intent)
        #else
            return nil
        #endif
    }
}
