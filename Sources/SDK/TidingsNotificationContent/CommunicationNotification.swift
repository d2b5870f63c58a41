package import ClientCore
package import Foundation
import TidingsModel
package import UserNotifications

#if canImport(Intents)
    import Intents
#endif

/// Carries a form over to Apple's message intent (ios-delivery.md §11). The app needs the entitlement, and `INSendMessageIntent` among its
/// `NSUserActivityTypes`.
package enum CommunicationNotification {
    /// Images of the notification; nil where there is none.
    package struct Portraits: Hashable, Sendable {
        package var sender: Data?
        package var group: Data?

        package init(sender: Data? = nil, group: Data? = nil) {
            self.sender = sender
            self.group = group
        }
    }

    /// `content` as the system makes it, and donated; nil where the system refuses: then it stays one of the app.
    package static func content(
        from content: UNNotificationContent, _ form: CommunicationForm, _ portraits: Portraits
    ) -> UNNotificationContent? {
        #if canImport(Intents)
            guard let plain = content.mutableCopy() as? UNMutableNotificationContent else { return nil }
            // The names stand in places of their own.
            plain.body = form.text.notificationText
            let intent = self.intent(of: form, portraits)
            guard let made = try? plain.updating(from: intent) else { return nil }
            self.donate(intent, form, .incoming)
            return made
        #else
            return nil
        #endif
    }

    /// Donates a message that the person has written.
    package static func donate(_ form: CommunicationForm, _ portraits: Portraits = Portraits()) {
        #if canImport(Intents)
            self.donate(self.intent(of: form, portraits), form, .outgoing)
        #endif
    }

    package static func deleteDonations(_ scope: DonationScope) {
        #if canImport(Intents)
            switch scope {
            case .messages(let messages): INInteraction.delete(with: messages.map(\.description), completion: nil)
            case .conversation(let conversation):
                INInteraction.delete(with: conversation.description, completion: nil)
            case .all: INInteraction.deleteAll(completion: nil)
            }
        #endif
    }

    #if canImport(Intents)
        private static func donate(
            _ intent: INSendMessageIntent, _ form: CommunicationForm, _ direction: INInteractionDirection
        ) {
            let interaction = INInteraction(intent: intent, response: nil)
            interaction.direction = direction
            // By which they are deleted.
            interaction.identifier = form.message.description
            interaction.groupIdentifier = form.conversation.description
            interaction.donate(completion: nil)
        }

        private static func intent(of form: CommunicationForm, _ portraits: Portraits) -> INSendMessageIntent {
            let intent = INSendMessageIntent(
                recipients: form.recipient.map { [self.person($0, nil)] }, outgoingMessageType: .outgoingMessageText,
                content: form.text.notificationText,
                speakableGroupName: form.groupName.map { INSpeakableString(spokenPhrase: $0) },
                conversationIdentifier: form.conversation.description, serviceName: nil,
                sender: form.sender.map { self.person($0, portraits.sender) }, attachments: nil)
            if form.groupName != nil, let image = portraits.group {
                intent.setImage(INImage(imageData: image), forParameterNamed: \.speakableGroupName)
            }
            let metadata = INSendMessageIntentDonationMetadata()
            metadata.mentionsCurrentUser = form.isMention
            metadata.isReplyToCurrentUser = form.isReply
            if let count = form.recipientCount { metadata.recipientCount = count }
            intent.donationMetadata = metadata
            return intent
        }

        private static func person(_ person: CommunicationForm.Person, _ image: Data?) -> INPerson {
            INPerson(
                personHandle: INPersonHandle(value: person.id.rawValue, type: .unknown), nameComponents: nil,
                displayName: person.name, image: image.map { INImage(imageData: $0) }, contactIdentifier: nil,
                customIdentifier: person.id.rawValue)
        }
    #endif
}
