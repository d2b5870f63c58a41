import Foundation

/// `Mutex` of the standard library needs a newer iOS than the SDK does. `@unchecked Sendable`: `value` is only
/// touched while `lock` is held.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: sending Value) { self.value = value }

    /// `body` must be short and must not lock this again.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        self.lock.lock()
        defer { self.lock.unlock() }
        return try body(&self.value)
    }

    /// Replaces a part of the value and returns the old one.
    package func exchange<Part>(_ part: WritableKeyPath<Value, Part>, _ new: Part) -> Part {
        self.withLock { value in
            defer { value[keyPath: part] = new }
            return value[keyPath: part]
        }
    }
}
