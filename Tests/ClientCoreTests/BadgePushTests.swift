import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `A silent push about the number on the icon` {
    private func verdict(
        _ push: BadgeInfo, _ badge: inout Badge?, isActive: Bool = false, managesBadge: Bool = true
    ) -> BadgePush.Verdict {
        let facts = BadgePush.Facts(isActive: isActive, managesBadge: managesBadge)
        return BadgePush.verdict(push, facts, badge: &badge)
    }

    private func push(_ number: Int, at position: LogPosition) -> BadgeInfo {
        BadgeInfo(badge: number, badgePosition: position, recipientTag: "tag")
    }

    @Test func `lowers it, and keeps other senders' share`() {
        var badge: Badge? = Badge(server: 3, foreign: 2, position: 7)
        #expect(self.verdict(self.push(1, at: 8), &badge) == .shows(3))
        #expect(badge == Badge(server: 1, foreign: 2, position: 8))
    }

    @Test func `takes away what other senders took, where nothing is left to take from`() {
        var badge: Badge? = Badge(server: 3, foreign: -2, position: 7)
        #expect(self.verdict(self.push(0, at: 8), &badge) == .shows(0))
        #expect(badge == Badge(server: 0, foreign: 0, position: 8))
    }

    @Test(arguments: [LogPosition(0), 6, 7])
    func `changes nothing if it was counted before what the phone has`(position: LogPosition) {
        let before = Badge(server: 3, position: 7)
        var badge: Badge? = before
        #expect(self.verdict(self.push(1, at: position), &badge) == .stays)
        #expect(badge == before)
    }

    @Test func `changes nothing where no number is stored`() {
        var badge: Badge?
        #expect(self.verdict(self.push(1, at: 8), &badge) == .stays)
        #expect(badge == nil)
    }

    @Test func `leaves an app alone that is active, or keeps its number itself`() {
        let before = Badge(server: 3, position: 7)
        var badge: Badge? = before
        #expect(self.verdict(self.push(1, at: 8), &badge, isActive: true) == .stays)
        #expect(self.verdict(self.push(1, at: 8), &badge, managesBadge: false) == .stays)
        #expect(badge == before)
    }
}
