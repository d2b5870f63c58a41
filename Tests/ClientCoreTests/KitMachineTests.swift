import Requirements
import Testing
import TidingsModel

@testable import ClientCore

private struct Facts: KitFacts {
    var signIn = ExtensionDecision.SignIn.signedIn(recipientTag: "tag")
    var hasPerson = true
    var stored: Set<MessageID> = []
    func isKnown(_ message: MessageID) -> Bool { self.stored.contains(message) }
}

private func userInfo(_ number: UInt64 = 7, tag: String? = "tag", alert: JSONValue? = "hi") -> JSONValue {
    let payload: JSONValue = [
        "cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob", "id": .string(id(number).description),
    ]
    var object = JSONObject()
    object[NotificationPayload.key] = payload
    if let alert { object["aps"] = ["alert": alert, "sound": "default"] }
    if let tag {
        object[PushInfo.key] =
            PushInfo(message: id(number), position: 20, badgePosition: 20, recipientTag: tag).dictionary
    }
    return .object(object)
}

private func badgePush(tag: String = "tag") -> JSONValue {
    var object = JSONObject()
    object["aps"] = ["content-available": 1]
    object[PushInfo.key] = BadgeInfo(badge: 2, badgePosition: 9, recipientTag: tag).dictionary
    return .object(object)
}

/// A silent push that the app's backend asked for.
private func backendPush(tag: String = "tag") -> JSONValue {
    ["aps": ["content-available": 1], "tidings": PushInfo.silent(to: tag), "data": ["sync": 7]]
}

private let detail: JSONValue = ["type": "news", "aps": ["alert": "News"]]
private let strange: JSONValue = ["aps": ["alert": "not ours"]]

private func arrival(_ userInfo: JSONValue) -> KitMachine.Arrival { KitMachine.Arrival(payload: userInfo) }

private func tap(
    _ userInfo: JSONValue = userInfo(), _ action: String = MessageCategory.defaultAction, text: String? = nil,
    by origin: PersonResponse.Origin = .callback, deliveredAt: Int64? = nil
) -> KitMachine.Tap {
    KitMachine.Tap(
        userInfo: userInfo, text: AlertText(userInfo: userInfo), action: action, userText: text, origin: origin,
        request: deliveredAt.map { _ in "request" }, deliveredAt: deliveredAt)
}

private let newsTable =
    (try? NotificationRouter(table: [.detail(types: ["news"], screen: "paper")])) ?? NotificationRouter()

/// The kit of a process.
private struct Bench {
    var machine: KitMachine
    var facts = Facts()

    init(major: Int = 17) {
        self.machine = KitMachine(KitMachine.Settings(major: major))
        self.machine.settings.router = newsTable
    }

    mutating func handle(_ event: KitMachine.Event) -> [KitMachine.Effect] {
        var effects: [KitMachine.Effect] = []
        self.machine.handle(event, facts: self.facts, into: &effects)
        return effects
    }

    /// A push to the application's delegate of an app that has set the notification centre's.
    mutating func receive(
        _ userInfo: JSONValue, _ state: KitMachine.AppState, isCenterDelegateSet: Bool = true,
        _ call: KitMachine.Call? = 1
    ) -> [KitMachine.Effect] {
        self.handle(.remoteArrived(arrival(userInfo), state, isCenterDelegateSet: isCenterDelegateSet, call))
    }

    /// What a notification is presented as.
    mutating func present(_ userInfo: JSONValue, hasSound: Bool = true, _ call: KitMachine.Call = 1)
        -> PresentationOptions?
    {
        var shown = arrival(userInfo)
        shown.hasSound = hasSound
        for effect in self.handle(.presentationRequested(shown, call)) {
            switch effect {
            case .present(let options, call): return options
            case .choosePresentation(let notification, call, withinMilliseconds: 3_000):
                let options = self.machine.standardPresentation(of: notification, facts: self.facts)
                return self.handle(.presentationChosen(options, call)).contains(.present(options, call))
                    ? options : nil
            default: continue
            }
        }
        return nil
    }
}

