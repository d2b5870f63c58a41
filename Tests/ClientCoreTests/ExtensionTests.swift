import ClientCore
import Requirements
import Testing
import TidingsModel

private func push(
    _ number: UInt64 = 7, position: LogPosition = 20, badge: Int? = 5, bseq: LogPosition = 20, tag: String = "tag",
    isRecall: Bool = false, text: PushInfo.Text? = nil, image: String? = nil, type: String = "PR"
) -> JSONValue {
    let info = PushInfo(
        message: id(number), position: position, badgePosition: bseq, recipientTag: tag, isRecall: isRecall, text: text,
        imageURL: image)
    var aps: [(String, JSONValue)] = [("alert", isRecall ? "A message was recalled" : "hi"), ("sound", "default")]
    if let badge { aps.append(("badge", .int(badge))) }
    let rc: JSONValue = ["cType": .string(type), "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"]
    return .members([("aps", .members(aps)), ("rc", rc), (PushInfo.key, info.dictionary)])
}

private let foreign: JSONValue = ["aps": ["alert": "sale"]]
private let foreignRecall: JSONValue = ["aps": ["alert": "x"], "message": ["params": ["corner_mark_decrease": true]]]

private struct AppGroup {
    var ledger = Ledger()
    var badge: Badge? = Badge(server: 2, position: 10)
    var signIn = ExtensionDecision.SignIn.signedIn(recipientTag: "tag")
    var position: LogPosition?
    var showsContent = true
    var names = KnownNames()
    var isFilteringEntitled = false

    func facts(isDelivered: Bool?) -> ExtensionDecision.Facts {
        .init(
            signIn: self.signIn, isDelivered: isDelivered, position: self.position, showsContent: self.showsContent,
            isFilteringEntitled: self.isFilteringEntitled, canFetch: self.position != nil, names: self.names)
    }

    mutating func decide(
        _ userInfo: JSONValue, isDelivered: Bool? = nil, wall: Int64 = 0
    ) -> ExtensionDecision.Changes? {
        ExtensionDecision.changes(
            userInfo: userInfo, facts: self.facts(isDelivered: isDelivered), ledger: &self.ledger, badge: &self.badge,
            wall: wall)
    }
}

@Suite struct `A push in the notification service extension` {
    @Test func `rings once: the second of two is silent, with the same badge`() {
        var group = AppGroup()
        #expect(group.decide(push()) == .init(badge: 5, receipt: id(7), reason: .rings))
        #expect(group.decide(push()) == .init(badge: 5, isSilent: true, receipt: id(7), reason: .alreadyShown))
    }

