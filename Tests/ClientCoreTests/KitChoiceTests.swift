import ClientCore
import Requirements
import Testing
import TidingsModel

@Suite struct `What the app has chosen of the kit` {
    /// The notification of a message that arrives in the background.
    private func posted(_ kit: KitSettings) -> LocalNotification? {
        var core = ClientCore.inBackground(kit: kit)
        _ = core.hear(entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        guard case .postNotification(let notification)? = core.handle(.ringClaimed(id(101), .granted), at: at(11)).first
        else { return nil }
        return notification
    }

    @Test(.requirement("S2.11")) func `leaves the badge of a notification to an app that wants it`() throws {
        #expect(try #require(self.posted(KitSettings())).setsBadge)
        #expect(try !#require(self.posted(KitSettings(managesBadge: false))).setsBadge)
    }

    @Test(.requirement("S2.11")) func `leaves the icon to an app that wants it, also when the count falls`() {
        var core = ClientCore.inBackground(kit: KitSettings(managesBadge: false))
        #expect(core.handle(.unreadCounted(0), at: at(11)) == [])
    }

    @Test(.requirement("S3.9")) func `says nothing of the message where the app hides it`() throws {
        let shown = try #require(self.posted(KitSettings(showsContent: false)))
        #expect(shown.title == "")
        #expect(shown.body == "You have a new message")
    }

    @Test(.requirement("S3.5")) func `asks for the sender's name, and for the group's in a group`() {
        for type in ConversationType.allCases {
            let group = type == .group || type == .discussion ? ConversationID(type: type, target: "team") : nil
            #expect(Gate.question(message(1, in: type)) == NameQuestion(sender: bob, group: group))
        }
    }
}