extension [KitMachine.Effect] {
    fileprivate var opened: [ConversationID?] {
        self.compactMap { if case .open(let response) = $0 { response.conversation } else { nil } }
    }
}

@Suite struct `The kit's machine, in the foreground` {
    private let everything: PresentationOptions = [.banner, .list, .sound, .badge]

    @Test(.requirement("S2.9")) func `shows what is new, once`() {
        var bench = Bench()
        #expect(bench.present(userInfo()) == self.everything)
        #expect(bench.present(userInfo()) == [])
    }

    @Test func `shows nothing of a number that no extension has reduced to one, and tells nobody`() {
        var bench = Bench()
        let alert = JSONValue.members([
            ("aps", ["alert": ["body": "You have a notification"]]),
            (PushInfo.key, BadgeInfo(badge: 2, badgePosition: 9, recipientTag: "tag").dictionary),
        ])
        #expect(bench.handle(.presentationRequested(arrival(alert), 1)) == [.present([], 1)])
        // Where the app's delegate is told of arrivals.
        for state in [KitMachine.AppState.active, .inactive, .background] {
            #expect(bench.receive(alert, state, isCenterDelegateSet: false, nil) == [])
        }
    }

    @Test(.requirement("S2.9")) func `shows nothing of a message in the local store`() {
        var bench = Bench()
        bench.facts.stored = [id(7)]
        #expect(bench.present(userInfo()) == [])
        #expect(bench.present(userInfo(8)) == self.everything)
    }

    @Test func `rings no second time for what the extension has silenced`() {
        var bench = Bench()
        #expect(bench.present(userInfo(), hasSound: false) == .badge)
        // Of the app's own, and of the kit's, no sound says nothing about an earlier ring.
        #expect(bench.present(detail, hasSound: false) == self.everything)
        #expect(bench.present(userInfo(8, tag: nil), hasSound: false) == self.everything)
    }

