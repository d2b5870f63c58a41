import Foundation
import PhoneCore
import Requirements
import SDKTestSupport
import ServerCore
import StoreModel
import Testing
import TidingsAppGroup
import TidingsClient
import TidingsModel
import VirtualPhone

@testable import TidingsKit

/// Persons are called what their id says.
struct Names: UserInfoProvider {
    func userInfo(for id: UserID) async -> UserInfo? { UserInfo(name: id.rawValue.capitalized) }
}

struct GroupNames: GroupInfoProvider {
    func groupInfo(for id: ConversationID) async -> GroupInfo? { GroupInfo(name: "Our \(id.target)") }
}

/// What people are called in a group; nobody in another one.
struct NamesInTeam: GroupMemberInfoProvider {
    func memberName(of user: UserID, in group: ConversationID) async -> String? {
        group.target == "team" ? "\(user.rawValue.capitalized) of the team" : nil
    }
}

extension ServerTransport {
    /// The backend makes a group of alice and bob, who has a name of his own in it.
    func make(_ group: ConversationID, named name: String) {
        let actions: [ConversationAction] = [
            .create(name: name, portrait: nil, members: ["alice", "bob"]), .setNickname("bob", "Bobby"),
        ]
        for action in actions { self.request(.request(Self.app, actor: nil, .change(group, action))) }
    }
}

private func settles(_ frame: ClientFrame, _ disposition: Disposition) -> Bool {
    guard case .ack(let ack) = frame else { return false }
    return ack.settled.contains { $0.disposition == disposition }
}

@MainActor @Suite(.serialized) struct `A notification of the kit` {
    @Test(.requirement("S0.4")) func `is titled by its extension with names that the app gave in the foreground`()
        async throws
    {
        let bench = await ChatBench()
        let group = try await bench.group()
        func known(_ key: SharedSettings.NameKey) throws -> String? { try group.update { $0.settings[name: key] } }
        bench.server.say("hi")
        await bench.until { _ in (try? known(.user("bob"))) == "Bob" }
        #expect(try known(.user("bob")) == "Bob")
        // Bob is called otherwise, and so is a group nobody has written in.
        bench.kit?.refreshUserInfo(UserInfo(name: "Robert"), for: "bob")
        let team = ConversationID(type: .group, target: "team")
        bench.kit?.refreshGroupInfo(GroupInfo(name: "Our team"), for: team)
        #expect(try known(.user("bob")) == "Robert")
        #expect(try known(.conversation(team)) == "Our team")
    }

    @Test(.requirement("S0.4", "S3.5")) func `shows nothing without a user info provider, and says why`() async {
        let bench = await ChatBench(hasNames: false)
        await bench.goHome()
        bench.server.say("hi")
        await bench.until { $0.server.frames.contains { settles($0, .suppressed(.providerMissing)) } }
        #expect(bench.server.frames.contains { settles($0, .suppressed(.providerMissing)) })
        #expect(bench.phone.presentations.isEmpty)
    }

    @Test(.requirement("S0.4", "S3.5"))
    func `shows nothing in a group without a group provider, whose name the server knows`() async {
        let bench = await ChatBench()
        let team = ConversationID(type: .group, target: "team")
        bench.server.make(team, named: "Team")
        await bench.until { (try? $0.kit?.client.storedConversationInfo(team))??.name == "Team" }
        await bench.goHome()
        bench.server.say("hi", to: team)
        await bench.until { $0.server.frames.contains { settles($0, .suppressed(.providerMissing)) } }
        #expect(bench.server.frames.contains { settles($0, .suppressed(.providerMissing)) })
        #expect(bench.phone.presentations.isEmpty)
        // With one it does, and the name in the group is the server's where the app has none.
        bench.kit?.groupInfoProvider = GroupNames()
        bench.server.say("hello", to: team)
        await bench.until { !$0.phone.presentations.isEmpty }
        let shown = bench.phone.screen.list.first?.notification.request.content
        #expect(shown?.title == "Our team")
        #expect(shown?.body == "Bobby: hello")
    }

    @Test(.requirement("S0.4", "S3.5"))
    func `is titled with the server's names without any provider, if the app has chosen them`() async {
        let bench = await ChatBench(hasNames: false)
        bench.kit?.client.usesServerNames = true
        let team = ConversationID(type: .group, target: "team")
        bench.server.request(.setProfiles(ServerTransport.app, [UserProfile("bob", Profile(name: "Bob B."))]))
        bench.server.make(team, named: "Team")
        await bench.until { (try? $0.kit?.client.storedConversationInfo(team))??.name == "Team" }
        await bench.goHome()
        bench.server.say("hi")
        await bench.until { !$0.phone.presentations.isEmpty }
        let direct = bench.phone.screen.list.first?.notification.request.content
        #expect(direct?.title == "Bob B.")
        #expect(direct?.body == "hi")
        bench.server.say("hello", to: team)
        await bench.until { $0.phone.presentations.count == 2 }
        let inTeam = bench.phone.screen.list.first?.notification.request.content
        #expect(inTeam?.title == "Team")
        #expect(inTeam?.body == "Bobby: hello")
    }

    @Test(.requirement("S0.14", "S3.5"))
    func `names the sender in a group as the member provider does, and else by their own name`() async {
        let bench = await ChatBench()
        bench.kit?.groupInfoProvider = GroupNames()
        bench.kit?.groupMemberInfoProvider = NamesInTeam()
        await bench.goHome()
        for (group, body) in [("team", "Bob of the team: hello"), ("club", "Bob: hello")] {
            let conversation = ConversationID(type: .group, target: group)
            bench.server.request(
                .putConversation(
                    .init(app: ServerTransport.app, conversation: conversation, name: group, members: ["alice", "bob"]))
            )
            bench.server.say("hello", to: conversation)
            await bench.until { $0.phone.screen.list.first?.notification.request.content.body == body }
            #expect(bench.phone.screen.list.first?.notification.request.content.body == body)
        }
        // Each tells by `mId` where its message stands in the person's log.
        let listed = bench.phone.screen.list.map(\.notification.request.content)
        #expect(listed.map { $0.userInfo["rc"]?["mId"] } == ["2", "1"])
    }
}
