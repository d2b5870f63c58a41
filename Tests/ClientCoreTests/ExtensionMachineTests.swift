// tidy: long because each answer at each moment is one test.
import ClientCore
import Testing
import TidingsModel

private func push(
    _ position: LogPosition = 20, number: UInt64 = 7, image: String? = nil, tag: String = "tag", isRecall: Bool = false,
    mode: PushTextMode = .serviceExtension, body: PushLine = "hi"
) -> ExtensionMachine.ReceivedPush {
    let info = PushInfo(
        message: id(number), position: position, badgePosition: position, recipientTag: tag, isRecall: isRecall,
        text: isRecall || mode == .idOnly ? nil : .init(title: "Bob", body: body), textMode: mode, imageURL: image)
    return ExtensionMachine.ReceivedPush(
        identifier: id(number).description,
        userInfo: [
            "aps": ["alert": "neutral", "badge": 5],
            "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"], "tidings": info.dictionary,
        ], mayFilter: false, isForeignRecall: false)
}

private struct Group: ExtensionGroup, Equatable {
    var signIn = ExtensionDecision.SignIn.signedIn(recipientTag: "tag")
    var position: LogPosition? = 19
    var showsContent = true
    var extensionFilters = false
    var words = NotificationWords.english
    var ledger = Ledger()
    var badge: Badge? = Badge(server: 2, position: 10)
    func names(of payload: NotificationPayload) -> KnownNames { KnownNames() }
}

/// A push in the extension, and the app group it shares with the app.
private struct Bench {
    var machine: ExtensionMachine
    var group: Group? = Group()
    var canAskServer = true
    var wall: Int64 = 0

    init(_ push: ExtensionMachine.ReceivedPush = push()) { self.machine = ExtensionMachine(push) }

    mutating func handle(_ event: ExtensionMachine.Event) -> [ExtensionMachine.Effect] {
        var effects: [ExtensionMachine.Effect] = []
        self.machine.handle(
            event, group: &self.group, canAskServer: self.canAskServer, wall: self.wall, into: &effects)
        return effects
    }

    /// A push that was decided, three messages after the one the phone has.
    static func fetching(_ change: (inout Bench) -> Void = { _ in }) -> Bench {
        var bench = Bench()
        bench.group?.position = 16
        change(&bench)
        _ = bench.handle(.received)
        _ = bench.handle(.reported)
        return bench
    }
}

/// The server's answer: three messages with ids of their positions.
private let missed: JSONValue = [
    "entries": .array(
        (17...19).map { position -> JSONValue in
            [
                "position": .int(position), "message_id": .string(id(UInt64(position)).description), "rings": true,
                "sender": "bob", "text": ["title": "Bob", "body": "old"],
                "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"],
            ]
        })
]

extension [ExtensionMachine.Effect] {
    /// The content as it was answered; nil if it was not, or as it came.
    fileprivate var edit: ContentEdit? {
        for case .finish(let edit) in self { return edit }
        return nil
    }
    /// The messages that are posted.
    fileprivate var posted: [MessageID] {
        self.compactMap { if case .post(let post, _) = $0 { post.message.message } else { nil } }
    }
}

@Suite struct `The extension's machine` {
    @Test func `answers when the server has heard of the message, with its text and number`() throws {
        var bench = Bench()
        #expect(bench.handle(.received) == [.report([id(7)])])
        #expect(bench.group?.ledger[id(7)]?.isShown == true)
        #expect(bench.group?.position == 20)
        let effects = bench.handle(.reported)
        #expect(effects.count == 1)
        let edit = try #require(effects.edit)
        #expect(edit.title == "Bob")
        #expect(edit.body == "hi")
        #expect(edit.badge == 5)
        #expect(!edit.isSilent)
        #expect(edit.userInfo?["tidings"]?["text"] == nil)
        #expect(edit.userInfo?["rc"]?["fId"] == "bob")
        #expect(bench.machine.isIdle)
    }

