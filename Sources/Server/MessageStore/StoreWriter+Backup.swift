import GRDB
import GRDBSQLite

// Backups of a running store. All of it on the writer's thread.
extension StoreWriter {
    /// One at a time.
    func beginBackup(
        _ path: String, _ database: Database,
        _ completion: @escaping @Sendable (Result<Void, MessageStoreError>) -> Void
    ) {
        guard self.backup == nil else {
            let busy = MessageStoreError(reason: .inUse, path: path, detail: "another backup is being made")
            return completion(.failure(busy))
        }
        do throws(MessageStoreError) {
            self.backup = (try StoreBackup(of: database, to: path), completion)
        } catch {
            completion(.failure(error))
        }
    }

    func stepBackup() {
        guard let backup = self.backup else { return }
        do throws(MessageStoreError) {
            if try backup.copy.step() { self.endBackup(.success(())) }
        } catch {
            self.endBackup(.failure(error))
        }
    }

    func endBackup(_ result: Result<Void, MessageStoreError>) {
        guard let backup = self.backup else { return }
        self.backup = nil
        if case .failure = result { backup.copy.abandon(SQLITE_ABORT) }
        backup.completion(result)
    }
}
