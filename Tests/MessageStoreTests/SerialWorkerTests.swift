import Foundation
import Synchronization
import Testing

@testable import MessageStore
@testable import StoreMachine

/// What has happened, in order, from any thread; and a gate at which a turn waits.
private final class WorkerTurns: Sendable {
    private let lines = Mutex<[String]>([])
    private let isDueNow = Mutex(false)
    let begun = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)

    var all: [String] { self.lines.withLock { $0 } }
    var isDue: Bool { self.isDueNow.withLock { $0 } }

    func add(_ line: String) { self.lines.withLock { $0.append(line) } }
    func setDue(_ isDue: Bool) { self.isDueNow.withLock { $0 = isDue } }

    /// Tells the test that the turn has begun, and waits until it may go on.
    func hold() {
        self.begun.signal()
        self.mayGoOn.wait()
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A serial worker` {
    private let turns = WorkerTurns()

    private func start(
        turn: @escaping @Sendable (SerialWorker<String>, [String]) -> Void
    ) -> SerialWorker<String> {
        let turns = self.turns
        let worker = SerialWorker<String>(pollMilliseconds: 1) { turns.add("refused \($0)") }
        worker.start(
            named: "tidings-test", isDue: { turns.isDue },
            turn: { work in
                turns.add(work.joined(separator: " "))
                turn(worker, work)
            }, end: { turns.add("end") })
        return worker
    }

    @Test func `carries out what waits, together and in order, and ends before it is closed`() {
        let turns = self.turns
        let worker = self.start { _, _ in turns.hold() }
        worker.enqueue("first")
        turns.begun.wait()
        worker.enqueue("a")
        worker.enqueue("b")
        turns.mayGoOn.signal()
        turns.begun.wait()
        turns.mayGoOn.signal()
        worker.close()
        #expect(turns.all == ["first", "a b", "end"])
        // Once more is nothing.
        worker.close()
    }

    @Test func `refuses what was not begun when it is closed, and whatever comes later`() {
        let turns = self.turns
        let worker = self.start { worker, _ in
            turns.begun.signal()
            while !worker.isStopping { sched_yield() }
            worker.putBack(["put back"])
        }
        worker.enqueue("first")
        turns.begun.wait()
        worker.enqueue("second")
        worker.close()
        worker.enqueue("third")
        #expect(turns.all == ["first", "end", "refused put back", "refused second", "refused third"])
    }

    @Test func `carries out first what a turn has put back`() {
        let turns = self.turns
        let worker = self.start { worker, work in
            if work == ["a", "b"] {
                worker.enqueue("c")
                worker.putBack(work.dropFirst())
            }
            turns.hold()
        }
        worker.enqueue("first")
        turns.begun.wait()
        worker.enqueue("a")
        worker.enqueue("b")
        for _ in 0..<2 {
            turns.mayGoOn.signal()
            turns.begun.wait()
        }
        turns.mayGoOn.signal()
        worker.close()
        #expect(turns.all == ["first", "a b", "b c", "end"])
    }

    @Test func `turns without work when something is due, and not before`() {
        let turns = self.turns
        let worker = self.start { _, _ in
            turns.setDue(false)
            turns.begun.signal()
        }
        worker.enqueue("work")
        turns.begun.wait()
        turns.setDue(true)
        turns.begun.wait()
        worker.close()
        #expect(turns.all == ["work", "", "end"])
    }

    @Test func `that was never started is closed at once`() {
        let turns = self.turns
        let worker = SerialWorker<String>(pollMilliseconds: 1) { turns.add("refused \($0)") }
        worker.close()
        worker.enqueue("late")
        #expect(turns.all == ["refused late"])
    }
}
