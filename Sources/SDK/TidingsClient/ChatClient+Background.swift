public import ClientCore
public import Foundation
import TidingsAppGroup
import TidingsModel

/// Who was signed in last at some moment, as the folders note it.
package struct SignInNote: Hashable, Sendable {
    /// Nil for nobody.
    let text: String?
}

// Work in the background: silent pushes, Background Fetch, BGAppRefreshTask, and actions of a notification.
extension ChatClient {
    struct PendingWake {
        var number: WakeNumber
        var work: BackgroundWork
        /// What the system said is left, in milliseconds, and when it said so, in monotonic milliseconds.
        var remaining: Int64?
        var since: Int64
        /// Who was signed in last when it came: an answer is theirs and nobody else's (DESIGN P7).
        var signIn: SignInNote
    }

    /// Who was signed in last.
    package var signInNote: SignInNote { SignInNote(text: self.folders.lastSignIn) }

    /// How long a wake waits for the app to sign in, in milliseconds: an app that is launched for it connects at once.
    package static let signInMilliseconds: Int64 = 10_000

    /// Catches up with the server: connects if the app is in the background without a connection, stores what is new,
    /// sends what waits, and hangs up again. For Background Fetch and `BGAppRefreshTask` (S4.13); the kit calls it for silent
    /// pushes. Answers within 30 seconds, whatever happens (ios-delivery.md §7.1).
    ///
    /// - Parameter remaining: the background time left in seconds; nil if the system does not say.
    /// - Returns: `failed` if the server could not be asked in time, or nobody signed in.
    public func performBackgroundRefresh(remaining: TimeInterval? = nil) async -> BackgroundRefreshResult {
        await self.perform(.refresh, remaining: remaining)
    }

    /// Does some work under a wake of its own and answers when it is done, or cannot be.
    ///
    /// - Parameter signIn: as it was when the work was asked for; nil takes it as it is.
    package func perform(
        _ work: BackgroundWork, remaining: TimeInterval?, signIn: SignInNote? = nil
    ) async -> BackgroundRefreshResult {
        let since = self.clock.now.monotonic
        let signIn = signIn ?? self.signInNote
        return await withCheckedContinuation { continuation in
            let (wake, engine) = self.state.withLock { state -> (PendingWake, ClientEngine?) in
                state.lastWake += 1
                let wake = PendingWake(
                    number: state.lastWake, work: work, remaining: remaining?.wholeMilliseconds, since: since,
                    signIn: signIn)
                state.wakes[wake.number] = continuation
                if let engine = state.engine, state.hasRequested { return (wake, engine) }
                state.pendingWakes.append(wake)
                return (wake, nil)
            }
            if let engine { return self.beginOrLose(wake, on: engine) }
            let clock = self.clock
            Task {
                await clock.sleep(untilMonotonic: since + Self.signInMilliseconds)
                self.giveUp(wake)
            }
        }
    }

    /// Hands the wakes that came before the sign-in to the engine.
    func beginPendingWakes(on engine: ClientEngine) {
        let wakes = self.state.withLock { state in
            state.hasRequested = true
            defer { state.pendingWakes = [] }
            return state.pendingWakes
        }
        for wake in wakes { self.beginOrLose(wake, on: engine) }
    }

    /// An answer is sent by the person who gave it, and by nobody else.
    private func beginOrLose(_ wake: PendingWake, on engine: ClientEngine) {
        let note = self.folders.signInNote(engine.person, app: self.configuration.appKey)
        if wake.work == .refresh || wake.signIn.text == nil || wake.signIn.text == note {
            self.begin(wake, on: engine)
        } else {
            self.lose(wake)
        }
    }

    private func begin(_ wake: PendingWake, on engine: ClientEngine) {
        let events = wake.work.events(
            replyID: ClientMessageID(UUID().uuidString.lowercased()), position: { try? engine.store.position(of: $0) },
            newest: { try? engine.store.newest($0) })
        for event in events { engine.post(event) }
        let waited = self.clock.now.monotonic - wake.since
        engine.post(.wakeBegan(wake.number, remainingMilliseconds: wake.remaining.map { $0 - waited }))
    }

    private func giveUp(_ wake: PendingWake) {
        let isPending = self.state.withLock { state in
            let before = state.pendingWakes.count
            state.pendingWakes.removeAll { $0.number == wake.number }
            return state.pendingWakes.count < before
        }
        if isPending { self.lose(wake) }
    }

    private func lose(_ wake: PendingWake) {
        if case .reply(_, let conversation, _, _) = wake.work { self.report(.replyLost(conversation: conversation)) }
        self.finishWake(wake.number, .failed)
    }

    /// Answers a wake; the first answer counts.
    func finishWake(_ number: WakeNumber, _ result: BackgroundRefreshResult) {
        self.state.withLock { $0.wakes.removeValue(forKey: number) }?.resume(returning: result)
    }

    /// The engine is gone, and with it whoever could answer.
    func failWakes() {
        let wakes = self.state.withLock { state in
            let pending = Set(state.pendingWakes.map(\.number))
            let lost = state.wakes.filter { !pending.contains($0.key) }
            for number in lost.keys { state.wakes.removeValue(forKey: number) }
            return lost
        }
        for continuation in wakes.values { continuation.resume(returning: .failed) }
    }
}
