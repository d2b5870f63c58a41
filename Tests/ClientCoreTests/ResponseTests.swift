import ClientCore
import Requirements
import Testing
import TidingsModel

@Suite struct `What a person does with a notification` {
    private let route = Route.conversation(withBob)

    @Test(.requirement("S1.13", "S3.11")) func `opens the conversation, and is told, when it is a tap`() {
        #expect(
            ResponseRule.steps(action: MessageCategory.defaultAction, text: nil, route: self.route, position: 4)
                == [.publish, .open(self.route)])
    }

    @Test func `opens nothing when it is a dismissal`() {
        #expect(
            ResponseRule.steps(action: MessageCategory.dismissAction, text: nil, route: self.route, position: 4)
                == [.publish])
    }

    @Test func `sends and reads when it is a reply, and nothing of an empty one`() {
        #expect(
            ResponseRule.steps(action: MessageCategory.replyAction, text: "yes", route: self.route, position: 4)
                == [.publish, .reply("yes", to: withBob, upTo: 4)])
        #expect(
            ResponseRule.steps(action: MessageCategory.replyAction, text: "", route: self.route, position: 4)
                == [.publish])
    }

    @Test func `reads without opening when it is "mark as read"`() {
        #expect(
            ResponseRule.steps(action: MessageCategory.markReadAction, text: nil, route: self.route, position: nil)
                == [.publish, .markRead(withBob, upTo: nil)])
    }

    @Test func `opens the screen when it is an action of the app's own`() {
        let detail = Route.detail(screen: "news")
        #expect(
            ResponseRule.steps(action: "later", text: nil, route: detail, position: nil) == [.publish, .open(detail)])
        #expect(
            ResponseRule.steps(action: MessageCategory.replyAction, text: "yes", route: detail, position: nil)
                == [.publish])
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
