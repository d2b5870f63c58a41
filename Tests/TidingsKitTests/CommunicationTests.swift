import Foundation
import PhoneCore
import SDKTestSupport
import ServerCore
import Testing
import TidingsClient
import TidingsModel
import UIKit
import VirtualPhone

@testable import TidingsKit

/// People and groups as the app knows them, with their images.
struct Faces: UserInfoProvider, GroupInfoProvider {
    static let bob = Data([1, 2, 3])
    static let team = Data([4, 5])

    func userInfo(for id: UserID) async -> UserInfo? {
        UserInfo(name: id.rawValue.capitalized, portrait: id == "bob" ? Self.bob : nil)
    }

    func groupInfo(for id: ConversationID) async -> GroupInfo? {
        GroupInfo(name: "Our \(id.target)", portrait: Self.team)
    }
}

@MainActor @Suite(.serialized) struct `A message of a person, on the phone` {
    private static let team = ConversationID(type: .group, target: "team")

    private func bench(_ version: OSVersion = 17, _ entitlements: Entitlements = .communication) async -> ChatBench {
        await ChatBench(osVersion: version, usesPeople: true, entitlements: entitlements)
    }

    private func goToBackground(_ bench: ChatBench) async {
        await bench.goHome()
    }

    private static func newest(_ bench: ChatBench) -> NotificationContent? {
        bench.phone.screen.list.first?.notification.request.content
    }

    @Test(arguments: [OSVersion(15), OSVersion(26)])
    func `is shown with name and portrait, in a group below whose name it is`(version: OSVersion) async throws {
        let bench = await self.bench(version)
        bench.server.make(Self.team, named: "Team")
        await bench.until { (try? $0.kit?.client.storedConversationInfo(Self.team))??.members.count == 2 }
        await self.goToBackground(bench)
        let direct = bench.server.say("hi")
        await bench.until { $0.phone.screen.list.count == 1 }
        let one = try #require(Self.newest(bench))
        #expect([one.title, one.subtitle, one.body] == ["Bob", "", "hi"])
        #expect(one.communication?.sender == "Bob")
        #expect(one.communication?.portrait?.hasPrefix("3 bytes") == true)
        #expect(one.communication?.recipientCount == 1)
        #expect(one.threadIdentifier == "PR:bob")
        let group = bench.server.say("hi all", to: Self.team)
        await bench.until { $0.phone.screen.list.count == 2 }
        let many = try #require(Self.newest(bench))
        #expect([many.title, many.subtitle, many.body] == ["Bobby", "Our team", "hi all"])
        // Of two members; see `CommunicationForm.recipientCount`.
        #expect(many.communication?.recipientCount == 2)
        #expect(many.communication?.groupPortrait?.hasPrefix("2 bytes") == true)
        #expect(many.communication?.conversation == "GRP:team")
        #expect(bench.phone.donations().map(\.identifier) == [direct.description, group.description])
        #expect(bench.phone.donations().map(\.group) == ["PR:bob", "GRP:team"])
        #expect(bench.phone.donations().allSatisfy { !$0.isOutgoing })
        #expect(bench.phone.faults == [])
    }

    @Test(arguments: [(OSVersion(14), Entitlements.communication), (OSVersion(26), Entitlements())])
    func `is one of the app on a system that knows no others, and without the entitlement`(
        version: OSVersion, entitlements: Entitlements
    ) async throws {
        let bench = await self.bench(version, entitlements)
        bench.server.make(Self.team, named: "Team")
        await bench.until { (try? $0.kit?.client.storedConversationInfo(Self.team))??.members.count == 2 }
        await self.goToBackground(bench)
        bench.server.say("hi all", to: Self.team)
        await bench.until { $0.phone.screen.list.count == 1 }
        let content = try #require(Self.newest(bench))
        #expect([content.title, content.subtitle, content.body] == ["Our team", "", "Bobby: hi all"])
        #expect(content.communication == nil)
        #expect(bench.phone.donations() == [])
    }

    @Test func `is told to the system when the person writes it, and not where the app does not want it`() async throws
    {
        let bench = await self.bench()
        let client = try #require(bench.kit?.client)
        bench.server.make(Self.team, named: "Team")
        await bench.until { (try? $0.kit?.client.storedConversationInfo(Self.team))??.members.count == 2 }
        Task { try await client.send(text: "lunch?", to: ServerTransport.withBob) }
        await bench.until { $0.phone.donations().count == 1 }
        Task { try await client.send(text: "all?", to: Self.team) }
        await bench.until { $0.phone.donations().count == 2 }
        let told = bench.phone.donations()
        #expect(told.map(\.isOutgoing) == [true, true])
        #expect(told.map(\.sender) == [nil, nil])
        #expect(told.map(\.recipients) == [["Bob"], []])
        #expect(told.map(\.groupName) == [nil, "Our team"])
        #expect(told.map(\.content) == ["lunch?", "all?"])
        client.usesCommunicationNotifications = false
        await bench.until { $0.phone.donations().isEmpty }
        Task { try await client.send(text: "quiet", to: ServerTransport.withBob) }
        await bench.until { bench in
            bench.server.frames.contains { frame in
                if case .send(let draft) = frame { draft.content.contains("quiet") } else { false }
            }
        }
        await bench.advance(by: 100)
        #expect(bench.phone.donations() == [])
    }

    @Test func `is forgotten by the system when it is recalled`() async throws {
        let bench = await self.bench()
        await self.goToBackground(bench)
        let first = bench.server.say("one")
        let second = bench.server.say("two")
        await bench.until { $0.phone.donations().count == 2 }
        bench.server.recall(first)
        await bench.until { $0.phone.donations().count == 1 }
        #expect(bench.phone.donations().map(\.identifier) == [second.description])
    }

    @Test func `is forgotten by the system where the person hides content, is put out, or signs out`() async throws {
        let bench = await self.bench()
        let client = try #require(bench.kit?.client)
        bench.server.make(Self.team, named: "Team")
        await bench.until { (try? $0.kit?.client.storedConversationInfo(Self.team))??.members.count == 2 }
        await self.goToBackground(bench)
        bench.server.say("one")
        bench.server.say("two", to: Self.team)
        await bench.until { $0.phone.donations().count == 2 }
        bench.server.request(.request(ServerTransport.app, actor: nil, .change(Self.team, .remove(["alice"]))))
        await bench.until { $0.phone.donations().count == 1 }
        #expect(bench.phone.donations().map(\.conversation) == ["PR:bob"])
        bench.server.set(PersonSettings(hidesContent: true))
        await bench.until { $0.phone.donations().isEmpty }
        #expect(bench.phone.donations() == [])
        bench.server.say("hidden")
        await bench.until { Self.newest($0)?.body == "You have a new message" }
        #expect(Self.newest(bench)?.communication == nil)
        bench.server.set(PersonSettings())
        bench.server.say("three")
        await bench.until { $0.phone.donations().count == 1 }
        #expect(bench.phone.donations().count == 1)
        Task { await client.signOut() }
        await bench.until { $0.phone.donations().isEmpty && $0.kit?.client.userID == nil }
        #expect(bench.phone.donations() == [])
    }
}