    @Test func `answers at once without a server, and leaves the content where the app group cannot be read`() {
        var bench = Bench()
        bench.canAskServer = false
        #expect(bench.handle(.received).edit?.body == "hi")
        var locked = Bench()
        locked.group = nil
        #expect(locked.handle(.received) == [.finish(nil)])
        #expect(locked.machine.isIdle)
    }

    @Test func `waits while the app has claimed the message, and looks at the delivered list when it has not shown it`()
        throws
    {
        var bench = Bench()
        let claim = bench.group?.ledger.claim(id(7), by: .kit(process: 1), isDelivered: nil, wall: 0)
        #expect(claim == .granted)
        var looks = 0
        var effects = bench.handle(.received)
        while case .wait(let milliseconds)? = effects.first {
            #expect((1...500).contains(milliseconds))
            bench.wall += milliseconds
            looks += 1
            effects = bench.handle(.timePassed)
        }
        #expect(looks > 1)
        #expect(effects == [.listDelivered])
        #expect(bench.handle(.timePassed) == [])
        #expect(bench.handle(.deliveredListed(["another"])) == [.report([id(7)])])
        #expect(bench.machine.changes?.reason == .rings)
    }

    @Test func `is silent for a message the app has shown meanwhile`() {
        var bench = Bench()
        _ = bench.group?.ledger.claim(id(7), by: .kit(process: 1), isDelivered: nil, wall: 0)
        _ = bench.handle(.received)
        bench.group?.ledger.markShown(id(7), by: .kit(process: 1), wall: 0)
        _ = bench.handle(.timePassed)
        #expect(bench.handle(.reported).edit?.isSilent == true)
    }

    @Test func `leaves the content as it came when its time is up before anything is decided`() {
        var bench = Bench()
        _ = bench.group?.ledger.claim(id(7), by: .kit(process: 1), isDelivered: nil, wall: 0)
        _ = bench.handle(.received)
        #expect(bench.handle(.timeExpired) == [.finish(nil)])
        #expect(bench.handle(.timePassed) == [])
    }

    @Test func `answers with what it has when its time is up`() {
        var bench = Bench(push(image: "https://a/b.jpg"))
        #expect(bench.handle(.received) == [.report([id(7)]), .fetchImage("https://a/b.jpg")])
        #expect(bench.handle(.reported) == [])
        let edit = bench.handle(.timeExpired).edit
        #expect(edit?.body == "hi")
        #expect(edit?.hasImage == false)
        #expect(bench.handle(.imageFetched(isThere: true)) == [])
        #expect(bench.handle(.timeExpired) == [])
    }

    @Test func `adds the image, which is fetched once whatever was missed`() {
        var bench = Bench(push(image: "https://a/b.jpg"))
        bench.group?.position = 16
        _ = bench.handle(.received)
        _ = bench.handle(.reported)
        #expect(bench.handle(.missedFetched(["entries": []], delivered: [])) == [])
        #expect(bench.handle(.imageFetched(isThere: true)).edit?.hasImage == true)
    }

    @Test func `answers as recalled what was recalled while it was at work, without its image`() {
        var bench = Bench(push(image: "https://a/b.jpg"))
        _ = bench.handle(.received)
        _ = bench.handle(.reported)
        bench.group?.ledger.markRecalled(id(7), by: .pushExtension, wall: 0)
        let edit = bench.handle(.imageFetched(isThere: true)).edit
        #expect(edit?.body == .text(NotificationWords.english.recalled))
        #expect(edit?.isSilent == true)
        #expect(edit?.hasImage == false)
    }

    @Test func `strips what is for somebody who has signed out while it was at work`() {
        var bench = Bench()
        _ = bench.handle(.received)
        bench.group?.signIn = .signedOut
        let edit = bench.handle(.reported).edit
        #expect(edit?.isStripped == true)
        #expect(edit?.title == "")
        #expect(edit?.body == .text(NotificationWords.english.stripped))
        #expect(edit?.userInfo == ExtensionDecision.strippedUserInfo)
    }