    @Test func `has nothing posted beside it for the messages it counts`() throws {
        var group = AppGroup()
        group.position = 15
        let info = PushInfo(
            message: id(7), position: 20, badgePosition: 20, recipientTag: "tag",
            text: .init(title: "Bob", body: "3 new messages"), counted: [17, 19])
        #expect(PushInfo(userInfo: .members([(PushInfo.key, info.dictionary)])) == info)
        let fetch = try #require(group.decide(.members([(PushInfo.key, info.dictionary)]))?.fetch)
        #expect(fetch == MissedFetch(after: 15, before: 20, counted: [17, 19]))
        let entries = (16...19).map { position -> JSONValue in
            [
                "position": .int(position), "message_id": .string(id(UInt64(position)).description), "rings": true,
                "sender": "bob", "text": ["body": "hi"],
                "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"],
            ]
        }
        let posts = MissedDecision.posts(
            ["entries": .array(entries)], fetch, hidden: nil, pushRings: true, delivered: [],
            ledger: &group.ledger, wall: 0)
        #expect(posts.map(\.message.position) == [16, 18])
    }

    @Test func `has its image fetched where its text is shown`() {
        let text = PushInfo.Text(title: "Bob", body: "[Image]")
        func image(_ change: (inout AppGroup) -> Void, tag: String = "tag", isRecall: Bool = false) -> String? {
            var group = AppGroup()
            change(&group)
            let push = push(tag: tag, isRecall: isRecall, text: text, image: "https://a/b.jpg")
            return group.decide(push)?.imageURL
        }
        #expect(image { _ in } == "https://a/b.jpg")
        #expect(image { $0.ledger.markShown(id(7), by: .kit(process: 1), wall: 0) } == "https://a/b.jpg")
        // Hidden content, a recall, somebody else's, nobody's.
        #expect(image { $0.showsContent = false } == nil)
        #expect(image({ _ in }, isRecall: true) == nil)
        #expect(image({ _ in }, tag: "other") == nil)
        #expect(image { $0.signIn = .signedOut } == nil)
        #expect(image { $0.signIn = .unknown } == nil)
        // With the filtering entitlement nothing is shown of what was shown.
        #expect(
            image {
                $0.isFilteringEntitled = true
                $0.ledger.markShown(id(7), by: .kit(process: 1), wall: 0)
            } == nil)
    }

    @Test func `takes for an image what begins like one`() {
        #expect(NotificationImage.Kind(bytes: [0xff, 0xd8, 0xff, 0xe0]) == .jpeg)
        #expect(NotificationImage.Kind(bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]) == .png)
        #expect(NotificationImage.Kind(bytes: Array("GIF89a".utf8)) == .gif)
        for text in ["", "GIF", "<html>", "GIF88a"] {
            #expect(NotificationImage.Kind(bytes: Array(text.utf8)) == nil)
        }
        #expect(NotificationImage.Kind.allCases.map(\.fileExtension) == ["jpg", "png", "gif"])
    }

    @Test func `is silent when the kit has shown the message, and while it is showing it`() {
        var group = AppGroup()
        _ = group.ledger.claim(id(7), by: .kit(process: 1), wall: 0)
        #expect(group.decide(push(), wall: 1)?.isSilent == true)
        group.ledger.markShown(id(7), by: .kit(process: 1), wall: 1)
        #expect(group.decide(push(), wall: 60_000)?.reason == .alreadyShown)
    }

    @Test func `looks at the delivered list when the app died between claiming and showing`() {
        var group = AppGroup()
        _ = group.ledger.claim(id(7), by: .kit(process: 1), wall: 0)
        let before = group.badge
        #expect(group.decide(push(), wall: 60_000) == nil)
        #expect(group.badge == before)
        var shown = group
        #expect(shown.decide(push(), isDelivered: true, wall: 60_000)?.reason == .alreadyShown)
        #expect(group.decide(push(), isDelivered: false, wall: 60_000)?.reason == .rings)
    }

    @Test func `takes the absolute badge only if it was computed later`() {
        var group = AppGroup()
        #expect(group.decide(push(1, badge: 9, bseq: 10))?.badge == 2)
        #expect(group.decide(push(2, badge: 9, bseq: 11))?.badge == 9)
    }

    @Test(.requirement("S2.20")) func `changes no badge where none is stored`() {
        var group = AppGroup()
        group.badge = nil
        #expect(group.decide(push())?.badge == nil)
        #expect(group.decide(foreign)?.badge == nil)
        #expect(group.badge == nil)
    }

    @Test(.requirement("S2.13", "S2.19")) func `of another sender counts one more, or one less for a recall`() {
        var group = AppGroup()
        #expect(group.decide(foreign) == .init(badge: 3, reason: .foreign))
        #expect(group.decide(foreignRecall) == .init(badge: 2, reason: .foreign))
        for _ in 0..<5 { _ = group.decide(foreignRecall) }
        #expect(group.badge?.shown == 0)
    }

    @Test func `for somebody else is stripped and rings for nobody`() {
        var group = AppGroup()
        let stripped = ExtensionDecision.Changes(
            isSilent: true, isStripped: true, body: "You have a notification", reason: .wrongRecipient)
        #expect(group.decide(push(tag: "carol")) == stripped)
        group.signIn = .signedOut
        #expect(group.decide(push())?.isStripped == true)
        #expect(group.ledger == Ledger())
        #expect(group.badge == Badge(server: 2, position: 10))
    }

    @Test func `for somebody else leaves a mark by which it is ours, and nothing that could be opened or counted`() {
        let left = ExtensionDecision.strippedUserInfo
        // The kit leaves it silent in the foreground, and takes it out of the list at a sign-out.
        #expect(NotificationClearing.isOurs(left))
        #expect(
            ForegroundPresentation.choice(isForAnother: false, isKnown: false, isSilenced: left[PushInfo.key] != nil)
                == .badge)
        #expect(PushInfo(userInfo: left) == nil)
        #expect(BadgeInfo(userInfo: left) == nil)
        #expect(throws: (any Error).self) { try NotificationPayload(userInfo: left) }
        #expect(!NotificationClearing.isOf(withBob, left, thread: ""))
        #expect(!CornerMarkDecrease.isSet(in: left))
        #expect(left == ["tidings": [:]])
    }

    @Test func `keeps its neutral text and counts nothing where nobody knows who is signed in`() {
        var group = AppGroup()
        group.signIn = .unknown
        #expect(group.decide(push(text: .init(title: "Bob", body: "hi"))) == .init(reason: .unknown))
        #expect(group.ledger == Ledger())
        #expect(group.badge == Badge(server: 2, position: 10))
    }

    @Test func `gets its real text only when it is for the person who is signed in`() {
        let real = push(text: .init(title: "Bob", body: "hi"))
        var group = AppGroup()
        let changes = group.decide(real)
        #expect(changes?.title == "Bob")
        #expect(changes?.body == "hi")
        group.signIn = .signedIn(recipientTag: "carol")
        #expect(group.decide(real)?.body == "You have a notification")
        #expect(group.decide(real)?.title == nil)
        var named = AppGroup()
        named.names = KnownNames(sender: "Robert", group: "Team")
        #expect(named.decide(real)?.title == "Robert")
        #expect(named.decide(real)?.body == "hi")
        #expect(named.decide(push(text: .init(title: "team", body: "hi"), type: "GRP"))?.title == "Team")
        #expect(named.decide(push(text: .init(title: "team", body: "hi"), type: "GRP"))?.body == "Robert: hi")
        var hiding = AppGroup()
        hiding.showsContent = false
        let chosen = push(
            text: .init(title: "Order", isTitleChosen: true, subtitle: "Desk", body: .localized(key: "READY")))
        #expect(named.decide(chosen)?.title == "Order")
        #expect(named.decide(chosen)?.subtitle == "Desk")
        #expect(named.decide(chosen)?.body == .localized(key: "READY"))
        #expect(named.decide(chosen)?.message == nil)
        #expect(hiding.decide(chosen)?.subtitle == nil)
        #expect(hiding.decide(real)?.body == nil)
        #expect(hiding.decide(real)?.title == nil)
    }

    @Test func `fetches what was overwritten before it, at most 20 entries`() {
        func fetch(_ position: LogPosition, known: LogPosition?) -> MissedFetch? {
            var group = AppGroup()
            group.position = known
            return group.decide(push(position: position))?.fetch
        }
        #expect(fetch(20, known: 19) == nil)
        var next = AppGroup()
        next.position = 19
        #expect(next.decide(push(position: 20))?.reached == 20)
        next.position = 18
        #expect(next.decide(push(8, position: 20))?.reached == nil)
        #expect(fetch(20, known: 25) == nil)
        #expect(fetch(20, known: nil) == nil)
        #expect(fetch(20, known: 18) == MissedFetch(after: 18, before: 20))
        #expect(fetch(20, known: 0)?.path == "/v1/extension/missed?after=0&limit=19")
        #expect(fetch(100, known: 18) == MissedFetch(after: 79, before: 100))
        #expect(fetch(100, known: 18)?.limit == 20)
        var group = AppGroup()
        group.position = 1
        #expect(group.decide(foreign)?.fetch == nil)
        #expect(group.decide(push(tag: "carol"))?.fetch == nil)
    }

    @Test func `that recalls a message fetches what it was stored in the place of`() {
        var group = AppGroup()
        group.position = 18
        let late = group.decide(push(position: 20, isRecall: true))
        #expect(late?.fetch == MissedFetch(after: 18, before: 20))
        #expect(late?.reached == nil)
        // The recalled message is among what is fetched, and is no news.
        let missed: JSONValue = ["entries": [entry(19, 7)]]
        let posts = MissedDecision.posts(
            missed, MissedFetch(after: 18, before: 20), hidden: nil, pushRings: false, delivered: [],
            ledger: &group.ledger, wall: 0)
        #expect(posts == [])
        group.position = 19
        let next = group.decide(push(position: 20, isRecall: true))
        #expect(next?.fetch == nil)
        #expect(next?.reached == 20)
    }

    @Test func `that recalls a message is silent and changes the text`() {
        var group = AppGroup()
        #expect(
            group.decide(push(badge: 1, isRecall: true))
                == .init(
                    badge: 1, isSilent: true, title: "", subtitle: "", body: "A message was recalled", reason: .recall))
    }

    @Test func `is not shown at all where the extension may filter and nothing is to ring`() {
        var group = AppGroup()
        func discarded(_ userInfo: JSONValue) -> [Bool] {
            // A captured value may be changed in one place at a time.
            var (ledger, badge) = (group.ledger, group.badge)
            let changes = ExtensionDecision.changes(
                userInfo: userInfo, facts: .init(signIn: group.signIn, isFilteringEntitled: true), ledger: &ledger,
                badge: &badge, wall: 0)
            (group.ledger, group.badge) = (ledger, badge)
            return [changes?.isDiscarded == true, changes?.removed == [id(7)]]
        }
        #expect(discarded(push()) == [false, false])
        #expect(discarded(push()) == [true, false])
        #expect(discarded(push(isRecall: true)) == [true, true])
        #expect(discarded(push(tag: "carol")) == [true, false])
        #expect(discarded(foreign) == [false, false])
    }

    @Test func `stays in the list while the kit holds the claim, for the kit may die before it shows`() {
        var ledger = Ledger()
        var badge: Badge?
        #expect(ledger.claim(id(7), by: .kit(process: 1), wall: 0) == .granted)
        let changes = ExtensionDecision.changes(
            userInfo: push(), facts: .init(signIn: .signedIn(recipientTag: "tag"), isFilteringEntitled: true),
            ledger: &ledger, badge: &badge, wall: 1)
        #expect(changes?.isSilent == true)
        #expect(changes?.isDiscarded == false)
    }

    @Test(.requirement("S2.22")) func `is a recall only by a Boolean at its place`() {
        #expect(CornerMarkDecrease.isSet(in: foreignRecall))
        #expect(!CornerMarkDecrease.isSet(in: ["message": ["params": ["corner_mark_decrease": 1]]]))
        #expect(!CornerMarkDecrease.isSet(in: ["message": ["corner_mark_decrease": true]]))
        #expect(!CornerMarkDecrease.isSet(in: ["message": "x"]))
    }
}

