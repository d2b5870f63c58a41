import Foundation

/// A value that several threads may change, one at a time. `Mutex` of the standard library needs a newer iOS than the SDK does.
///
/// `@unchecked Sendable`: `value` is only touched while `lock` is held.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    /// Guards a value.
    package init(_ value: sending Value) { self.value = value }

    /// Runs `body` alone; it must be short and must not come back here.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        self.lock.lock()
        defer { self.lock.unlock() }
        return try body(&self.value)
    }
}
