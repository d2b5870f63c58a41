import ClientCore
import Testing
import TidingsModel

private func push(
    _ position: LogPosition = 20, badge: Int, isRecall: Bool = false, tag: String = "tag"
) -> JSONValue {
    let info = PushInfo(
        message: id(7), position: position, badgePosition: position, recipientTag: tag, isRecall: isRecall,
        text: isRecall ? nil : .init(title: "Bob", body: "secret"))
    return [
        "aps": ["alert": isRecall ? "A message was recalled" : "hi", "badge": .int(badge)],
        "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"], "tidings": info.dictionary,
    ]
}

private let recall = push(21, badge: 4, isRecall: true)

private struct AppGroup {
    var ledger = Ledger()
    var badge: Badge? = Badge(server: 2, position: 10)
    var signIn = ExtensionDecision.SignIn.signedIn(recipientTag: "tag")
    var isFilteringEntitled = false
    var showsContent = true

    private var facts: ExtensionDecision.Facts {
        .init(
            signIn: self.signIn, showsContent: self.showsContent, isFilteringEntitled: self.isFilteringEntitled)
    }

    mutating func decide(_ userInfo: JSONValue) throws -> ExtensionDecision.Changes {
        try #require(
            ExtensionDecision.changes(
                userInfo: userInfo, facts: self.facts, ledger: &self.ledger, badge: &self.badge, wall: 0))
    }

    func answer(_ changes: ExtensionDecision.Changes, to userInfo: JSONValue) -> ExtensionDecision.Changes {
        ExtensionDecision.answer(
            changes, userInfo: userInfo, facts: self.facts, ledger: self.ledger, badge: self.badge)
    }
}

/// What is answered in the place of a recalled message.
private func recall(badge: Int?, isDiscarded: Bool = false) -> ExtensionDecision.Changes {
    .init(
        badge: badge, isSilent: true, isDiscarded: isDiscarded, title: "", subtitle: "", body: "A message was recalled",
        removed: isDiscarded ? [id(7)] : [], reason: .recall)
}

@Suite struct `A push of a message that is recalled` {
    @Test func `while the extension is at work is answered as the recall, with its number`() throws {
        var group = AppGroup()
        let changes = try group.decide(push(badge: 5))
        #expect(changes.reason == .rings)
        #expect(group.answer(changes, to: push(badge: 5)) == changes)
        #expect(try group.decide(recall) == recall(badge: 4))
        #expect(group.answer(changes, to: push(badge: 5)) == recall(badge: 4))
    }

    @Test func `in the log of the app is answered as the recall, with the number the app has written`() throws {
        var group = AppGroup()
        let changes = try group.decide(push(badge: 5))
        group.ledger.markRecalled(id(7), by: .kit(process: 1), wall: 0)
        group.badge?.posted(unread: 1, position: 22)
        #expect(group.answer(changes, to: push(badge: 5)) == recall(badge: 1))
    }

    @Test func `and comes late brings nothing of it back, and no older number`() throws {
        var group = AppGroup()
        _ = try group.decide(recall)
        #expect(try group.decide(push(badge: 5)) == recall(badge: 4))
        // Also where the phone has heard of it in its log alone.
        var heard = AppGroup()
        heard.ledger.markRecalled(id(7), by: .kit(process: 1), wall: 0)
        #expect(try heard.decide(push(badge: 5)) == recall(badge: 5))
    }

    @Test func `is not shown at all where the extension may filter`() throws {
        var group = AppGroup()
        group.isFilteringEntitled = true
        let changes = try group.decide(push(badge: 5))
        _ = try group.decide(recall)
        var answer = recall(badge: 4, isDiscarded: true)
        answer.removed = []
        #expect(group.answer(changes, to: push(badge: 5)) == answer)
        #expect(try group.decide(push(badge: 5)) == recall(badge: 4, isDiscarded: true))
    }

    @Test func `is not posted with what APNs has overwritten, whoever has heard of it`() throws {
        let missed: JSONValue = [
            "position": 15, "message_id": .string(id(7).description), "sender": "bob", "rings": true,
            "text": ["title": "Bob", "body": "secret"],
            "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob"],
        ]
        let told: JSONValue = ["position": 16, "recall": .string(id(7).description)]
        func posts(_ entries: [JSONValue], _ ledger: inout Ledger) -> [MessageID] {
            MissedDecision.posts(
                ["entries": .array(entries)], MissedFetch(after: 10, before: 20), hidden: nil, pushRings: true,
                delivered: [], ledger: &ledger, wall: 0
            ).map(\.message.message)
        }
        var ledger = Ledger()
        ledger.markRecalled(id(7), by: .kit(process: 1), wall: 0)
        #expect(posts([missed], &ledger) == [])
        var other = Ledger()
        #expect(posts([missed, told], &other) == [])
        #expect(other[id(7)]?.isRecalled == true)
        var none = Ledger()
        #expect(posts([missed], &none) == [id(7)])
    }
}

