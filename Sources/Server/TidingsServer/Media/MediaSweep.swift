import Logging
import ServerCore
import StoreModel
import TidingsModel

/// Looks from time to time what becomes of media, and deletes what is over.
struct MediaSweep {
    let shelf: MediaShelf
    let store: @Sendable (StoreCommand) async -> StoreResult
    let logger: Logger
    let now: @Sendable () -> Int64

    func sweep() async {
        for record in self.shelf.due(at: self.now()) where !Task.isCancelled { await self.look(at: record) }
    }

    private func look(at record: MediaRecord) async {
        let limits = self.shelf.limits
        var fate = MediaRules.fate(of: record, uses: [], limits, at: self.now())
        if MediaRules.asksUses(record, limits, at: self.now()) {
            let result = await self.store(.readMediaUses(record.app, record.id, by: record.owner))
            // Without an answer nothing is deleted.
            guard case .mediaUses(let uses) = result else { return }
            fate = MediaRules.fate(of: record, uses: uses, limits, at: self.now())
        }
        switch fate {
        case .keep(let time): self.shelf.lookAgain(record.id, at: time)
        case .remove:
            do {
                try await self.shelf.remove(record.id, of: record.app, .expired) { $0 == record }
            } catch let fault as MediaFault where fault.code == .busy || fault.code == .unknown {
                // It has changed meanwhile: it is looked at again.
            } catch {
                self.logger.log(.warning, "media cannot be deleted", [.app: record.app.rawValue, .error: "\(error)"])
            }
        }
    }
}
