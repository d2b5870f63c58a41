import ClientCore
import Requirements
import Testing
import TidingsModel

@Suite struct `What a person does with a notification` {
    private let chat = Route.conversation(withBob)
    private let detail = Route.detail(screen: "news")

    private func steps(
        _ action: String, text: String? = nil, opening route: Route? = nil, of conversation: ConversationID? = withBob,
        at position: LogPosition? = 4
    ) -> [ResponseRule.Step] {
        ResponseRule.steps(
            action: action, text: text, route: route ?? self.chat, conversation: conversation, position: position)
    }

    @Test(.requirement("S1.13", "S3.11")) func `opens the conversation, and is told, when it is a tap`() {
        #expect(self.steps(MessageCategory.defaultAction) == [.publish, .open(self.chat)])
    }

    @Test func `opens nothing when it is a dismissal`() {
        #expect(self.steps(MessageCategory.dismissAction) == [.publish])
    }

    @Test func `sends and reads when it is a reply, and nothing of an empty one`() {
        #expect(
            self.steps(MessageCategory.replyAction, text: "yes") == [.publish, .reply("yes", to: withBob, upTo: 4)])
        #expect(self.steps(MessageCategory.replyAction, text: "") == [.publish])
    }

    @Test func `reads without opening when it is "mark as read"`() {
        #expect(
            self.steps(MessageCategory.markReadAction, at: nil) == [.publish, .markRead(withBob, upTo: nil)])
    }

    @Test func `opens the screen when it is an action of the app's own`() {
        #expect(self.steps("later", opening: self.detail, of: nil) == [.publish, .open(self.detail)])
        for action in [MessageCategory.replyAction, MessageCategory.markReadAction] {
            #expect(self.steps(action, text: "yes", opening: self.detail, of: nil) == [.publish])
        }
    }

    @Test(.requirement("S1.16"))
    func `answers and reads in the message's conversation, though a tap opens another screen`() {
        #expect(self.steps(MessageCategory.defaultAction, opening: self.detail) == [.publish, .open(self.detail)])
        #expect(
            self.steps(MessageCategory.replyAction, text: "yes", opening: self.detail)
                == [.publish, .reply("yes", to: withBob, upTo: 4)])
        #expect(
            self.steps(MessageCategory.markReadAction, opening: self.detail)
                == [.publish, .markRead(withBob, upTo: 4)])
    }
}

@Suite struct `A push that arrives in the foreground` {
    private let push: JSONValue = ["aps": ["alert": "hi", "sound": "default"]]

    @Test(.requirement("S4.2", "S4.6", "S4.7"))
    func `is a banner of the app's own with its sound, where the system shows nothing`() {
        let text = AlertText(userInfo: self.push)
        #expect(
            ForegroundPresentation().steps(text: text, hasSound: true, userInfo: self.push) == [
                .showBanner(InAppBanner(text: text, userInfo: self.push)), .playSound(1312), .vibrate,
            ])
    }

    @Test(.requirement("S4.2"))
    func `is heard without a banner when it says nothing, and not at all when it is silent`() {
        #expect(
            ForegroundPresentation().steps(text: AlertText(), hasSound: true, userInfo: [:])
                == [.playSound(1007), .vibrate])
        #expect(ForegroundPresentation().steps(text: AlertText(), hasSound: false, userInfo: [:]) == [])
        #expect(
            ForegroundPresentation().steps(
                text: AlertText(body: "hi"), hasSound: true, userInfo: [:], isKnown: true) == [],
            "it rang before")
    }

    @Test func `follows the app's choices`() {
        let quiet = ForegroundPresentation(showsInAppBanner: false, playsSound: true, vibrates: false)
        #expect(
            quiet.steps(text: AlertText(body: "hi"), hasSound: true, userInfo: [:]) == [.playSound(1007)])
    }

    @Test(
        .requirement("S2.9"),
        arguments: [
            (false, false, [.banner, .list, .sound, .badge]), (false, true, .badge), (true, false, []),
            (true, true, []),
        ] as [(Bool, Bool, PresentationOptions)])
    func `is nothing for a message the device has, and no ring for one that rang before`(
        isKnown: Bool, isSilenced: Bool, choice: PresentationOptions
    ) {
        #expect(
            ForegroundPresentation.choice(isForAnother: false, isKnown: isKnown, isSilenced: isSilenced) == choice)
        // It was on its way when the person before signed out.
        #expect(ForegroundPresentation.choice(isForAnother: true, isKnown: isKnown, isSilenced: isSilenced) == [])
    }

    @Test(
        .requirement("S2.9"),
        arguments: [
            (PresentationOptions([.banner, .list, .sound]), 17, UInt(26)), ([.banner, .list, .sound], 13, 6),
            ([.list, .badge], 12, 5), ([.sound], 12, 2), ([], 12, 0),
        ] as [(PresentationOptions, Int, UInt)])
    func `has banner and list as one alert below iOS 14`(options: PresentationOptions, major: Int, value: UInt) {
        #expect(options.systemValue(major: major) == value)
    }

    @Test(.requirement("S4.6", "S2.10")) func `says the same as a string and as a dictionary`() {
        #expect(AlertText(userInfo: self.push) == AlertText(body: "hi"))
        #expect(
            AlertText(userInfo: ["aps": ["alert": ["title": "Bob", "subtitle": "team", "body": "hi"]]])
                == AlertText(title: "Bob", subtitle: "team", body: "hi"))
        #expect(AlertText(userInfo: ["aps": ["content-available": 1]]).isEmpty)
    }
}
