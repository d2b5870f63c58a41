import Foundation
import GRDB
package import Logging
import StoreMachine
package import StoreModel
import TidingsModel

package struct SearchIndexConfiguration: Sendable {
    /// How long after a text was taken back its words may still stand in the file. The store's time begins with the recall, this one when the
    /// index learns of it.
    package var eraseMilliseconds: Int64 = 30_000
    /// How long a search may take.
    package var searchMilliseconds: Int64 = 5_000
    var bounds = SearchPageBounds()
    var following = JournalFollowerConfiguration()

    package init() {}
}

/// An index of what messages say, in a file of its own that is derived behind the journal (docs/inside/decisions/0048-message-search.md).
/// It asks the store for what is new, a page at a time, writes it, and answers questions; nothing waits for it, and whatever happens to the
/// file, it is made anew from the journal. `@unchecked Sendable`: what changes belongs to the thread of `follower` alone.
package final class SearchIndex: @unchecked Sendable {
    enum Work {
        case find(MessageQuestion, @Sendable (Result<FoundMessages, MessageSearchFault>) -> Void)
        /// Looks at everything there is, and erases what is to be erased; answers whether it could.
        case settle(@Sendable (Bool) -> Void)
    }

    private let configuration: SearchIndexConfiguration
    private let follower: JournalFollower<SearchFile, Work>

    /// Opens the file on its own thread; whatever is wrong with it is logged.
    package init(
        path: String, of store: MessageStore, configuration: SearchIndexConfiguration = SearchIndexConfiguration(),
        logger: Logger
    ) {
        self.configuration = configuration
        self.follower = JournalFollower(
            "the search index", path, of: store, from: .start, configuration.following, logger, refuse: Self.refuse)
        self.follower.start("tidings-search", isDue: { self.isEraseDue }, turn: { try self.carryOut(&$0) })
    }

    /// Waits until the file is closed.
    package func close() { self.follower.close() }

    package var progress: SearchProgress {
        let (file, behind) = self.follower.progress
        var progress = file ?? SearchProgress()
        progress.behind = behind
        return progress
    }

    package func find(_ question: MessageQuestion) async throws(MessageSearchFault) -> FoundMessages {
        let result = await withCheckedContinuation { continuation in
            self.follower.enqueue(.find(question) { continuation.resume(returning: $0) })
        }
        return try result.get()
    }

    /// For tests.
    func settle() async -> Bool {
        await withCheckedContinuation { continuation in
            self.follower.enqueue(.settle { continuation.resume(returning: $0) })
        }
    }

    private static func refuse(_ work: Work) {
        switch work {
        case .find(_, let completion): completion(.failure(.unavailable))
        case .settle(let completion): completion(false)
        }
    }
}

// MARK: - The thread

extension SearchIndex {
    private var isEraseDue: Bool {
        guard let since = self.follower.file?.erasableSince else { return false }
        return TimeInterval.uptime >= since + .milliseconds(self.configuration.eraseMilliseconds)
    }

    private func carryOut(_ work: inout ArraySlice<Work>) throws {
        let settles = work.contains { if case .settle = $0 { true } else { false } }
        try self.follower.catchUp(for: settles ? .infinity : nil) { try self.readPage() }
        if settles || self.isEraseDue { try self.follower.file?.erase() }
        while let item = work.first {
            switch item {
            case .find(let question, let completion): completion(try self.answer(question))
            case .settle(let completion): completion(!self.follower.isBehind)
            }
            work = work.dropFirst()
        }
    }

    private func readPage() throws -> JournalPlace? {
        let file = try self.follower.openFile()
        let (place, bounds) = (self.follower.reader.place, self.configuration.bounds)
        switch try self.follower.store.lookWaiting({ try $0.searchPage(after: place, bounds) }) {
        case .anotherStore: return nil
        case .changes(let changes, let next):
            try file.apply(changes, place: next)
            return next
        }
    }
}

// MARK: - Answering

extension SearchIndex {
    private func answer(_ question: MessageQuestion) throws -> Result<FoundMessages, MessageSearchFault> {
        let file = try self.follower.openFile()
        guard let query = SearchTags.query(question) else { return .failure(.noWords) }
        var before = JournalPosition.max
        if let id = question.before {
            let accepted = try self.follower.store.lookWaiting { try $0.accepted(id, in: question.app)?.record }
            guard let accepted else { return .failure(.unknownMessage) }
            before = accepted
        }
        var found: [Message] = []
        let deadline = SearchDeadline(seconds: .milliseconds(self.configuration.searchMilliseconds))
        do {
            while found.count <= question.limit {
                let wanted = question.limit + 1 - found.count
                let records = try file.records(query, before: before, question, limit: wanted, deadline: deadline)
                guard let last = records.last else { break }
                // Read again from the store, which is never behind.
                found += try self.follower.store.lookWaiting { try $0.foundMessages(at: records, question) }
                before = last
                guard records.count == wanted else { break }
                if deadline.isOver { return .failure(.tooSlow) }
            }
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_INTERRUPT {
            return .failure(.tooSlow)
        }
        return .success(
            FoundMessages(
                messages: Array(found.prefix(question.limit)), hasMore: found.count > question.limit,
                indexedUntil: file.newest, isBehind: self.follower.isBehind))
    }
}
