// The time that iOS lends an app in the background is given back (ios-delivery.md §7.1, §8): no app is killed for a background task
// or a completion handler that the SDK has kept, and none holds a task once nothing is left to do under it.
import PhoneCore

struct BackgroundTimeChecker: Checker {
    static let kinds = FactKinds(.appEnded, .measured)

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .appKilled(let reason, let key):
            switch reason {
            case .backgroundTaskNotEnded, .fetchHandlerNotCalled, .performFetchHandlerNotCalled,
                .refreshTaskNotCompleted, .completionHandlerCalledTwice:
                findings.add("background time", "the app of \(key) was killed: \(reason.rawValue)")
            case .forceQuit, .killedBySystem, .evicted, .restarted, .removed, .exited, .crashed, .methodDidNotReturn,
                .launchTooSlow, .extensionDone, .extensionLate, .extensionStartTooSlow, .extensionMemory,
                .noCallReported, .heldLockWhileSuspended, .updated, .restored:
                break
            }
        case .measured(let load):
            for phone in load.phones where phone.holdsTask {
                // Who has signed out, and whose sign-out the server knows of, has nobody who could end it.
                guard phone.client == nil || load.isQuiet && !phone.isWoken else { continue }
                findings.add("background time", "the app of \(phone.key) holds a background task for nothing")
            }
        default: break  // tidy: the other facts are other promises'
        }
    }
}
