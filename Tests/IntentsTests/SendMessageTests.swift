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
        let group = try content.updating(from: self.intent(group: "Team", sender: self.alice))
        #expect([group.title, group.subtitle] == ["Alice", "Team"])
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

    @Test func `is donated into the phone's log`() async throws {
        let phone = VirtualPhone(osVersion: 17)
        phone.install(
            InstalledApp(
                bundleID: "com.example.chat", lifecycle: .application, methods: [], hasServiceExtension: false),
            code: ProcessCode { process in process.setHandler { _, reply in reply() } })
        await phone.launch()
        let interaction = INInteraction(intent: self.intent(sender: self.alice), response: nil)
        interaction.direction = .incoming
        try await phone.inApp { try await interaction.donate() }
        #expect(
            phone.reports == [
                .log(
                    app: "com.example.chat", level: "info",
                    text: "donated INSendMessageIntent incoming conversation GRP:team sender Alice")
            ])
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
