import Foundation
import TidingsAppGroup

/// The system's completion handler is called exactly once, on the main thread: the first value counts, and a
/// completion that is given up without a value is answered with the fallback.
final class Completion<Value: Sendable>: Sendable {
    /// `@unchecked Sendable`: made on the main actor and called there.
    private struct Handler: @unchecked Sendable {
        let call: (Value) -> Void
    }

    private let handler: Locked<Handler?>
    private let fallback: Value

    @MainActor init(fallback: Value, _ handler: @escaping (Value) -> Void) {
        self.handler = Locked(Handler(call: handler))
        self.fallback = fallback
    }

    @discardableResult @MainActor func callAsFunction(_ value: Value) -> Bool {
        guard let handler = self.removeHandler() else { return false }
        handler.call(value)
        return true
    }

    private func removeHandler() -> Handler? {
        self.handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
    }

    deinit {
        guard let handler = self.removeHandler() else { return }
        let fallback = self.fallback
        Task { @MainActor in handler.call(fallback) }
    }
}