    @Test func `says in the app group that it has rung, as soon as it is decided`() {
        var bench = Bench()
        let received = ReceivedNotification(
            payload: try? NotificationPayload(userInfo: userInfo()), text: AlertText(body: "hi"), userInfo: userInfo())
        #expect(
            bench.handle(.presentationRequested(arrival(userInfo()), 4)) == [
                .publishArrival(received, isForeground: true),
                .choosePresentation(received, 4, withinMilliseconds: 3_000),
            ])
        #expect(bench.handle(.presentationChosen(.sound, 4)) == [.present(.sound, 4), .markShown(id(7))])
        #expect(bench.handle(.presentationChosen(.sound, 4)) == [])
    }

    @Test func `takes an app that does not choose in time for "nothing", and then has not rung`() {
        var bench = Bench()
        _ = bench.handle(.presentationRequested(arrival(userInfo()), 4))
        #expect(bench.handle(.presentationTimePassed(4)) == [.present([], 4)])
        #expect(bench.handle(.presentationChosen(self.everything, 4)) == [])
        #expect(bench.present(userInfo(), 5) == self.everything)
        _ = bench.handle(.presentationRequested(arrival(userInfo(8)), 6))
        #expect(bench.handle(.presentationChosen(.badge, 6)) == [.present(.badge, 6)])
    }

    @Test func `leaves to the app what is none of its own, and shows nothing of another person's`() {
        var bench = Bench()
        #expect(bench.handle(.presentationRequested(arrival(strange), 1)) == [.leaveToApp])
        // Neither is the app told of it nor asked.
        #expect(bench.handle(.presentationRequested(arrival(userInfo(tag: "other")), 1)) == [.present([], 1)])
        #expect(bench.present(userInfo(tag: "other"), hasSound: false) == [])
    }

    @Test(.requirement("S4.2", "S4.6")) func `rings itself below iOS 10, once, and says so`() {
        var bench = Bench(major: 9)
        let push = userInfo()
        let received = ReceivedNotification(
            payload: try? NotificationPayload(userInfo: push), text: AlertText(body: "hi"), userInfo: push)
        let banner = InAppBanner(text: AlertText(body: "hi"), userInfo: push)
        #expect(
            bench.receive(push, .active) == [
                .publishArrival(received, isForeground: true), .markShown(id(7)), .ring(.showBanner(banner)),
                .ring(.playSound(1312)), .ring(.vibrate), .refresh(1),
            ])
        #expect(bench.receive(push, .active, 2) == [.publishArrival(received, isForeground: true), .refresh(2)])
        #expect(
            bench.handle(.localArrived(arrival(push), .active)) == [.publishArrival(received, isForeground: true)])
    }

    @Test(.requirement("S4.2", "S4.6")) func `rings itself for a message of the connection, as much as the app wants`()
        throws
    {
        var bench = Bench()
        func message(tag: String) throws -> LocalNotification {
            LocalNotification(
                message: id(7), conversation: withBob, title: "Bob", body: "hi",
                payload: try NotificationPayload(userInfo: userInfo()), unread: 1, position: 1, recipientTag: tag)
        }
        let arrived = try message(tag: "tag")
        let text = AlertText(title: "Bob", body: "hi")
        #expect(
            bench.handle(.messageArrived(arrived)) == [
                .ring(.showBanner(InAppBanner(text: text, userInfo: arrived.userInfo))),
                .ring(.playSound(1007)), .ring(.vibrate),
            ])
        bench.machine.settings.foregroundPresentation = ForegroundPresentation(
            showsInAppBanner: false, vibrates: false, messageSound: 1312)
        #expect(bench.handle(.messageArrived(arrived)) == [.ring(.playSound(1312))])
        // Who it is for has signed out meanwhile.
        #expect(try bench.handle(.messageArrived(message(tag: "other"))) == [])
    }

    @Test func `rings itself where the app has set no delegate of the notification centre`() {
        var bench = Bench()
        #expect(bench.receive(userInfo(), .active, isCenterDelegateSet: false).contains(.ring(.vibrate)))
        #expect(bench.receive(userInfo(8), .active) == [.refresh(1)])
    }
}

@Suite struct `The kit's machine, whose a notification is` {
    @Test func `knows the person by the tag, and takes no one for everyone`() {
        var facts = Facts()
        #expect(!KitMachine.isForAnother(userInfo(), facts))
        #expect(KitMachine.isForAnother(userInfo(tag: "other"), facts))
        #expect(KitMachine.isForAnother(badgePush(tag: "other"), facts))
        facts.signIn = .signedOut
        #expect(KitMachine.isForAnother(userInfo(), facts))
        facts.signIn = .unknown
        #expect(!KitMachine.isForAnother(userInfo(), facts))
        facts.hasPerson = false
        #expect(KitMachine.isForAnother(userInfo(), facts))
    }

    @Test func `takes what names no recipient for whoever holds the phone`() {
        for signIn in [ExtensionDecision.SignIn.signedIn(recipientTag: "tag"), .unknown, .signedOut] {
            let facts = Facts(signIn: signIn, hasPerson: false)
            #expect(!KitMachine.isForAnother(userInfo(tag: nil), facts))
            #expect(!KitMachine.isForAnother(detail, facts))
        }
    }
}