@Suite struct `The answer of the extension` {
    @Test func `brings the newest number, though another push was decided on later`() throws {
        var group = AppGroup()
        let changes = try group.decide(push(badge: 5))
        group.badge?.pushed(absolute: 6, position: 21)
        group.badge?.pushedByAnother(isRecall: false)
        var newest = changes
        newest.badge = 7
        #expect(group.answer(changes, to: push(badge: 5)) == newest)
        let foreign: JSONValue = ["aps": ["alert": "sale"]]
        let other = try group.decide(foreign)
        #expect(other == .init(badge: 8, reason: .foreign))
        group.badge?.resigned(unread: 0, position: 30)
        #expect(group.answer(other, to: foreign) == .init(badge: 0, reason: .foreign))
        group.badge = nil
        #expect(group.answer(changes, to: push(badge: 5)) == changes)
    }

    @Test func `is stripped when the person has left, and left alone where nobody can be asked`() throws {
        var group = AppGroup()
        let changes = try group.decide(push(badge: 5))
        group.signIn = .signedOut
        let signedOut = group.answer(changes, to: push(badge: 5))
        #expect(
            signedOut == .init(isSilent: true, isStripped: true, body: "You have a notification", reason: .signedOut))
        group.signIn = .signedIn(recipientTag: "carol")
        #expect(group.answer(changes, to: push(badge: 5)).reason == .wrongRecipient)
        group.signIn = .unknown
        #expect(group.answer(changes, to: push(badge: 5)) == changes)
        // What was for nobody stays so.
        group.signIn = .signedIn(recipientTag: "tag")
        #expect(group.answer(signedOut, to: push(badge: 5)) == signedOut)
    }

    @Test func `says nothing that the person has hidden meanwhile`() throws {
        var group = AppGroup()
        var changes = try group.decide(push(badge: 5))
        changes.imageURL = "https://a/cat.jpg"
        #expect(changes.body == "secret")
        group.showsContent = false
        var hiding = changes
        (hiding.title, hiding.subtitle, hiding.body) = ("", "", .text(NotificationWords.english.hidden))
        (hiding.message, hiding.imageURL, hiding.communication) = (nil, nil, nil)
        #expect(group.answer(changes, to: push(badge: 5)) == hiding)
        // What was hidden when it was decided stays as it is: the push says nothing.
        var other = AppGroup()
        other.showsContent = false
        let hidden = try other.decide(push(badge: 5))
        #expect(other.answer(hidden, to: push(badge: 5)) == hidden)
    }
}

@Suite struct `A ledger of what was recalled` {
    @Test func `lets nobody claim it, and counts it as shown`() {
        for wasClaimed in [false, true] {
            var ledger = Ledger()
            if wasClaimed { _ = ledger.claim(id(7), by: .pushExtension, wall: 0) }
            ledger.markRecalled(id(7), by: .kit(process: 1), wall: 1)
            #expect(ledger[id(7)]?.isShown == true)
            #expect(ledger.claim(id(7), by: .pushExtension, isDelivered: false, wall: 90_000) == .recalled)
            #expect(ledger.claim(id(7), by: .kit(process: 2), isDelivered: true, wall: 90_000) == .recalled)
            ledger.markShown(id(7), by: .pushExtension, wall: 2)
            ledger.release(id(7), by: .pushExtension)
            ledger.recover(delivered: [], process: 3, wall: 90_000)
            #expect(ledger[id(7)]?.isRecalled == true)
        }
    }

    @Test func `has something to store the first time only`() {
        var ledger = Ledger()
        _ = ledger.drainChanges()
        ledger.markShown(id(7), by: .pushExtension, wall: 0)
        _ = ledger.drainChanges()
        ledger.markRecalled(id(7), by: .pushExtension, wall: 1)
        #expect(ledger.drainChanges().messages == [id(7)])
        ledger.markRecalled(id(7), by: .kit(process: 1), wall: 2)
        #expect(ledger.drainChanges().messages == [])
    }
}
