import ClientCore
import Foundation
import Intents
import PhoneCore
import Requirements
import Testing
import TidingsAppGroup
import TidingsModel
import UserNotifications
import VirtualPhone

@testable import TidingsNotificationService

/// An extension that makes notifications those of people, and may fetch portraits from a host below example.com.
final class PersonService: UNNotificationServiceExtension {
    static let web = WebDouble()
    private let handler = NotificationServiceHandler(
        surroundings: .init(
            group: { (try? BadgeStore(appGroupIdentifier: "group.chat"))?.group }, http: PersonService.web),
        options: .init(imageHosts: ["*.example.com"], usesCommunicationNotifications: true))

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) { self.handler.didReceive(request, contentHandler: contentHandler) }

    override func serviceExtensionTimeWillExpire() { self.handler.serviceExtensionTimeWillExpire() }
}

@MainActor @Suite(.serialized) struct `A push of a person, on the phone` {
    private static let jpeg = Data([0xff, 0xd8, 0xff, 0xe0]) + Data(repeating: 7, count: 100)
    private static let url = "https://files.example.com/bob"

    private func bench(_ version: OSVersion = 17, _ entitlements: Entitlements = .communication) async throws
        -> ServiceBench
    {
        PersonService.web.reset()
        PersonService.web.put(Self.jpeg, at: Self.url)
        let bench = await ServiceBench(
            osVersion: version, entitlements: entitlements, extensionCode: VirtualExtension.code { PersonService() })
        try await bench.signIn(token: "t")
        return bench
    }

    /// In the team, from bob, with everything a server adds.
    private func push(
        to bench: ServiceBench, _ number: UInt64 = 7, portrait: String? = Self.url, isRecall: Bool = false
    ) async {
        let id = MessageID(rawValue: number)
        let info = PushInfo(
            message: id, position: 11, badgePosition: 11, recipientTag: "tag", isRecall: isRecall,
            text: isRecall ? nil : .init(title: "Team", sender: "Bobby", body: "secret"), portrait: portrait,
            isMention: true)
        await bench.phone.deliver(
            [
                "aps": [
                    "alert": ["body": isRecall ? "A message was recalled" : "neutral"], "sound": "default", "badge": 3,
                    "mutable-content": 1,
                ],
                "rc": ["cType": "GRP", "fId": "bob", "oName": "RC:TxtMsg", "tId": "team", "mId": "11"],
                "tidings": info.dictionary,
            ], collapseID: id.description)
    }

    private func content(of bench: ServiceBench) -> NotificationContent? {
        bench.phone.screen.list.first?.notification.request.content
    }

    @Test(arguments: [OSVersion(15), OSVersion(26)])
    func `has the sender's name and portrait, the group below, and the text`(version: OSVersion) async throws {
        let bench = try await self.bench(version)
        try await bench.group().update {
            $0.settings.remember("4", for: .memberCount(ConversationID(type: .group, target: "team")))
        }
        await self.push(to: bench)
        let content = try #require(self.content(of: bench))
        #expect([content.title, content.subtitle, content.body] == ["Bobby", "Team", "secret"])
        #expect(
            content.communication
                == CommunicationDetails(
                    sender: "Bobby", portrait: INImage.name(of: Self.jpeg), group: "Team", conversation: "GRP:team",
                    recipientCount: 3, mentionsPerson: true))
        #expect(PersonService.web.asked == [Self.url])
        #expect(
            bench.phone.donations()
                == [
                    DonatedMessage(
                        identifier: MessageID(rawValue: 7).description, group: "GRP:team", isOutgoing: false,
                        conversation: "GRP:team", sender: "Bobby", groupName: "Team", content: "secret")
                ])
        #expect(bench.phone.presentations.map(\.isRing) == [true])
        #expect(bench.phone.faults == [])
    }

    @Test(
        arguments: [
            (OSVersion(14), Entitlements.communication, false), (OSVersion(26), [], true), (OSVersion(15), [], true),
        ] as [(OSVersion, Entitlements, Bool)])
    func `is one of the app on a system that knows no others, and without the entitlement`(
        version: OSVersion, entitlements: Entitlements, isFetched: Bool
    ) async throws {
        let bench = try await self.bench(version, entitlements)
        await self.push(to: bench)
        let content = try #require(self.content(of: bench))
        #expect([content.title, content.subtitle, content.body] == ["Team", "", "Bobby: secret"])
        #expect(content.communication == nil)
        #expect(bench.phone.donations() == [])
        // That the entitlement is missing only the system knows.
        #expect(PersonService.web.asked == (isFetched ? [Self.url] : []))
    }

    @Test(arguments: [
        "https://files.example.org/bob", "https://example.com.evil.test/bob", "https://example.com/bob",
        "https://files.example.com@evil.test/bob",
    ])
    func `asks no other host for a portrait`(url: String) async throws {
        let bench = try await self.bench()
        PersonService.web.put(Self.jpeg, at: url)
        await self.push(to: bench, portrait: url)
        let content = try #require(self.content(of: bench))
        #expect(content.communication?.sender == "Bobby")
        #expect(content.communication?.portrait == nil)
        #expect(PersonService.web.asked == [])
    }

    @Test func `reads a portrait that lies on the server with its token and the message`() async throws {
        let bench = try await self.bench()
        let media = MediaID("00112233445566778899aabbccddeeff")
        let address =
            "t:https://chat.example.com/v1/media/\(media)?message=\(MessageID(rawValue: 7))"
        PersonService.web.put(Self.jpeg, at: address)
        await self.push(to: bench, portrait: media.reference)
        #expect(PersonService.web.asked == [address])
        #expect(self.content(of: bench)?.communication?.portrait == INImage.name(of: Self.jpeg))
    }

    @Test(arguments: [Data("<svg/>".utf8), Data([0xff, 0xd8, 0xff]) + Data(repeating: 7, count: 1_000_000)])
    func `comes without what is no image, or too large`(file: Data) async throws {
        let bench = try await self.bench()
        PersonService.web.put(file, at: Self.url)
        await self.push(to: bench)
        #expect(self.content(of: bench)?.communication?.sender == "Bobby")
        #expect(self.content(of: bench)?.communication?.portrait == nil)
    }

    @Test func `is forgotten by the system when it is recalled`() async throws {
        let bench = try await self.bench()
        await self.push(to: bench, 7)
        await self.push(to: bench, 8)
        #expect(bench.phone.donations().count == 2)
        await self.push(to: bench, 7, isRecall: true)
        #expect(bench.phone.donations().map(\.identifier) == [MessageID(rawValue: 8).description])
        #expect(bench.phone.screen.list.contains { $0.notification.request.content.body == "A message was recalled" })
    }

    @Test func `is of nobody where the phone hides content`() async throws {
        let bench = try await self.bench()
        try await bench.group().update { $0.settings.showsContent = false }
        await self.push(to: bench)
        let content = try #require(self.content(of: bench))
        #expect(content.communication == nil)
        #expect(content.body == "neutral")
        #expect(bench.phone.donations() == [])
        #expect(PersonService.web.asked == [])
    }
}
