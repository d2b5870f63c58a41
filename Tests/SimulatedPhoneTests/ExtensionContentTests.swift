import ClientCore
import PhoneCore
import SimulatedPhone
import Testing
import TidingsModel

@Suite struct `A content with an extension's edit` {
    private static let original = NotificationContent(
        title: "neutral", subtitle: "sub", body: "text", badge: 3, sound: .standard,
        userInfo: JSONObject([("aps", ["alert": "text"])]), threadIdentifier: "PR:bob")

    /// What the machine makes of a push for the tag, on a phone where somebody is signed in under "tag".
    private static func edited(tag: String, mayFilter: Bool = false) -> NotificationContent? {
        struct Group: ExtensionGroup {
            var signIn = ExtensionDecision.SignIn.signedIn(recipientTag: "tag")
            var position: LogPosition?
            var showsContent = true
            var extensionFilters = false
            var words = NotificationWords.english
            var ledger = Ledger()
            var badge: Badge?
            func names(of payload: NotificationPayload) -> KnownNames { KnownNames() }
        }
        let info = PushInfo(
            message: MessageID(rawValue: 7), position: 1, badgePosition: 1, recipientTag: tag,
            text: .init(title: "Bob", body: "hi"))
        var machine = ExtensionMachine(
            .init(
                identifier: "7",
                userInfo: [
                    "aps": ["alert": "text"], "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"],
                    "tidings": info.dictionary,
                ], mayFilter: mayFilter, isForeignRecall: false))
        var group: Group? = Group()
        var effects: [ExtensionMachine.Effect] = []
        machine.handle(.received, group: &group, canAskServer: false, wall: 0, into: &effects)
        guard case .finish(let edit?)? = effects.last else { return nil }
        return edit.applied(to: Self.original)
    }

    @Test func `has the real text, and keeps what the edit does not name`() throws {
        let content = try #require(Self.edited(tag: "tag"))
        #expect(content.title == "Bob")
        #expect(content.body == "hi")
        #expect(content.subtitle == "sub")
        #expect(content.badge == 3)
        #expect(content.sound == .standard)
        #expect(content.threadIdentifier == "PR:bob")
        #expect(content.userInfo["tidings"]?["text"] == nil)
    }

    @Test func `says nothing of a message for somebody else, and shows nothing at all where it may`() throws {
        let content = try #require(Self.edited(tag: "another"))
        #expect(content.title == "")
        #expect(content.subtitle == "")
        #expect(content.body == NotificationWords.english.stripped)
        #expect(content.badge == nil)
        #expect(content.sound == nil)
        #expect(content.interruptionLevel == .passive)
        #expect(content.threadIdentifier == "")
        #expect(JSONValue.object(content.userInfo) == ExtensionDecision.strippedUserInfo)
        #expect(Self.edited(tag: "another", mayFilter: true) == NotificationContent())
    }
}
