import Synchronization
import TidingsClient
package import TidingsModel

/// A clock that moves only when the test says so.
package final class ForwardingClock: ClientClock {
    private struct State {
        var now: Int64 = 0
        var sleepers: [UInt64: (deadline: Int64, resume: CheckedContinuation<Void, Never>)] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())
    private let wall: Int64

    /// - Parameter wall: what its calendar clock shows first, in milliseconds since 1970.
    package init(wall: Int64 = 1_800_000_000_000) { self.wall = wall }

    package var now: Now {
        let now = self.state.withLock { $0.now }
        return Now(monotonic: now, wall: self.wall + now)
    }

    package func sleep(untilMonotonic deadline: Int64) async {
        let number = self.state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = self.state.withLock { state in
                    if state.now >= deadline || Task.isCancelled { return true }
                    state.sleepers[number] = (deadline, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.sleepers.removeValue(forKey: number) }?.resume.resume()
        }
    }

    /// Moves the clock by milliseconds and wakes who waited for it, in the order of their deadlines.
    package func advance(by milliseconds: Int64) {
        let woken = self.state.withLock { state in
            state.now += milliseconds
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers.removeValue(forKey: number) }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value.resume)
        }
        for continuation in woken { continuation.resume() }
    }
}