    @Test(arguments: [PushLine.text("hi"), .localized(key: "GIFT", arguments: ["Bob"])])
    func `says nothing of what is to be hidden by now, whoever has the words`(body: PushLine) {
        var bench = Bench(push(body: body))
        _ = bench.handle(.received)
        bench.group?.showsContent = false
        let edit = bench.handle(.reported).edit
        #expect(edit?.title == "")
        #expect(edit?.body == .text(NotificationWords.english.hidden))
        #expect(edit?.isSilent == false)
    }

    @Test func `takes the newest number, and the decision where nobody can be asked any more`() {
        var bench = Bench()
        _ = bench.handle(.received)
        bench.group?.badge?.resigned(unread: 9, position: 30)
        #expect(bench.handle(.reported).edit?.badge == 9)
        var locked = Bench()
        _ = locked.handle(.received)
        locked.group = nil
        #expect(locked.handle(.reported).edit?.badge == 5)
    }
}

@Suite struct `The extension's machine, when APNs has overwritten something` {
    @Test func `asks for it, posts one after the other, and tells the server of all at once`() {
        var bench = Bench()
        bench.group?.position = 16
        #expect(bench.handle(.received) == [.fetch(MissedFetch(after: 16, before: 20)), .report([id(7)])])
        #expect(bench.group?.position == 16)
        #expect(bench.handle(.reported) == [])
        #expect(bench.handle(.missedFetched(missed, delivered: [])).posted == [id(17)])
        #expect(bench.machine.openPosts.map(\.message.message) == [id(17), id(18), id(19)])
        #expect(bench.machine.openPosts.map(\.isSilent) == [true, true, true])
        #expect(bench.handle(.posted(id(17), isTaken: true)).posted == [id(18)])
        #expect(bench.group?.ledger[id(17)]?.isShown == true)
        #expect(bench.group?.ledger[id(18)]?.isShown == false)
        #expect(bench.handle(.posted(id(18), isTaken: true)).posted == [id(19)])
        #expect(bench.handle(.posted(id(19), isTaken: true)) == [.report([id(17), id(18), id(19)])])
        #expect(bench.group?.position == 20)
        #expect(bench.handle(.reported).edit?.body == "hi")
    }

    @Test func `gives back a claim that the notification centre has refused, and asks for it again with the next push`()
    {
        var bench = Bench.fetching()
        _ = bench.handle(.missedFetched(missed, delivered: []))
        _ = bench.handle(.posted(id(17), isTaken: false))
        #expect(bench.group?.ledger[id(17)] == nil)
        _ = bench.handle(.posted(id(18), isTaken: true))
        #expect(bench.handle(.posted(id(19), isTaken: true)) == [.report([id(18), id(19)])])
        #expect(bench.group?.position == 16)
    }

    @Test func `posts nothing that was recalled before, and takes away what was recalled while it was posted`() {
        var bench = Bench.fetching()
        _ = bench.handle(.missedFetched(missed, delivered: []))
        bench.group?.ledger.markRecalled(id(17), by: .kit(process: 1), wall: 0)
        bench.group?.ledger.markRecalled(id(18), by: .kit(process: 1), wall: 0)
        let effects = bench.handle(.posted(id(17), isTaken: true))
        #expect(effects.first == .remove([id(17)]))
        #expect(effects.posted == [id(19)])
        #expect(bench.handle(.posted(id(19), isTaken: true)) == [.report([id(19)])])
        #expect(bench.group?.position == 20)
    }

    @Test func `says nothing of what is to be hidden by now in what it has not posted yet`() {
        var bench = Bench.fetching()
        _ = bench.handle(.missedFetched(missed, delivered: []))
        bench.group?.showsContent = false
        for case .post(let post, _) in bench.handle(.posted(id(17), isTaken: true)) {
            #expect(post.message.message == id(18))
            #expect(post.message.text == PushInfo.Text(body: .text(NotificationWords.english.hidden)))
        }
        bench.group?.showsContent = true
        for case .post(let post, _) in bench.handle(.posted(id(18), isTaken: true)) {
            #expect(post.message.text.body == "old")
        }
        #expect(bench.handle(.posted(id(19), isTaken: true)) == [.report([id(17), id(18), id(19)])])
    }

