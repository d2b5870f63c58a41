import MessageStore
import StoreModel

/// Search in the texts of an app's messages. What answers it may stand behind the store, as an index does that only SQLite has.
protocol MessageSearch: Sendable {
    func find(_ question: MessageQuestion) async throws(MessageSearchFault) -> FoundMessages

    /// How far it has come, for metrics.
    var progress: SearchProgress { get }

    /// Before the store is closed. Waits; every later question is refused.
    func close()
}

extension SearchIndex: MessageSearch {}
