import ClientCore
import Testing
import TidingsModel

private func push(
    _ number: UInt64 = 7, badge: Int? = 5, bseq: LogPosition = 20, tag: String = "tag", isRecall: Bool = false
) -> JSONValue {
    let info = PushInfo(
        message: id(number), position: 20, badgePosition: bseq, recipientTag: tag, isRecall: isRecall)
    var aps: [(String, JSONValue)] = [("alert", "hi"), ("sound", "default")]
    if let badge { aps.append(("badge", .int(badge))) }
    return .members([("aps", .members(aps)), (PushInfo.key, info.dictionary)])
}

private let foreign: JSONValue = ["aps": ["alert": "sale"]]
private let foreignRecall: JSONValue = ["aps": ["alert": "x"], "message": ["params": ["corner_mark_decrease": true]]]

private struct AppGroup {
    var ledger = Ledger()
    var badge: Badge? = Badge(server: 2, position: 10)
    var signIn = ExtensionDecision.SignIn.signedIn(recipientTag: "tag")

    mutating func decide(
        _ userInfo: JSONValue, isDelivered: Bool? = nil, wall: Int64 = 0
    ) -> ExtensionDecision.Changes? {
        ExtensionDecision.changes(
            userInfo: userInfo, signIn: self.signIn, ledger: &self.ledger, badge: &self.badge,
            isDelivered: isDelivered, wall: wall)
    }
}

@Suite struct `A push in the notification service extension` {
    @Test func `rings once: the second of two is silent, with the same badge`() {
        var group = AppGroup()
        #expect(group.decide(push()) == .init(badge: 5, reason: .rings))
        #expect(group.decide(push()) == .init(badge: 5, isSilent: true, reason: .alreadyShown))
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

    @Test func `changes no badge where none is stored`() {
        var group = AppGroup()
        group.badge = nil
        #expect(group.decide(push())?.badge == nil)
        #expect(group.decide(foreign)?.badge == nil)
        #expect(group.badge == nil)
    }

    @Test func `of another sender counts one more, or one less for a recall`() {
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

    @Test func `that withdraws a message is silent and changes the text`() {
        var group = AppGroup()
        #expect(
            group.decide(push(badge: 1, isRecall: true))
                == .init(badge: 1, isSilent: true, body: "A message was withdrawn", reason: .recall))
    }

    @Test func `is not shown at all where the extension may filter and nothing is to ring`() {
        var group = AppGroup()
        func discarded(_ userInfo: JSONValue) -> [Bool] {
            // A captured value may be changed in one place at a time.
            var (ledger, badge) = (group.ledger, group.badge)
            let changes = ExtensionDecision.changes(
                userInfo: userInfo, signIn: group.signIn, ledger: &ledger, badge: &badge, isDelivered: nil,
                isFilteringEntitled: true, wall: 0)
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
            userInfo: push(), signIn: .signedIn(recipientTag: "tag"), ledger: &ledger, badge: &badge, isDelivered: nil,
            isFilteringEntitled: true, wall: 1)
        #expect(changes?.isSilent == true)
        #expect(changes?.isDiscarded == false)
    }

    @Test func `is a recall only by a Boolean at its place`() {
        #expect(CornerMarkDecrease.isSet(in: foreignRecall))
        #expect(!CornerMarkDecrease.isSet(in: ["message": ["params": ["corner_mark_decrease": 1]]]))
        #expect(!CornerMarkDecrease.isSet(in: ["message": ["corner_mark_decrease": true]]))
        #expect(!CornerMarkDecrease.isSet(in: ["message": "x"]))
    }
}