@Suite struct `The kit's machine, woken by a push` {
    @Test(.requirement("S4.9"), arguments: [userInfo(alert: nil), backendPush()])
    func `catches up with the server, and answers what came of it`(silent: JSONValue) {
        var bench = Bench()
        let received = ReceivedNotification(
            payload: try? NotificationPayload(userInfo: silent), text: AlertText(), userInfo: silent)
        #expect(
            bench.receive(silent, .background) == [.publishArrival(received, isForeground: false), .refresh(1)])
        #expect(bench.handle(.refreshed(.newData, 1)) == [.answerFetch(.newData, 1)])
        #expect(bench.handle(.fetchRequested(2)) == [.refresh(2)])
        #expect(bench.handle(.refreshed(.failed, 2)) == [.answerFetch(.failed, 2)])
    }

    @Test(.requirement("S1.8")) func `takes an inactive app for tapped only where a tap can be meant`() {
        var old = Bench(major: 9)
        #expect(old.receive(userInfo(), .inactive).opened == [withBob])
        #expect(old.receive(userInfo(8, alert: nil), .inactive).opened == [])
        #expect(old.handle(.localArrived(arrival(userInfo(9)), .inactive)).opened == [withBob])
        var new = Bench()
        #expect(new.receive(userInfo(), .inactive).opened == [])
        #expect(new.receive(userInfo(), .inactive, isCenterDelegateSet: false).opened == [withBob])
    }

    @Test func `leaves other pushes to the app, also their completion handlers`() {
        var bench = Bench()
        #expect(bench.receive(strange, .background) == [.leaveToApp])
        #expect(bench.receive(strange, .active, nil) == [.leaveToApp])
    }

    @Test func `tells the app nothing of another person's push, and catches up all the same`() {
        var bench = Bench()
        #expect(bench.receive(userInfo(tag: "other"), .background) == [.refresh(1)])
        #expect(bench.receive(userInfo(tag: "other"), .background, nil) == [])
    }

    @Test(.requirement("S4.9")) func `shows a told number before it catches up, and has new data then`() throws {
        var bench = Bench()
        let push = badgePush()
        let info = try #require(BadgeInfo(userInfo: push))
        let received = ReceivedNotification(payload: nil, text: AlertText(), userInfo: push)
        #expect(bench.receive(push, .background) == [.countBadge(info, isActive: false, 1)])
        #expect(bench.handle(.badgeCounted(.shows(2), 1)) == [.showBadge(2, 1)])
        #expect(
            bench.handle(.badgeShown(1)) == [.publishArrival(received, isForeground: false), .refresh(1)])
        #expect(bench.handle(.refreshed(.noData, 1)) == [.answerFetch(.newData, 1)])

        #expect(bench.receive(push, .active, 2) == [.countBadge(info, isActive: true, 2)])
        #expect(
            bench.handle(.badgeCounted(.stays, 2)) == [.publishArrival(received, isForeground: true), .refresh(2)])
        #expect(bench.handle(.refreshed(.noData, 2)) == [.answerFetch(.noData, 2)])
    }

    @Test(arguments: [badgePush(tag: "other"), backendPush(tag: "other")])
    func `does nothing at all for another person's number or data`(silent: JSONValue) {
        var bench = Bench()
        #expect(bench.receive(silent, .background) == [.answerFetch(.noData, 1)])
    }

    @Test(.requirement("S2.8")) func `asks for a device token again when the app is active, once for each refusal`() {
        var bench = Bench()
        #expect(bench.handle(.becameActive) == [])
        #expect(bench.handle(.registrationFailed) == [])
        #expect(bench.handle(.becameActive) == [.registerForRemoteNotifications])
        #expect(bench.handle(.becameActive) == [])
    }
}

@Suite struct `The kit's machine, when a person taps` {
    private func response(_ tap: KitMachine.Tap) -> PersonResponse {
        PersonResponse(
            route: .conversation(withBob), payload: try? NotificationPayload(userInfo: tap.userInfo), text: tap.text,
            userInfo: tap.userInfo, actionIdentifier: tap.action, userText: tap.userText, origin: tap.origin)
    }

