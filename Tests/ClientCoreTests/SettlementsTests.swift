import ClientCore
import Testing
import TidingsModel

@Suite struct `Entries that are not settled yet` {
    @Test func `are held as one run, however long the log is that was caught up on in the background`() {
        var settlements = Settlements(settled: 0, stored: 0)
        for position in stride(from: LogPosition(1), through: 598, by: 3) {
            settlements.append(position, .left)
            settlements.append(position + 1, .neutral)
            settlements.append(position + 2, .settled(.suppressed(.ownMessage)))
        }
        #expect(settlements.openCount == 1)
        #expect(settlements.drainReport(pingsSent: 0).isEmpty)
        settlements.decideAll(.shown)
        #expect(settlements.drainReport(pingsSent: 0) == [.init(upTo: 600, disposition: .shown)])
        #expect(settlements.settled == 600)
    }

    @Test func `are one run when an earlier process has stored them`() {
        var settlements = Settlements(settled: 3, stored: 1_000)
        #expect(settlements.openCount == 1)
        settlements.append(1_001, .left)
        #expect(settlements.openCount == 1)
        settlements.decideAll(.shown)
        #expect(settlements.drainReport(pingsSent: 0) == [.init(upTo: 1_001, disposition: .shown)])
    }

    @Test func `keep what is told of each`() {
        var settlements = Settlements(settled: 0, stored: 0)
        settlements.append(1, .settled(.suppressed(.level)))
        settlements.append(2, .neutral)
        settlements.append(3, .undecided)
        settlements.append(4, .undecided)
        settlements.append(5, .neutral)
        settlements.append(6, .left)
        settlements.append(7, .settled(.suppressed(.level)))
        #expect(settlements.openCount == 6)
        #expect(settlements.drainReport(pingsSent: 0) == [.init(upTo: 2, disposition: .suppressed(.level))])
        settlements.decide(4, .appHandled)
        #expect(settlements.drainReport(pingsSent: 0).isEmpty)
        settlements.decide(3, .shown)
        let decided: [ClientFrame.Settlement] = [
            .init(upTo: 3, disposition: .shown), .init(upTo: 5, disposition: .appHandled),
        ]
        #expect(settlements.drainReport(pingsSent: 0) == decided)
        settlements.decide(6, .appHandled)
        #expect(settlements.drainReport(pingsSent: 0).isEmpty)
        settlements.decideAll(.shown)
        let left: [ClientFrame.Settlement] = [
            .init(upTo: 6, disposition: .shown), .init(upTo: 7, disposition: .suppressed(.level)),
        ]
        #expect(settlements.drainReport(pingsSent: 0) == left)
    }
}
