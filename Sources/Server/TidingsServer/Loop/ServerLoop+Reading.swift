import Metrics
import NIOCore
import ServerCore
import StoreModel

extension ServerLoop {
    /// Reads from the store what the core adds nothing to. It shows everything of which a caller was told that it is done. From any thread.
    func read(_ command: StoreCommand) async -> StoreResult {
        let started = NIODeadline.now()
        let result = await self.store.carryOut(command)
        self.metrics.storeBatch.record(1)
        self.metrics.storeTime.recordNanoseconds((NIODeadline.now() - started).nanoseconds)
        switch result {
        case .failed: self.metrics.storeFailures.increment()
        case .unreadable: self.metrics.storeUnreadable.increment()
        default: return result  // tidy: the others are the caller's alone
        }
        self.eventLoop.execute { if !self.isStopped { self.receive(.storeFault(result)) } }
        return .refused(ServerCore.unavailable)
    }
}
