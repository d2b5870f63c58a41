import Foundation
import Intents
import PhoneCore
import Testing
import TidingsModel
import UserNotifications
import VirtualPhone

@MainActor @Suite struct `A message intent` {
    private let alice = INPerson(
        personHandle: INPersonHandle(value: "alice", type: .unknown), nameComponents: nil, displayName: "Alice",
        image: nil, contactIdentifier: nil, customIdentifier: "alice")

    private func intent(group: String? = nil, sender: INPerson?) -> INSendMessageIntent {
        INSendMessageIntent(
            recipients: nil, outgoingMessageType: .outgoingMessageText, content: "hi",
            speakableGroupName: group.map { INSpeakableString(spokenPhrase: $0) }, conversationIdentifier: "GRP:team",
            serviceName: nil, sender: sender, attachments: nil)
    }

    @Test func `makes a notification a communication notification with its sender and group`() throws {
        let content = UNMutableNotificationContent()
        content.title = "Message"
        content.body = "hi"
        let direct = try content.updating(from: self.intent(sender: self.alice))
        #expect(direct.title == "Alice")
        #expect(direct.subtitle == "")
        #expect(direct.body == "hi")
        #expect(direct.threadIdentifier == "GRP:team")
        #expect(direct.parts.isCommunication)
        let toMany = self.intent(group: "Team", sender: self.alice)
        let metadata = INSendMessageIntentDonationMetadata()
        metadata.recipientCount = 2
        toMany.donationMetadata = metadata
        let group = try content.updating(from: toMany)
        #expect([group.title, group.subtitle] == ["Alice", "Team"])
        // The number of recipients makes a group: without it the system takes the message for one to one.
        #expect(try content.updating(from: self.intent(group: "Team", sender: self.alice)).subtitle == "")
        #expect(content.title == "Message")
        #expect(!content.parts.isCommunication)
    }

    @Test func `of who holds the phone cannot be shown`() {
        #expect(throws: UNError.self) {
            try UNMutableNotificationContent().updating(from: self.intent(sender: nil))
        }
        do {
            _ = try UNMutableNotificationContent().updating(from: self.intent(sender: nil))
        } catch let error as UNError where error.code == .contentProvidingInvalid {
            #expect((error as NSError).domain == UNErrorDomain)
            #expect((error as NSError).code == 1_501)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test func `carries an image for each of its parts, named by key paths; the group's stands for it`() {
        let intent = self.intent(group: "Team", sender: self.alice)
        let team = INImage(named: "team")
        let face = INImage(named: "alice")
        intent.setImage(face, forParameterNamed: \.sender)
        #expect(intent.keyImage() == nil)
        intent.setImage(team, forParameterNamed: \.speakableGroupName)
        #expect(intent.image(forParameterNamed: \.sender) === face)
        #expect(intent.keyImage() === team)
        intent.setImage(nil, forParameterNamed: \.speakableGroupName)
        #expect(intent.image(forParameterNamed: \.speakableGroupName) == nil)
    }

    @Test func `tells whom a notification is from, with images by name`() throws {
        let face = Data([1, 2, 3])
        let intent = self.intent(
            group: "Team",
            sender: INPerson(
                personHandle: INPersonHandle(value: "alice", type: .unknown), nameComponents: nil, displayName: "Alice",
                image: INImage(imageData: face), contactIdentifier: nil, customIdentifier: "alice"))
        intent.setImage(INImage(named: "team"), forParameterNamed: \.speakableGroupName)
        let metadata = INSendMessageIntentDonationMetadata()
        metadata.mentionsCurrentUser = true
        metadata.isReplyToCurrentUser = true
        metadata.recipientCount = 4
        intent.donationMetadata = metadata
        #expect(
            try UNMutableNotificationContent().updating(from: intent).parts.communication
                == CommunicationDetails(
                    sender: "Alice", portrait: INImage.name(of: face), group: "Team", groupPortrait: "named:team",
                    conversation: "GRP:team", recipientCount: 4, mentionsPerson: true, isReply: true))
        #expect(INImage.name(of: face) != INImage.name(of: Data([1, 2, 4])))
    }

    private func phone(_ version: OSVersion = 17, _ entitlements: Entitlements = .communication) async -> VirtualPhone {
        let phone = VirtualPhone(osVersion: version)
        phone.install(
            InstalledApp(
                bundleID: "com.example.chat", lifecycle: .application, methods: [], hasServiceExtension: false,
                entitlements: entitlements),
            code: ProcessCode { process in process.setHandler { _, reply in reply() } })
        await phone.launch()
        return phone
    }

    @Test func `changes no content without the entitlement, or before iOS 15`() async throws {
        let intent = self.intent(sender: self.alice)
        func title(_ phone: VirtualPhone) async -> String? {
            await phone.inApp { try? UNMutableNotificationContent().updating(from: intent).title }
        }
        #expect(await title(self.phone()) == "Alice")
        #expect(await title(self.phone(15)) == "Alice")
        #expect(await title(self.phone(14)) == nil)
        #expect(await title(self.phone(17, [])) == nil)
    }

    @Test func `is kept by the phone until it is taken back`() async throws {
        let phone = await self.phone()
        func donate(_ identifier: String, group: String, from sender: INPerson?) async throws {
            let intent = INSendMessageIntent(
                recipients: sender == nil ? [self.alice] : nil, outgoingMessageType: .outgoingMessageText,
                content: "hi \(identifier)", speakableGroupName: nil, conversationIdentifier: group, serviceName: nil,
                sender: sender, attachments: nil)
            let interaction = INInteraction(intent: intent, response: nil)
            interaction.direction = sender == nil ? .outgoing : .incoming
            interaction.identifier = identifier
            interaction.groupIdentifier = group
            try await phone.inApp { try await interaction.donate() }
        }
        try await donate("1", group: "PR:alice", from: self.alice)
        try await donate("2", group: "PR:alice", from: nil)
        try await donate("3", group: "PR:carol", from: self.alice)
        try await donate("1", group: "PR:alice", from: self.alice)
        #expect(phone.donations().map(\.identifier) == ["2", "3", "1"])
        #expect(
            phone.donations().first
                == DonatedMessage(
                    identifier: "2", group: "PR:alice", isOutgoing: true, conversation: "PR:alice",
                    recipients: ["Alice"], content: "hi 2"))
        // It outlives the process.
        await phone.terminate()
        await phone.launch()
        #expect(phone.donations().count == 3)
        await phone.inApp { INInteraction.delete(with: ["2", "none"]) }
        #expect(phone.donations().map(\.identifier) == ["3", "1"])
        await phone.inApp { INInteraction.delete(with: "PR:carol") }
        #expect(phone.donations().map(\.identifier) == ["1"])
        await phone.inApp { INInteraction.deleteAll() }
        #expect(phone.donations() == [])
    }

    @Test func `takes a person's name from what there is`() {
        var parts = PersonNameComponents()
        parts.givenName = "Bob"
        parts.familyName = "Stone"
        let handle = INPersonHandle(value: "bob", type: .unknown)
        func name(_ components: PersonNameComponents?, _ display: String?) -> String {
            INPerson(
                personHandle: handle, nameComponents: components, displayName: display, image: nil,
                contactIdentifier: nil, customIdentifier: nil
            ).displayName
        }
        #expect([name(parts, "Bobby"), name(parts, nil), name(nil, nil)] == ["Bobby", "Bob Stone", "bob"])
    }
}
