import Requirements
import Testing
import TidingsModel

@testable import ClientCore

/// Facts that pass every test of the gate.
private func facts(
    _ message: Message = message(1), isOffline: Bool = false,
    isEnabled: Bool = true, level: NotificationLevel = .all, wall: Int64 = 1_000
) -> Gate.Facts {
    Gate.Facts(
        message: message, person: alice, isOffline: isOffline, isEnabled: isEnabled, level: level,
        wall: wall)
}

@Suite struct `The gate before a local notification` {
    @Test(.requirement("S3.1")) func `lets an ordinary message through`() { #expect(Gate.suppression(facts()) == nil) }

    @Test(.requirement("S3.3", "S2.12", "S0.17")) func `tests in its order: the first failing test gives the reason`() {
        // Everything is wrong at once; mending the first fault shows the second, and so on (requirements S3).
        let room = message(1, from: alice, in: .chatRoom, flags: [])
        #expect(
            Gate.suppression(facts(room, isOffline: true, isEnabled: false, level: .blocked))
                == .chatRoom)
        let own = message(1, from: alice, flags: [])
        #expect(
            Gate.suppression(facts(own, isOffline: true, isEnabled: false, level: .blocked))
                == .ownMessage)
        let unmarked = message(1, flags: [])
        #expect(
            Gate.suppression(facts(unmarked, isOffline: true, isEnabled: false, level: .blocked))
                == .offlineMessage)
        #expect(
            Gate.suppression(facts(unmarked, isEnabled: false, level: .blocked))
                == .notNotifiable)
        var late = message(1, flags: .notified)
        late.expiresAt = 1_000
        #expect(Gate.suppression(facts(late, isEnabled: false, level: .blocked)) == .expired)
        let command = message(1, flags: .notified)
        #expect(Gate.suppression(facts(command, isEnabled: false, level: .blocked)) == .switchedOff)
        #expect(Gate.suppression(facts(command, level: .blocked)) == .command)
        #expect(Gate.suppression(facts(level: .blocked)) == .level)
    }

    @Test func `silences all but mentions where the person asked for that`() {
        let plain = message(1, in: .group)
        let toAll = message(2, in: .group, content: #"{"content":"x","mentionedInfo":{"type":1}}"#)
        let toAlice = message(
            3, in: .group, content: #"{"content":"x","mentionedInfo":{"type":2,"userIdList":["carol","alice"]}}"#)
        let toCarol = message(
            4, in: .group, content: #"{"content":"x","mentionedInfo":{"type":2,"userIdList":["carol"]}}"#)
        #expect(Gate.suppression(facts(plain, level: .mentions)) == .level)
        #expect(Gate.suppression(facts(toAll, level: .mentions)) == nil)
        #expect(Gate.suppression(facts(toAlice, level: .mentions)) == nil)
        #expect(Gate.suppression(facts(toCarol, level: .mentions)) == .level)
        let direct = message(5, content: #"{"content":"x","mentionedInfo":{"type":1}}"#)
        #expect(Gate.suppression(facts(direct, level: .mentions)) == .level)
    }

    @Test func `takes whom a message names from the server before its content`() {
        var named = message(1, in: .group, content: #"{"content":"x","mentionedInfo":{"type":1}}"#)
        named.mentions = .users(["carol"])
        #expect(Gate.suppression(facts(named, level: .mentions)) == .level)
        named.mentions = .users(["alice", "carol"])
        #expect(Gate.suppression(facts(named, level: .mentionsOfMe)) == nil)
        named.mentions = .everyone
        #expect(Gate.suppression(facts(named, level: .mentionsOfAll)) == nil)
        #expect(Gate.suppression(facts(named, level: .mentionsOfMe)) == .level)
    }

    @Test func `shows a message until its time is over`() {
        var brief = message(1)
        brief.expiresAt = 1_001
        #expect(Gate.suppression(facts(brief, wall: 1_000)) == nil)
        #expect(Gate.suppression(facts(brief, wall: 1_001)) == .expired)
    }

    @Test(.requirement("S0.4", "S3.5"))
    func `needs the sender's name, in a group the group's too, in customer service neither`() {
        let direct = message(1)
        #expect(Gate.names(direct, ResolvedNames()) == nil)
        #expect(Gate.names(direct, ResolvedNames(user: "")) == nil)
        #expect(Gate.names(direct, ResolvedNames(user: "Bob"))?.sender == "Bob")
        let group = message(2, in: .group)
        #expect(Gate.names(group, ResolvedNames(user: "Bob")) == nil)
        #expect(Gate.names(group, ResolvedNames(group: "Team")) == nil)
        #expect(Gate.names(group, ResolvedNames(user: "Bob", group: "Team", member: "Bobby"))?.sender == "Bobby")
        #expect(Gate.names(message(3, in: .customerService), ResolvedNames())?.sender == "Customer service")
    }

    @Test(.requirement("S0.4", "S3.5"))
    func `takes a nickname from the server's record, and no name the app has to give`() {
        let server = ResolvedNames(user: "Robert", group: "The team", member: "Bobby")
        let kit = KitSettings()
        #expect(ResolvedNames().filled(by: server, kit) == ResolvedNames())
        #expect(ResolvedNames(group: "Team").filled(by: server, kit) == ResolvedNames(group: "Team"))
        let given = ResolvedNames(user: "Bob", group: "Team", member: "B.")
        #expect(given.filled(by: server, kit) == given)
        #expect(
            ResolvedNames(user: "Bob", group: "Team", member: "").filled(by: server, kit)
                == ResolvedNames(user: "Bob", group: "Team", member: "Bobby"))
        #expect(
            ResolvedNames(user: "Bob", group: "").filled(by: ResolvedNames(), kit) == ResolvedNames(user: "Bob"))
    }

    @Test(.requirement("S0.4", "S3.5"))
    func `takes the server's names where the app has chosen them, and gives none itself`() {
        let server = ResolvedNames(user: "Robert", group: "The team", member: "Bobby")
        var kit = KitSettings()
        kit.usesServerNames = true
        #expect(ResolvedNames().filled(by: server, kit) == server)
        #expect(ResolvedNames(user: "", group: "").filled(by: server, kit) == server)
        let given = ResolvedNames(user: "Bob", group: "Team", member: "B.")
        #expect(given.filled(by: server, kit) == given)
        #expect(ResolvedNames(user: "Bob").filled(by: ResolvedNames(user: ""), kit) == ResolvedNames(user: "Bob"))
        #expect(ResolvedNames().filled(by: ResolvedNames(), kit) == ResolvedNames())
    }

    @Test(.requirement("S0.10", "S3.9", "S3.10"))
    func `titles a group's notification with the group and names the sender in the text`() throws {
        let group = message(2, in: .group)
        let names = try #require(Gate.names(group, ResolvedNames(user: "Bob", group: "Team")))
        let shown = try #require(
            Gate.notification(group, names: names, person: alice, kit: KitSettings(), unread: 4, position: 9))
        #expect(shown.title == "Team")
        #expect(shown.body == "Bob: hi")
        #expect(shown.conversation == team)
        #expect(shown.message == id(2))
        #expect(
            shown.payload.userInfo.text
                == #"{"rc":{"cType":"GRP","fId":"bob","oName":"RC:TxtMsg","tId":"team","mId":"9","id":"\#(id(2))"}}"#)
    }

    @Test func `tells mentions of everybody from mentions of one`() {
        let toAll = message(2, in: .group, content: #"{"content":"x","mentionedInfo":{"type":1}}"#)
        let toAlice = message(
            3, in: .group, content: #"{"content":"x","mentionedInfo":{"type":2,"userIdList":["alice"]}}"#)
        #expect(Gate.suppression(facts(toAll, level: .mentionsOfAll)) == nil)
        #expect(Gate.suppression(facts(toAlice, level: .mentionsOfAll)) == .level)
        #expect(Gate.suppression(facts(toAll, level: .mentionsOfMe)) == .level)
        #expect(Gate.suppression(facts(toAlice, level: .mentionsOfMe)) == nil)
        let direct = message(5, content: #"{"content":"x","mentionedInfo":{"type":2,"userIdList":["alice"]}}"#)
        #expect(Gate.suppression(facts(direct, level: .mentionsOfMe)) == .level)
    }

    @Test(
        .requirement("S0.11", "S0.12", "S0.13"),
        arguments: [
            (ConversationType.direct, "PR"), (.discussion, "DS"), (.group, "GRP"), (.customerService, "CS"),
            (.system, "SYS"), (.appPublicService, "MC"), (.publicService, "MP"), (.pushService, "PH"),
        ])
    func `carries code, sender and message type of every kind of conversation`(
        type: ConversationType, code: String
    ) throws {
        let arrived = message(2, in: type, objectName: "RC:ImgMsg")
        let names = try #require(Gate.names(arrived, ResolvedNames(user: "Bob", group: "Team")))
        let shown = try #require(
            Gate.notification(arrived, names: names, person: alice, kit: KitSettings(), unread: 1, position: 1))
        let inner = shown.payload.userInfo["rc"]
        #expect(inner?["cType"] == .string(code))
        #expect(inner?["fId"] == "bob")
        #expect(inner?["oName"] == "RC:ImgMsg")
    }

    @Test(.requirement("S0.14", "S0.16")) func `names the peer of a one-to-one conversation, and a group itself`()
        throws
    {
        for (type, target) in [(ConversationType.direct, "bob"), (.group, "team")] {
            let arrived = message(2, in: type)
            let names = try #require(Gate.names(arrived, ResolvedNames(user: "Bob", group: "Team")))
            let shown = try #require(
                Gate.notification(arrived, names: names, person: alice, kit: KitSettings(), unread: 1, position: 1))
            #expect(shown.payload.userInfo["rc"]?["tId"] == .string(target))
        }
    }

    @Test(.requirement("S3.9")) func `hides text and title where content is hidden`() throws {
        let names = try #require(Gate.names(message(1), ResolvedNames(user: "Bob")))
        let shown = try #require(
            Gate.notification(
                message(1), names: names, person: alice, kit: KitSettings(showsContent: false), unread: 1, position: 1))
        #expect(shown.title == "")
        #expect(shown.body == "You have a new message")
    }
}
