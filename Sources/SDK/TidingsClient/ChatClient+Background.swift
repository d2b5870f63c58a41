public import ClientCore
public import Foundation
import TidingsAppGroup
import TidingsModel

/// Who was signed in last at some moment, in the format of `ClientFolders.signInNote`; nil for nobody.
package struct SignInNote: Hashable, Sendable { let text: String? }

// Work in the background: silent pushes, Background Fetch, BGAppRefreshTask, and actions of a notification.
extension ChatClient {
    struct PendingWake {
        var number: WakeNumber
        var work: BackgroundWork
        /// The background time left at `since`, in milliseconds; `since` is monotonic.
        var remaining: Int64?
        var since: Int64
        /// A reply belongs to the person who was signed in when the wake came, and to nobody else (design.md P7).
        var signIn: SignInNote
    }

    package var signInNote: SignInNote { SignInNote(text: self.folders.lastSignIn) }

    /// How long a wake waits for the app to sign in: an app that is launched for it connects at once.
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

    /// - Parameter signIn: as it was when the work was requested; nil takes the current one.
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
            if let engine { return self.startWake(wake, on: engine) }
            let clock = self.clock
            Task {
                await clock.sleep(untilMonotonic: since + Self.signInMilliseconds)
                self.failPendingWake(wake)
            }
        }
    }

    func beginPendingWakes(on engine: ClientEngine) {
        let wakes = self.state.withLock { state in
            state.hasRequested = true
            defer { state.pendingWakes = [] }
            return state.pendingWakes
        }
        for wake in wakes { self.startWake(wake, on: engine) }
    }

    private func startWake(_ wake: PendingWake, on engine: ClientEngine) {
        let note = self.folders.signInNote(engine.person, app: self.configuration.appKey)
        guard wake.work == .refresh || wake.signIn.text == nil || wake.signIn.text == note else {
            return self.failWake(wake)
        }
        let events = wake.work.events(
            replyID: ClientMessageID(UUID().uuidString.lowercased()),
            position: { id in try? engine.store.ask { try $0.position(of: id) } },
            newest: { conversation in try? engine.store.ask { try $0.newest(conversation) } })
        for event in events { engine.post(event) }
        let waited = self.clock.now.monotonic - wake.since
        engine.post(.wakeBegan(wake.number, remainingMilliseconds: wake.remaining.map { $0 - waited }))
    }

    private func failPendingWake(_ wake: PendingWake) {
        let isPending = self.state.withLock { state in
            let before = state.pendingWakes.count
            state.pendingWakes.removeAll { $0.number == wake.number }
            return state.pendingWakes.count < before
        }
        if isPending { self.failWake(wake) }
    }

    private func failWake(_ wake: PendingWake) {
        if case .reply(_, let conversation, _, _) = wake.work { self.report(.replyLost(conversation: conversation)) }
        self.finishWake(wake.number, .failed)
    }

    func finishWake(_ number: WakeNumber, _ result: BackgroundRefreshResult) {
        self.state.withLock { $0.wakes.removeValue(forKey: number) }?.resume(returning: result)
    }

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
