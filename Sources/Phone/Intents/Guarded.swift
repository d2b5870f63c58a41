import Synchronization

/// A property that any thread may read and write, each access under its own lock.
@propertyWrapper final class Guarded<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(wrappedValue: Value) { self.value = Mutex(wrappedValue) }

    var wrappedValue: Value {
        get { self.value.withLock { $0 } }
        set { self.value.withLock { $0 = newValue } }
    }
}
