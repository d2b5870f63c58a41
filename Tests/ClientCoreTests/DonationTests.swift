import Testing
import TidingsModel

@testable import ClientCore

private func payload(_ type: ConversationType) -> NotificationPayload {
    do { return try NotificationPayload(message: message(7, in: type), seenBy: alice, at: 3) } catch {
        fatalError("\(error)")
    }
}

private func sent() -> Message {
    Message(
        id: id(9), app: "demo", sender: alice, conversation: withBob, clientMessageID: "c1", objectName: .text,
        content: #"{"content":"hi"}"#, flags: .normal, pushText: nil, sentAt: 77)
}

private struct Group: ExtensionGroup, Equatable {
    var signIn = ExtensionDecision.SignIn.signedIn(recipientTag: "tag")
    var position: LogPosition? = 19
    var showsContent = true
    var extensionFilters = false
    var words = NotificationWords.english
    var ledger = Ledger()
    var badge: Badge?
    func names(of payload: NotificationPayload) -> KnownNames { KnownNames() }
}

private struct Bench {
    var machine: ExtensionMachine
    var group: Group? = Group()

    init(_ position: LogPosition = 20, uses: Bool = true, _ change: (inout PushInfo) -> Void = { _ in }) {
        var info = PushInfo(
            message: id(7), position: position, badgePosition: position, recipientTag: "tag",
            text: .init(title: "Bob", body: "hi"), portrait: "https://a/bob.jpg", isMention: true)
        change(&info)
        self.machine = ExtensionMachine(
            ExtensionMachine.ReceivedPush(
                identifier: id(7).description,
                userInfo: [
                    "aps": ["alert": "neutral"], "rc": .object(payload(.direct).dictionary), "tidings": info.dictionary,
                ], mayFilter: false, isForeignRecall: false, usesCommunicationNotifications: uses))
    }

    mutating func handle(_ event: ExtensionMachine.Event) -> [ExtensionMachine.Effect] {
        var effects: [ExtensionMachine.Effect] = []
        self.machine.handle(event, group: &self.group, canAskServer: true, wall: 0, into: &effects)
        return effects
    }

    /// What is answered once everything was fetched.
    mutating func answer() -> ContentEdit? {
        var effects = self.handle(.received)
        var index = 0
        while index < effects.count {
            switch effects[index] {
            case .report: effects += self.handle(.reported)
            case .fetchPortrait: effects += self.handle(.portraitFetched(isThere: true))
            case .finish(let edit): return edit
            default: break
            }
            index += 1
        }
        return nil
    }
}

@Suite struct `A push of a person` {
    private let form: CommunicationForm? = {
        var form = CommunicationForm(
            payload(.direct), message: id(7), text: .init(title: "Bob", body: "hi"), names: KnownNames(),
            isMention: true, isReply: false)
        form?.portrait = "https://a/bob.jpg"
        return form
    }()

    @Test func `is shown with the sender's portrait, once that is there`() {
        var bench = Bench()
        #expect(bench.handle(.received) == [.report([id(7)]), .fetchPortrait("https://a/bob.jpg")])
        #expect(bench.handle(.reported) == [])
        guard case .finish(let edit)? = bench.handle(.portraitFetched(isThere: true)).first else {
            return #expect(Bool(false))
        }
        #expect(edit?.communication == self.form)
        #expect(edit?.hasPortrait == true)
        #expect(edit?.title == "Bob")
        #expect(edit?.body == "hi")
        #expect(edit?.userInfo?["tidings"]?["portrait"] == nil)
        #expect(bench.handle(.portraitFetched(isThere: true)) == [])
    }

    @Test func `is shown without a portrait that cannot be had, or not in time`() {
        var missing = Bench()
        _ = missing.handle(.received)
        _ = missing.handle(.reported)
        guard case .finish(let edit)? = missing.handle(.portraitFetched(isThere: false)).first else {
            return #expect(Bool(false))
        }
        #expect(edit?.communication == self.form)
        #expect(edit?.hasPortrait == false)
        var late = Bench()
        _ = late.handle(.received)
        guard case .finish(let last)? = late.handle(.timeExpired).first else { return #expect(Bool(false)) }
        #expect(last?.communication == self.form)
        #expect(last?.hasPortrait == false)
    }

    @Test func `is one of the app where the app does not want it, and nothing is fetched`() {
        var bench = Bench(uses: false)
        #expect(bench.handle(.received) == [.report([id(7)])])
        guard case .finish(let edit)? = bench.handle(.reported).first else { return #expect(Bool(false)) }
        #expect(edit?.communication == nil)
        #expect(edit?.body == "hi")
    }

    @Test func `is of nobody where content is hidden, it rang before, it counts others, or is for somebody else`() {
        var hidden = Bench()
        hidden.group?.showsContent = false
        #expect(hidden.answer().map { $0.communication == nil } == true)
        var rung = Bench()
        _ = rung.group?.ledger.claim(id(7), by: .kit(process: 1), isDelivered: nil, wall: 0)
        rung.group?.ledger.markShown(id(7), by: .kit(process: 1), wall: 0)
        #expect(rung.answer().map { $0.communication == nil && $0.isSilent } == true)
        var several = Bench { $0.counted = [19] }
        #expect(several.answer().map { $0.communication == nil } == true)
        var another = Bench()
        another.group?.signIn = .signedIn(recipientTag: "other")
        #expect(another.answer().map { $0.communication == nil && $0.isStripped } == true)
    }

    @Test func `that was recalled meanwhile is of nobody`() {
        var bench = Bench()
        _ = bench.handle(.received)
        _ = bench.handle(.reported)
        bench.group?.ledger.markRecalled(id(7), by: .pushExtension, wall: 0)
        guard case .finish(let edit)? = bench.handle(.portraitFetched(isThere: true)).first else {
            return #expect(Bool(false))
        }
        #expect(edit?.communication == nil)
        #expect(edit?.hasPortrait == false)
    }

    @Test func `that is to be hidden by now is of nobody, without portrait and image`() {
        var bench = Bench { $0.imageURL = "https://a/cat.jpg" }
        #expect(bench.handle(.received).contains(.fetchImage("https://a/cat.jpg")))
        _ = bench.handle(.reported)
        _ = bench.handle(.imageFetched(isThere: true))
        bench.group?.showsContent = false
        guard case .finish(let edit)? = bench.handle(.portraitFetched(isThere: true)).first else {
            return #expect(Bool(false))
        }
        #expect(edit?.title == "")
        #expect(edit?.body == .text(NotificationWords.english.hidden))
        #expect(edit?.communication == nil)
        #expect(edit?.hasPortrait == false)
        #expect(edit?.hasImage == false)
    }

    @Test func `is forgotten by the system when it is recalled`() {
        var bench = Bench { ($0.isRecall, $0.text) = (true, nil) }
        #expect(bench.handle(.received).contains(.deleteDonations([id(7)])))
        var unused = Bench(uses: false) { ($0.isRecall, $0.text) = (true, nil) }
        #expect(!unused.handle(.received).contains(.deleteDonations([id(7)])))
    }

    @Test func `brings its sender with the text that is fetched`() {
        var bench = Bench { ($0.textMode, $0.text, $0.portrait) = (.idOnly, nil, nil) }
        _ = bench.handle(.received)
        _ = bench.handle(.reported)
        let answer: JSONValue = [
            "entries": [
                [
                    "position": 20, "message_id": .string(id(7).description), "rings": true, "sender": "bob",
                    "text": ["title": "Bob", "body": "hi"], "portrait": "https://a/bob.jpg", "mention": true,
                    "rc": .object(payload(.direct).dictionary),
                ]
            ]
        ]
        #expect(
            bench.handle(.missedFetched(answer, delivered: [])) == [.fetchPortrait("https://a/bob.jpg")])
        guard case .finish(let edit)? = bench.handle(.portraitFetched(isThere: true)).first else {
            return #expect(Bool(false))
        }
        #expect(edit?.communication == self.form)
        #expect(edit?.hasPortrait == true)
    }

    @Test func `fetches what it has missed as of people, but for what is silent, and forgets what was recalled`() {
        func posts(uses: Bool, isShown: Bool) -> (MissedDecision.Post?, [ExtensionMachine.Effect]) {
            var bench = Bench(20, uses: uses)
            bench.group?.position = 17
            if isShown {
                _ = bench.group?.ledger.claim(id(7), by: .kit(process: 1), isDelivered: nil, wall: 0)
                bench.group?.ledger.markShown(id(7), by: .kit(process: 1), wall: 0)
            }
            _ = bench.handle(.received)
            let answer: JSONValue = [
                "entries": [
                    ["position": 18, "recall": .string(id(5).description)],
                    [
                        "position": 19, "message_id": .string(id(6).description), "rings": true, "sender": "bob",
                        "text": ["title": "Bob", "body": "old"], "rc": .object(payload(.direct).dictionary),
                    ],
                ]
            ]
            let effects = bench.handle(.missedFetched(answer, delivered: []))
            for case .post(let post, _) in effects { return (post, effects) }
            return (nil, effects)
        }
        let (ringing, effects) = posts(uses: true, isShown: true)
        #expect(ringing?.isSilent == false)
        #expect(ringing?.message.communication?.sender?.name == "Bob")
        #expect(ringing?.message.communication?.text == "old")
        #expect(effects.contains(.deleteDonations([id(5)])))
        #expect(posts(uses: true, isShown: false).0.map { $0.isSilent && $0.message.communication == nil } == true)
        let unused = posts(uses: false, isShown: true)
        #expect(unused.0.map { $0.message.communication == nil } == true)
        #expect(!unused.1.contains(.deleteDonations([id(5)])))
    }

    @Test
    func `that was fetched is forgotten again if it was recalled or hidden or its person left while it was posted`() {
        typealias Change = (inout Group?) -> Void
        func effects(uses: Bool = true, isTaken: Bool, _ change: Change) -> [ExtensionMachine.Effect] {
            var bench = Bench(20, uses: uses)
            bench.group?.position = 18
            // The push itself is silent, so what was missed rings and is donated.
            _ = bench.group?.ledger.claim(id(7), by: .kit(process: 1), isDelivered: nil, wall: 0)
            bench.group?.ledger.markShown(id(7), by: .kit(process: 1), wall: 0)
            _ = bench.handle(.received)
            let answer: JSONValue = [
                "entries": [
                    [
                        "position": 19, "message_id": .string(id(6).description), "rings": true, "sender": "bob",
                        "text": ["title": "Bob", "body": "old"], "rc": .object(payload(.direct).dictionary),
                    ]
                ]
            ]
            _ = bench.handle(.missedFetched(answer, delivered: []))
            change(&bench.group)
            return bench.handle(.posted(id(6), isTaken: isTaken))
        }
        let recall: Change = { $0?.ledger.markRecalled(id(6), by: .kit(process: 1), wall: 0) }
        let signOut: Change = { $0?.signIn = .signedOut }
        let hide: Change = { $0?.showsContent = false }
        let donations = ExtensionMachine.Effect.deleteDonations([id(6)])
        for isTaken in [true, false] {
            #expect(effects(isTaken: isTaken, recall).contains(donations))
            #expect(effects(isTaken: isTaken, recall).contains(.remove([id(6)])) == isTaken)
            #expect(effects(isTaken: isTaken, signOut).contains(donations))
            #expect(!effects(uses: false, isTaken: isTaken, recall).contains(donations))
        }
        #expect(effects(isTaken: true, hide).contains(donations))
        #expect(effects(isTaken: false) { _ in }.contains(donations))
        #expect(!effects(isTaken: true) { _ in }.contains(donations))
    }

    @Test func `that was fetched is of nobody if it is hidden before it is posted`() {
        func last(_ change: (inout Group?) -> Void) -> MissedDecision.Post? {
            var bench = Bench(20)
            bench.group?.position = 17
            // The push itself is silent, so the newest that was missed rings.
            _ = bench.group?.ledger.claim(id(7), by: .kit(process: 1), isDelivered: nil, wall: 0)
            bench.group?.ledger.markShown(id(7), by: .kit(process: 1), wall: 0)
            _ = bench.handle(.received)
            let entries = [5, 6].map { number -> JSONValue in
                [
                    "position": .int(Int64(13 + number)), "message_id": .string(id(number).description), "rings": true,
                    "sender": "bob", "text": ["title": "Bob", "body": "old"],
                    "rc": .object(payload(.direct).dictionary),
                ]
            }
            _ = bench.handle(.missedFetched(["entries": .array(entries)], delivered: []))
            change(&bench.group)
            for case .post(let post, _) in bench.handle(.posted(id(5), isTaken: true)) { return post }
            return nil
        }
        #expect(last { _ in }?.message.communication?.sender?.name == "Bob")
        let hidden = last { $0?.showsContent = false }
        #expect(hidden?.message.message == id(6))
        #expect(hidden?.message.communication == nil)
    }
}

@Suite struct `What the system was told of messages` {
    private struct Bench {
        var queue = NotificationCenterQueue()
        var donates = true
        private var last: NotificationCenterQueue.Number = 0

        init(donates: Bool = true) { self.donates = donates }

        mutating func handle(_ event: NotificationCenterQueue.Event) -> [NotificationCenterQueue.Effect] {
            var effects: [NotificationCenterQueue.Effect] = []
            var group: Group?
            let facts = NotificationCenterQueue.Facts(
                process: 2, major: 17, wall: 0, hasGroup: false, donates: self.donates, position: { _ in nil })
            self.queue.handle(event, group: &group, facts: facts, into: &effects)
            return effects
        }

        mutating func request(_ work: NotificationCenterQueue.Work) -> [NotificationCenterQueue.Effect] {
            self.last += 1
            return self.handle(.requested(work, self.last))
        }
    }

    private let donated: CommunicationForm = {
        guard let form = CommunicationForm(sent: sent(), names: ResolvedNames(user: "Bob"), words: .english) else {
            fatalError("a message to bob is donated")
        }
        return form
    }()

    private let posted = LocalNotification(
        message: id(7), conversation: withBob, title: "Bob", body: "hi", payload: payload(.direct), unread: 1,
        position: 1)

    @Test func `is told and taken back in the order of what is asked`() {
        var bench = Bench()
        #expect(bench.request(.donate(self.donated)) == [.donate(self.donated), .finish(1, nil)])
        _ = bench.request(.post(self.posted))
        #expect(bench.request(.deleteDonations(.all)) == [])
        #expect(bench.request(.donate(self.donated)) == [])
        #expect(
            bench.handle(.posted(.shown, 2)) == [
                .finish(2, .client(.notificationPosted(id(7), .shown))), .deleteDonations(.all), .finish(3, nil),
                .donate(self.donated), .finish(4, nil),
            ])
    }

    @Test func `is forgotten with a recall, also of what is being posted`() {
        var bench = Bench()
        _ = bench.request(.post(self.posted))
        // At once, and before the list is waited for: the app may be ended meanwhile.
        #expect(bench.request(.recall(id(7), replacement: nil)) == [.deleteDonations(.messages([id(7)]))])
        #expect(
            bench.handle(.posted(.shown, 1)) == [
                .finish(1, .client(.notificationPosted(id(7), .shown))), .deleteDonations(.messages([id(7)])), .list(2),
            ])
        #expect(bench.handle(.listed([], 2)) == [.finish(2, .client(.notificationWorkDone))])
        var unused = Bench(donates: false)
        #expect(unused.request(.recall(id(7), replacement: nil)) == [.list(1)])
        #expect(unused.handle(.listed([], 1)) == [.finish(1, .client(.notificationWorkDone))])
    }

    @Test func `is forgotten when the person leaves, and what waits is not told any more`() {
        var bench = Bench()
        _ = bench.request(.post(self.posted))
        _ = bench.request(.donate(self.donated))
        #expect(bench.request(.clearAll(showsZero: false)) == [.finish(2, nil)])
        #expect(
            bench.handle(.posted(.shown, 1)) == [
                .finish(1, .client(.notificationPosted(id(7), .shown))), .deleteDonations(.all),
                .removeScheduledAndList(3),
            ])
        #expect(bench.handle(.listed([], 3)) == [.finish(3, nil)])
        var unused = Bench(donates: false)
        _ = unused.request(.clearAll(showsZero: false))
        #expect(unused.handle(.listed([], 1)) == [.finish(1, nil)])
    }
}