    @Test(.requirement("S1.13", "S3.11"))
    func `opens the conversation, tells the server, and clears its notifications`() {
        var bench = Bench()
        let response = self.response(tap())
        #expect(
            bench.handle(.responded(tap(), 3)) == [
                .publishResponse(response), .reportOpened(id(7)), .clearNotifications(withBob), .open(response),
                .completeResponse(3),
            ])
    }

    @Test(.requirement("S0.19", "S0.21")) func `opens once what several callbacks tell`() {
        var bench = Bench()
        #expect(bench.handle(.launched(tap(by: .launchOptions), .inactive)).opened == [withBob])
        #expect(bench.handle(.responded(tap(by: .sceneConnection, deliveredAt: 5), nil)) == [])
        #expect(bench.handle(.responded(tap(deliveredAt: 5), 3)) == [.completeResponse(3)])
        #expect(bench.handle(.responded(tap(deliveredAt: 9), 4)).opened == [withBob])
    }

    @Test func `takes launch options that woke the app in the background for no tap`() {
        var bench = Bench()
        #expect(bench.handle(.launched(tap(by: .launchOptions), .background)) == [.leaveToApp])
    }

    @Test(.requirement("S3.11")) func `sends the answer given to a cold start's notification, which is open already`() {
        var bench = Bench(major: 9)
        _ = bench.handle(.launched(tap(by: .launchOptions), .inactive))
        let reply = tap(userInfo(), MessageCategory.replyAction, text: "yes")
        #expect(
            bench.handle(.responded(reply, 3)) == [
                .publishResponse(self.response(reply)),
                .work([.reply("yes", to: withBob, upTo: 20, message: id(7))], 3),
            ])
        #expect(bench.handle(.worked(3)) == [.completeResponse(3)])
    }

    @Test func `sends the answer that connects a scene, which has no handler`() {
        var bench = Bench()
        let reply = tap(userInfo(), MessageCategory.replyAction, text: "yes", by: .sceneConnection, deliveredAt: 5)
        #expect(
            bench.handle(.responded(reply, nil)).last
                == .work(
                    [.reply("yes", to: withBob, upTo: 20, message: id(7))], nil))
    }

    @Test func `opens and answers nothing of another person's`() {
        var bench = Bench()
        let read = tap(userInfo(tag: "other"), MessageCategory.markReadAction)
        #expect(bench.handle(.responded(read, 3)) == [.completeResponse(3)])
        #expect(bench.handle(.responded(tap(userInfo(tag: "other")), nil)) == [])
    }

    @Test(.requirement("S1.16")) func `opens the app's own screen for its own types, and leaves others to it`() {
        var bench = Bench()
        #expect(bench.handle(.responded(tap(detail), 3)).opened == [nil])
        var ours = userInfo().objectValue ?? JSONObject()
        ours["type"] = "news"
        #expect(bench.handle(.responded(tap(.object(ours)), 6)).opened == [nil])
        bench.machine.settings.router = NotificationRouter()
        #expect(bench.handle(.responded(tap(detail), 4)) == [.leaveToApp])
        #expect(bench.handle(.responded(tap(strange), 5)) == [.leaveToApp])
    }

    @Test(.requirement("S4.7")) func `opens a banner of the app's as often as it is tapped`() {
        var bench = Bench(major: 9)
        #expect(bench.handle(.responded(tap(by: .inAppBanner), nil)).opened == [withBob])
        #expect(bench.handle(.responded(tap(by: .inAppBanner), nil)).opened == [withBob])
    }

    @Test func `asks the client for an answer and a read mark, up to the newest position that is known`() {
        let draft = MessageDraft(
            clientMessageID: "r1", conversation: withBob, objectName: .text, content: #"{"content":"yes"}"#)
        func events(_ told: LogPosition?, _ stored: LogPosition?, _ newest: LogPosition?) -> [ClientEvent] {
            BackgroundWork.reply("yes", to: withBob, upTo: told, message: id(7)).events(
                replyID: "r1", position: { _ in stored }, newest: { _ in newest })
        }
        #expect(events(9, 8, 7) == [.sendRequested(draft), .markReadRequested(withBob, upTo: 9)])
        #expect(events(nil, 8, 7) == [.sendRequested(draft), .markReadRequested(withBob, upTo: 8)])
        #expect(events(nil, nil, 7) == [.sendRequested(draft), .markReadRequested(withBob, upTo: 7)])
        #expect(events(nil, nil, nil) == [.sendRequested(draft)])
    }
}
