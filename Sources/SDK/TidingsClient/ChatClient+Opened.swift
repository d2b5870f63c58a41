import ClientCore
package import TidingsModel

// Receipts for opened notifications (design.md §5), also for a tap that launched the app.
extension ChatClient {
    /// A tap that came before the sign-in. It belongs to the person who was signed in last when it came (design.md P7).
    struct PendingOpened {
        var message: MessageID
        var signIn: String?
    }

    /// Tells the server, once per message, that the person opened its notification on this device. Not stored beyond
    /// the process: a receipt is a figure, nothing waits for it.
    package func noteOpened(_ message: MessageID) {
        let signIn = self.folders.lastSignIn
        let engine = self.state.withLock { state -> ClientEngine? in
            if let engine = state.engine { return engine }
            state.pendingOpened.append(PendingOpened(message: message, signIn: signIn))
            if state.pendingOpened.count > OpenedReceipts.capacity { state.pendingOpened.removeFirst() }
            return nil
        }
        engine?.post(.notificationOpened(message))
    }

    func postPendingOpened(to engine: ClientEngine) {
        let pending = self.state.exchange(\.pendingOpened, [])
        guard !pending.isEmpty else { return }
        let note = self.folders.signInNote(engine.person, app: self.configuration.appKey)
        for tap in pending where tap.signIn == nil || tap.signIn == note {
            engine.post(.notificationOpened(tap.message))
        }
    }
}
