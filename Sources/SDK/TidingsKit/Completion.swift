import Foundation
import TidingsAppGroup

/// A completion handler of the system, called exactly once, on the main thread: the first value counts, and one that is given
/// up without a value is answered with the fallback.
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

    /// Returns whether this value was the first.
    @discardableResult @MainActor func callAsFunction(_ value: Value) -> Bool {
        guard let handler = self.take() else { return false }
        handler.call(value)
        return true
    }

    private func take() -> Handler? {
        self.handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
    }

    deinit {
        guard let handler = self.take() else { return }
        let fallback = self.fallback
        Task { @MainActor in handler.call(fallback) }
    }
}
