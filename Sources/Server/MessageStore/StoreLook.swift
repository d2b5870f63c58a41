import Foundation
import StoreMachine
import StoreModel

/// A reading between two batches, on the writer's thread: it must be short, and changes nothing.
struct StoreLook: Sendable {
    /// Hands out what it has read.
    var carryOut: @Sendable (StoreMachine) throws -> Void
    var refuse: @Sendable (_ reason: String) -> Void

    func carryOut(with engine: StoreMachine, path: String) {
        do {
            try self.carryOut(engine)
        } catch {
            self.refuse(MessageStoreError(error, path: path).description)
        }
    }
}

extension MessageStore {
    /// - Parameter completion: called once, on the writer's thread: it must not take long.
    func look<Value: Sendable>(
        _ read: @escaping @Sendable (StoreMachine) throws -> Value,
        completion: @escaping @Sendable (Result<Value, MessageStoreError>) -> Void
    ) {
        let path = self.path
        self.enqueue(
            StoreLook(
                carryOut: { completion(.success(try read($0))) },
                refuse: { completion(.failure(MessageStoreError(reason: .failed, path: path, detail: $0))) }))
    }
}

extension MessageStore {
    /// Waits for the store's thread, which takes its turn between two batches; not to be used on a thread that others wait for.
    func lookWaiting<Value: Sendable>(_ read: @escaping @Sendable (StoreMachine) throws -> Value) throws -> Value {
        let box = LookBox<Value>()
        self.look(read) { result in
            box.result = result
            box.done.signal()
        }
        box.done.wait()
        guard let result = box.result else {
            throw MessageStoreError(reason: .failed, path: self.path, detail: "the store did not answer")
        }
        return try result.get()
    }

    /// `@unchecked Sendable`: written before the semaphore is signalled, read after.
    private final class LookBox<Value: Sendable>: @unchecked Sendable {
        var result: Result<Value, MessageStoreError>?
        let done = DispatchSemaphore(value: 0)
    }
}
