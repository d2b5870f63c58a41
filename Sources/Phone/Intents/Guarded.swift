import Synchronization

/// A property that any thread may read and write, each access under its own lock.
@propertyWrapper public final class Guarded<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    /// A property that begins with the value.
    public init(wrappedValue: Value) { self.value = Mutex(wrappedValue) }

    /// The value as it is now.
    public var wrappedValue: Value {
        get { self.value.withLock { $0 } }
        set { self.value.withLock { $0 = newValue } }
    }
}
