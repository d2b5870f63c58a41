import Requirements
import Testing
import TidingsModel

@testable import ClientCore

private struct Group: ExtensionGroup, Equatable {
    var signIn = ExtensionDecision.SignIn.signedIn(recipientTag: "tag")
    var position: LogPosition? = 8
    var showsContent = true
    var extensionFilters = false
    var words = NotificationWords.english
    var ledger = Ledger()
    var badge: Badge? = Badge(server: 3, foreign: 1, position: 10)
    func names(of payload: NotificationPayload) -> KnownNames { KnownNames() }
}

/// A number that came as an alert, in the extension.
private struct Bench {
    var machine: ExtensionMachine
    var group: Group? = Group()
    var canAskServer = false

    init(_ number: Int = 1, at position: LogPosition = 12, to tag: String = "tag", mayFilter: Bool = true) {
        let info = BadgeInfo(badge: number, badgePosition: position, recipientTag: tag)
        let userInfo: JSONValue = .members([
            ("aps", ["alert": ["body": "You have a notification"], "mutable-content": 1]),
            (PushInfo.key, info.dictionary),
        ])
        self.machine = ExtensionMachine(
            .init(
                identifier: BadgeInfo.identifier, userInfo: userInfo, mayFilter: mayFilter, isForeignRecall: false))
    }

    mutating func handle(_ event: ExtensionMachine.Event) -> [ExtensionMachine.Effect] {
        var effects: [ExtensionMachine.Effect] = []
        self.machine.handle(event, group: &self.group, canAskServer: self.canAskServer, wall: 5, into: &effects)
        return effects
    }

    mutating func answer(to event: ExtensionMachine.Event = .received) throws -> ContentEdit {
        guard case .finish(let edit)? = self.handle(event).last else { throw NoAnswer() }
        return try #require(edit)
    }

    struct NoAnswer: Error {}
}

@Suite struct `A number that comes as an alert` {
    @Test func `is reduced to the number: nothing is shown, claimed, counted or told`() throws {
        var bench = Bench()
        let edit = try bench.answer()
        #expect(edit.badge == 2)
        #expect(edit.isDiscarded && edit.isSilent)
        // The other senders' share stays.
        #expect(bench.group?.badge == Badge(server: 1, foreign: 1, position: 12))
        #expect(bench.group?.ledger == Ledger())
        #expect(bench.group?.position == 8)
        #expect(bench.machine.isIdle)
    }

    @Test(.requirement("S2.20"), arguments: [LogPosition(0), 9, 10])
    func `leaves a newer number`(position: LogPosition) throws {
        var bench = Bench(9, at: position)
        let edit = try bench.answer()
        #expect(edit.badge == 4)
        #expect(edit.isDiscarded)
        #expect(bench.group?.badge == Group().badge)
    }

    @Test(.requirement("S2.20")) func `changes nothing where no number is stored`() throws {
        var bench = Bench()
        bench.group?.badge = nil
        let edit = try bench.answer()
        #expect(edit.badge == nil)
        #expect(edit.isDiscarded)
        #expect(bench.group?.badge == nil)
    }

    @Test func `for somebody else, or for nobody, is nothing`() throws {
        var other = Bench(to: "other")
        var left = Bench()
        left.group?.signIn = .signedOut
        for edit in [try other.answer(), try left.answer()] {
            #expect(edit.badge == nil)
            #expect(edit.isStripped && edit.isDiscarded && edit.isSilent)
        }
        #expect(other.group?.badge == Group().badge)
    }

    @Test func `is hidden all the same where nothing can be known`() throws {
        var unknown = Bench()
        unknown.group?.signIn = .unknown
        var locked = Bench()
        locked.group = nil
        var late = Bench()
        for edit in [try unknown.answer(), try locked.answer(), try late.answer(to: .timeExpired)] {
            #expect(edit.badge == nil)
            #expect(edit.isDiscarded && edit.isSilent)
        }
    }

    @Test func `makes no sound where the extension may not discard it`() throws {
        var bench = Bench(mayFilter: false)
        let edit = try bench.answer()
        #expect(edit.badge == 2)
        #expect(edit.isSilent && !edit.isDiscarded)
    }

    @Test func `asks what was read, which leaves the list; nothing is posted`() throws {
        var bench = Bench()
        bench.canAskServer = true
        let fetch = MissedFetch(after: 8, before: 13, clearsOnly: true)
        #expect(bench.handle(.received) == [.fetch(fetch)])
        #expect(fetch.path == "/v1/extension/missed?after=8&limit=4")
        let answer: JSONValue = [
            "entries": [
                [
                    "position": 9, "message_id": .string(id(9).description), "rings": true, "sender": "bob",
                    "text": ["title": "Bob", "body": "old"],
                    "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"],
                ],
                ["position": 11, "recall": .string(id(4).description)],
                ["position": 12, "read": ["type": "PR", "target": "bob"], "up_to": 7],
            ]
        ]
        func delivered(_ number: UInt64, at position: LogPosition, from peer: String) -> NotificationCenterQueue.Entry {
            let info = PushInfo(message: id(number), position: position, badgePosition: position, recipientTag: "tag")
            return .init(
                identifier: id(number).description,
                userInfo: .members([
                    ("rc", ["cType": "PR", "fId": .string(peer), "oName": "RC:TxtMsg", "tId": .string(peer)]),
                    (PushInfo.key, info.dictionary),
                ]), thread: "PR:\(peer)")
        }
        let list = [
            delivered(5, at: 5, from: "bob"), delivered(7, at: 7, from: "bob"), delivered(8, at: 8, from: "bob"),
            delivered(6, at: 6, from: "carol"),
        ]
        let effects = bench.handle(.missedFetched(answer, delivered: list))
        #expect(effects.first == .remove([id(4), id(5), id(7)]))
        #expect(effects.count == 2)
        guard case .finish(let edit?)? = effects.last else { throw Bench.NoAnswer() }
        #expect(edit.badge == 2)
        // Their messages are still to come, by the next push or the app.
        #expect(bench.group?.position == 8)
        #expect(bench.group?.ledger[id(9)] == nil)
    }

    @Test func `does not ask for what the phone has, nor without an answer in time`() throws {
        var known = Bench()
        known.canAskServer = true
        known.group?.position = 12
        #expect(try known.answer().badge == 2)
        var slow = Bench()
        slow.canAskServer = true
        _ = slow.handle(.received)
        #expect(try slow.answer(to: .timeExpired).badge == 2)
    }

    @Test func `lets the app tell the server what the extension may do`() throws {
        for mayFilter in [true, false] {
            var bench = Bench(mayFilter: mayFilter)
            bench.group?.extensionFilters = !mayFilter
            _ = try bench.answer()
            #expect(bench.group?.extensionFilters == mayFilter)
        }
    }

    @Test func `that is answered after a sign-out is nothing`() throws {
        var bench = Bench()
        bench.canAskServer = true
        _ = bench.handle(.received)
        bench.group?.signIn = .signedOut
        let edit = try bench.answer(to: .missedFetched(["entries": []], delivered: []))
        #expect(edit.badge == nil)
        #expect(edit.isStripped && edit.isDiscarded)
    }
}
