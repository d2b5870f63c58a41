import StoreModel

/// What is read between two batches, on the writer's thread: it has to be short, and changes nothing.
struct StoreLook: Sendable {
    /// Hands out what it has read.
    var carryOut: @Sendable (StoreEngine) throws -> Void
    var refuse: @Sendable (_ reason: String) -> Void

    func carryOut(with engine: StoreEngine, path: String) {
        do {
            try self.carryOut(engine)
        } catch {
            engine.sql.resetAll()
            self.refuse(MessageStoreError(error, path: path).description)
        }
    }
}

extension MessageStore {
    /// - Parameter completion: called once, on the writer's thread: it must not take long.
    func look<Value: Sendable>(
        _ read: @escaping @Sendable (StoreEngine) throws -> Value,
        completion: @escaping @Sendable (Result<Value, MessageStoreError>) -> Void
    ) {
        let path = self.path
        self.enqueue(
            StoreLook(
                carryOut: { completion(.success(try read($0))) },
                refuse: { completion(.failure(MessageStoreError(reason: .failed, path: path, detail: $0))) }))
    }
}