    @Test func `posts nothing for somebody who has signed out, and takes away what it was posting`() {
        var bench = Bench.fetching()
        _ = bench.handle(.missedFetched(missed, delivered: []))
        bench.group?.signIn = .signedIn(recipientTag: "another")
        let effects = bench.handle(.posted(id(17), isTaken: true))
        #expect(effects.first == .remove([id(17)]))
        #expect(effects.posted == [])
        #expect(effects.edit?.isStripped == true)
        #expect(bench.group?.position == 16)
    }

    @Test func `gives back what it has not posted when its time is up, and marks what is still being posted`() {
        var bench = Bench.fetching()
        _ = bench.handle(.missedFetched(missed, delivered: []))
        #expect(bench.handle(.timeExpired).edit?.body == "hi")
        #expect(bench.group?.ledger[id(18)] == nil)
        #expect(bench.group?.ledger[id(19)] == nil)
        #expect(!bench.machine.isIdle)
        #expect(bench.handle(.posted(id(17), isTaken: true)) == [])
        #expect(bench.group?.ledger[id(17)]?.isShown == true)
        #expect(bench.machine.isIdle)
    }

    @Test func `gives back the claims of what is left when the app group cannot be asked, and has it fetched again`() {
        var bench = Bench.fetching()
        _ = bench.handle(.missedFetched(missed, delivered: []))
        let group = bench.group
        bench.group = nil
        #expect(bench.handle(.posted(id(17), isTaken: true)) == [.report([id(17)])])
        bench.group = group
        #expect(bench.handle(.reported).edit?.body == "hi")
        #expect(bench.group?.ledger[id(18)] == nil)
        #expect(bench.group?.ledger[id(19)] == nil)
        #expect(bench.group?.position == 16)
    }

    @Test func `does not count as there what another push has claimed and not shown yet`() {
        var bench = Bench.fetching()
        _ = bench.group?.ledger.claim(id(18), by: .pushExtension, isDelivered: nil, wall: 0)
        #expect(bench.handle(.missedFetched(missed, delivered: [])).posted == [id(17)])
        #expect(bench.handle(.posted(id(17), isTaken: true)).posted == [id(19)])
        #expect(bench.handle(.posted(id(19), isTaken: true)) == [.report([id(17), id(19)])])
        #expect(bench.group?.position == 16)
    }

    @Test func `answers without it when the server does not`() {
        var bench = Bench.fetching()
        #expect(bench.handle(.missedFetched(nil, delivered: [])).edit?.body == "hi")
        #expect(bench.group?.position == 16)
    }

    @Test func `takes away what was recalled meanwhile`() {
        var bench = Bench.fetching()
        let answer: JSONValue = ["entries": [["position": 17, "recall": .string(id(3).description)]]]
        let effects = bench.handle(.missedFetched(answer, delivered: []))
        #expect(effects.first == .remove([id(3)]))
        #expect(effects.edit?.body == "hi")
        #expect(bench.group?.position == 20)
    }
}

@Suite struct `The extension's machine, with a push that brings no text` {
    /// The server's answer about the push's own message.
    private static func answer(_ changes: [(String, JSONValue)] = [], number: UInt64 = 7) -> JSONValue {
        let entry: [(String, JSONValue)] = [
            ("position", 20), ("message_id", .string(id(number).description)), ("sender", "bob"), ("rings", true),
            ("text", ["title": "Team", "from": "Bob", "body": "hi"]),
            ("rc", ["cType": "GRP", "fId": "bob", "oName": "RC:TxtMsg", "tId": "team"]),
        ]
        let kept = entry.filter { member in !changes.contains { $0.0 == member.0 } }
        return ["entries": [.members(kept + changes)]]
    }

    private static func asking(position: LogPosition? = 19) -> Bench {
        var bench = Bench(push(mode: .idOnly))
        bench.group?.position = position
        _ = bench.handle(.received)
        _ = bench.handle(.reported)
        return bench
    }