private func entry(_ position: Int64, _ number: UInt64, rings: Bool = true) -> JSONValue {
    [
        "position": .int(position), "message_id": .string(id(number).description), "sender": "bob",
        "rings": .bool(rings), "text": ["title": "Bob", "body": .string("text \(number)")],
        "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"],
    ]
}

@Suite struct `Messages that APNs has overwritten` {
    private let fetch = MissedFetch(after: 10, before: 20)

    private func posts(
        _ entries: [JSONValue], showsContent: Bool = true, pushRings: Bool = true, delivered: Set<MessageID> = [],
        ledger: inout Ledger
    ) -> [MissedDecision.Post] {
        MissedDecision.posts(
            ["entries": .array(entries)], self.fetch, hidden: showsContent ? nil : NotificationWords.english.hidden,
            pushRings: pushRings,
            delivered: delivered, ledger: &ledger, wall: 0)
    }

    @Test func `are posted in order, each once, and ring once in all`() {
        var ledger = Ledger()
        let entries = [entry(12, 2), entry(11, 1), entry(13, 3)]
        let posts = self.posts(entries, ledger: &ledger)
        #expect(posts.map(\.message.message) == [id(1), id(2), id(3)])
        #expect(posts.map(\.isSilent) == [true, true, true])
        #expect(posts.first?.message.text == .init(title: "Bob", body: "text 1"))
        let userInfo = posts.first?.message.userInfo(recipientTag: "tag") ?? .null
        #expect(
            PushInfo(userInfo: userInfo)
                == PushInfo(message: id(1), position: 11, badgePosition: 11, recipientTag: "tag"))
        #expect(userInfo["rc"] == posts.first?.message.payload.userInfo["rc"])
        #expect(self.posts(entries, ledger: &ledger).isEmpty)
        var second = Ledger()
        #expect(self.posts(entries, pushRings: false, ledger: &second).map(\.isSilent) == [true, true, false])
    }

    @Test func `are left alone when somebody shows or has shown them`() {
        var ledger = Ledger()
        ledger.markShown(id(1), by: .kit(process: 1), wall: 0)
        _ = ledger.claim(id(2), by: .kit(process: 1), wall: 0)
        let posts = self.posts(
            [entry(11, 1), entry(12, 2), entry(13, 3), entry(14, 4)], delivered: [id(3)], ledger: &ledger)
        #expect(posts.map(\.message.message) == [id(4)])
    }

    @Test func `are only those the server says may ring, between what the phone has and the push`() {
        var ledger = Ledger()
        let entries: [JSONValue] = [
            entry(10, 1), entry(20, 2), entry(11, 3, rings: false), ["position": 12], "x", entry(19, 4),
        ]
        #expect(self.posts(entries, ledger: &ledger).map(\.message.message) == [id(4)])
        #expect(
            MissedDecision.posts(
                "nonsense", self.fetch, hidden: nil, pushRings: false, delivered: [], ledger: &ledger, wall: 0
            ).isEmpty)
    }

    @Test func `take out of the list what was recalled meanwhile`() {
        let recall: JSONValue = ["position": 12, "recall": .string(id(9).description)]
        #expect(
            MissedDecision.removed(["entries": [entry(11, 1), recall, ["position": 13, "recall": "x"]]]) == [id(9)])
        #expect(MissedDecision.removed("nonsense") == [])
    }

    @Test func `say nothing where the kit hides what messages say`() {
        var ledger = Ledger()
        let posts = self.posts([entry(11, 1)], showsContent: false, ledger: &ledger)
        #expect(posts.map(\.message.text) == [.init(body: "You have a new message")])
    }

    @Test func `say what the server says, and no name, where the person hides what messages say`() {
        var ledger = Ledger()
        let hidden: JSONValue = [
            "position": 11, "message_id": .string(id(1).description), "sender": "bob", "rings": true, "hidden": true,
            "text": ["body": "Neue Nachricht"],
            "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"],
        ]
        let posts = MissedDecision.posts(
            ["entries": [hidden]], self.fetch, hidden: nil, names: { _ in KnownNames(sender: "Bob") },
            pushRings: true, delivered: [], ledger: &ledger, wall: 0)
        #expect(posts.map(\.message.text) == [.init(body: "Neue Nachricht")])
    }
}

@Suite struct `The host of an image` {
    @Test(arguments: [
        ("files.example.com", ["files.example.com"], true), ("FILES.example.COM", ["Files.Example.com"], true),
        ("files.example.com", [], false), ("files.example.com", ["example.com"], false),
        ("files.example.com", ["*.example.com"], true), ("a.b.example.com", ["*.example.com"], true),
        ("example.com", ["*.example.com"], false), ("badexample.com", ["*.example.com"], false),
        (".example.com", ["*.example.com"], false), ("files.example.com.evil.org", ["*.example.com"], false),
        ("files.example.com", ["other.org", "*.com"], true),
    ])
    func `is one of those the app allows, or it is not asked`(host: String, hosts: [String], isAllowed: Bool) {
        #expect(NotificationImage.isAllowed(host, among: hosts) == isAllowed)
    }
}
