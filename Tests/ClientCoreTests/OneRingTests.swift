import ClientCore
import Testing
import TidingsModel

@Suite struct `A push that comes again` {
    private let push: JSONValue = .members([
        ("aps", ["alert": "hi", "sound": "default"]),
        (
            PushInfo.key,
            PushInfo(message: id(7), position: 20, badgePosition: 20, recipientTag: "tag").dictionary
        ),
    ])

    private func decide(_ ledger: inout Ledger, wall: Int64) -> ExtensionDecision.Changes? {
        var badge: Badge?
        return ExtensionDecision.changes(
            userInfo: self.push, facts: .init(signIn: .signedIn(recipientTag: "tag")), ledger: &ledger, badge: &badge,
            wall: wall)
    }

    @Test func `is silent for what it has shown a minute ago, without a look at the delivered list`() {
        var ledger = Ledger()
        #expect(self.decide(&ledger, wall: 0)?.reason == .rings)
        #expect(ledger[id(7)]?.isShown == true)
        let again = self.decide(&ledger, wall: 60_000)
        #expect(again?.reason == .alreadyShown)
        #expect(again?.isSilent == true)
    }
}

@Suite struct `A push of a message that the app has claimed` {
    private func push(isRecall: Bool = false) -> JSONValue {
        let info = PushInfo(message: id(7), position: 20, badgePosition: 20, recipientTag: "tag", isRecall: isRecall)
        return .members([("aps", ["alert": "hi"]), (PushInfo.key, info.dictionary)])
    }

    private func wait(_ push: JSONValue, _ ledger: Ledger, signIn: ExtensionDecision.SignIn? = nil, wall: Int64)
        -> Int64?
    {
        ExtensionDecision.wait(
            userInfo: push, signIn: signIn ?? .signedIn(recipientTag: "tag"), ledger: ledger, wall: wall)
    }

    @Test func `waits as long as the claim counts, and for nothing else`() {
        var ledger = Ledger()
        #expect(self.wait(self.push(), ledger, wall: 0) == nil)
        _ = ledger.claim(id(7), by: .kit(process: 1), wall: 1_000)
        #expect(
            [1_000, 1_001, 5_999, 6_000, 999].map { self.wait(self.push(), ledger, wall: $0) } == [
                5_000, 4_999, 1, nil, nil,
            ])
        #expect(self.wait(self.push(isRecall: true), ledger, wall: 1_000) == nil)
        #expect(self.wait(self.push(), ledger, signIn: .signedIn(recipientTag: "another"), wall: 1_000) == nil)
        #expect(self.wait(self.push(), ledger, signIn: .unknown, wall: 1_000) == nil)
        ledger.markShown(id(7), by: .kit(process: 1), wall: 1_100)
        #expect(self.wait(self.push(), ledger, wall: 1_200) == nil)
        var other = Ledger()
        _ = other.claim(id(7), by: .pushExtension, wall: 1_000)
        #expect(self.wait(self.push(), other, wall: 1_000) == nil)
    }
}

@Suite struct `A push of a message that was recalled` {
    private func push(isRecall: Bool) -> JSONValue {
        let info = PushInfo(
            message: id(7), position: 20, badgePosition: 20, recipientTag: "tag", isRecall: isRecall)
        return .members([("aps", ["alert": "hi"]), (PushInfo.key, info.dictionary)])
    }

    @Test func `is marked shown by the recall, whoever held the claim`() {
        var claimed = Ledger()
        _ = claimed.claim(id(7), by: .kit(process: 1), wall: 0)
        for var ledger in [Ledger(), claimed] {
            var badge: Badge?
            let changes = ExtensionDecision.changes(
                userInfo: self.push(isRecall: true), facts: .init(signIn: .signedIn(recipientTag: "tag")),
                ledger: &ledger, badge: &badge, wall: 0)
            #expect(changes?.reason == .recall)
            #expect(ledger[id(7)]?.isShown == true)
        }
    }

    @Test func `is silent when it comes after the recall`() {
        var ledger = Ledger()
        var badge: Badge?
        let changes = [true, false].map { isRecall in
            ExtensionDecision.changes(
                userInfo: self.push(isRecall: isRecall), facts: .init(signIn: .signedIn(recipientTag: "tag")),
                ledger: &ledger, badge: &badge, wall: 0)
        }
        #expect(changes.map { $0?.reason } == [.recall, .recall])
        #expect(changes.map { $0?.isSilent } == [true, true])
    }
}

@Suite struct `A push behind a gap` {
    @Test func `fetches nothing where it cannot ask the server`() {
        let push: JSONValue = .members([
            ("aps", ["alert": "hi"]),
            (PushInfo.key, PushInfo(message: id(7), position: 20, badgePosition: 20, recipientTag: "tag").dictionary),
        ])
        for (canFetch, fetch) in [(true, MissedFetch(after: 10, before: 20)), (false, nil)] {
            var ledger = Ledger()
            var badge: Badge?
            let changes = ExtensionDecision.changes(
                userInfo: push, facts: .init(signIn: .signedIn(recipientTag: "tag"), position: 10, canFetch: canFetch),
                ledger: &ledger, badge: &badge, wall: 0)
            #expect(changes?.reason == .rings)
            #expect(changes?.fetch == fetch)
        }
    }
}

@Suite struct `What stands in the place of a recalled message` {
    @Test(arguments: [(9, false), (14, false), (15, true), (17, true)])
    func `is nothing before iOS 15, where it would show a banner again`(major: Int, isReplaced: Bool) throws {
        let recall = Recall(id: id(9_999), message: id(101), conversation: withBob, sender: bob, at: 9)
        let replacement = try #require(
            Gate.replacement(
                recall, person: alice, runState: .backgroundActive, kit: KitSettings(), level: .all, unread: 0,
                position: 2))
        #expect(NotificationClearing.inPlace(replacement, major: major) == (isReplaced ? replacement : nil))
        #expect(NotificationClearing.inPlace(nil, major: major) == nil)
    }
}

@Suite struct `An extension that may filter` {
    @Test(arguments: [
        ("12.4", false), ("13", false), ("13.2", false), ("13.3", true), ("13.7", true), ("14", true), ("17.0", true),
        ("x", false), ("", false), (nil, false),
    ])
    func `does so from iOS 13.3, with the entitlement`(version: String?, mayFilter: Bool) {
        #expect(ExtensionDecision.mayFilter(isEntitled: true, version: version) == mayFilter)
        #expect(!ExtensionDecision.mayFilter(isEntitled: false, version: version))
    }
}

@Suite struct `A message the person recalls on another device` {
    @Test func `has its notification only taken out where the person withdrew it`() {
        var core = ClientCore.inBackground()
        let recall = Recall(id: id(9_999), message: id(101), conversation: withBob, sender: alice, at: 9)
        let effects = core.hear(LogEntry(position: 1, body: .recall(recall)), unread: 0, at: at(12))
        #expect(effects.contains(.recallNotification(id(101), replacement: nil)))
    }
}