    @Test func `asks the server for it, and shows what it answers`() {
        var bench = Bench(push(mode: .idOnly))
        #expect(
            bench.handle(.received) == [
                .fetch(MissedFetch(after: 19, before: 20, includesPush: true)), .report([id(7)]),
            ])
        #expect(bench.handle(.reported) == [])
        let edit = bench.handle(.missedFetched(Self.answer(), delivered: [])).edit
        #expect([edit?.title, edit?.body] == ["Team", "Bob: hi"])
        #expect(edit?.badge == 5)
        #expect(edit?.isSilent == false)
    }

    @Test func `keeps the neutral alert without an answer, and where the message is gone`() {
        for answer in [nil, ["entries": [["position": 20, "other": true]]], Self.answer(number: 8)] as [JSONValue?] {
            var bench = Self.asking()
            let edit = bench.handle(.missedFetched(answer, delivered: [])).edit
            #expect([edit?.title, edit?.body] == [nil, nil])
            #expect(edit?.badge == 5)
        }
        var late = Self.asking()
        #expect(late.handle(.timeExpired).edit?.body == nil)
        var alone = Bench(push(mode: .idOnly))
        alone.canAskServer = false
        #expect(alone.handle(.received).edit?.body == nil)
    }

    @Test func `asks for what it missed in the same request`() {
        var bench = Bench(push(mode: .idOnly))
        bench.group?.position = 16
        #expect(bench.handle(.received).first == .fetch(MissedFetch(after: 16, before: 20, includesPush: true)))
        #expect(MissedFetch(after: 16, before: 20, includesPush: true).path == "/v1/extension/missed?after=16&limit=4")
        var far = Bench(push(400, mode: .idOnly))
        #expect(far.handle(.received).first == .fetch(MissedFetch(after: 380, before: 400, includesPush: true)))
        #expect(MissedFetch(after: 380, before: 400, includesPush: true).limit == 20)
        // A phone that does not know how far it is misses nothing, and has its text all the same.
        var unknown = Bench(push(mode: .idOnly))
        unknown.group?.position = nil
        #expect(unknown.handle(.received).first == .fetch(MissedFetch(after: 19, before: 20, includesPush: true)))
    }

    @Test func `shows the image that the server names, if it may`() {
        var bench = Self.asking()
        let answer = Self.answer([("image", "https://a/b.jpg")])
        #expect(bench.handle(.missedFetched(answer, delivered: [])) == [.fetchImage("https://a/b.jpg")])
        #expect(bench.handle(.imageFetched(isThere: true)).edit?.hasImage == true)
    }

    @Test func `says no more than the person wants said`() {
        var bench = Self.asking()
        let hidden = Self.answer([("hidden", true), ("text", ["body": "Something new"])])
        let edit = bench.handle(.missedFetched(hidden, delivered: [])).edit
        #expect([edit?.title, edit?.body] == [nil, "Something new"])
        // A phone that hides what messages say does not ask.
        var hiding = Bench(push(mode: .idOnly))
        hiding.group?.showsContent = false
        #expect(hiding.handle(.received) == [.report([id(7)])])
    }

    @Test func `shows nothing of it to who has signed in meanwhile`() {
        var bench = Self.asking()
        bench.group?.signIn = .signedIn(recipientTag: "other")
        let edit = bench.handle(.missedFetched(Self.answer(), delivered: [])).edit
        #expect(edit?.isStripped == true)
        #expect(edit?.body == .text(NotificationWords.english.stripped))
        #expect(bench.machine.changes?.body == nil)
    }

    @Test func `takes the text out of an alert where the phone hides what messages say`() {
        var bench = Bench(push(mode: .alert))
        bench.group?.showsContent = false
        _ = bench.handle(.received)
        let edit = bench.handle(.reported).edit
        #expect([edit?.title, edit?.body] == ["", .text(NotificationWords.english.hidden)])
    }
}
