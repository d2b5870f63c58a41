import Foundation
import GRDB
package import Logging
package import StoreModel
import Synchronization
import TidingsModel

package struct SearchIndexConfiguration: Sendable {
    /// How long after a text was taken back its words may still stand in the file. The store's time begins with the recall, this one when the
    /// index learns of it.
    package var eraseMilliseconds: Int64 = 30_000
    /// How often the index looks whether the journal has grown.
    package var pollMilliseconds: Int64 = 200
    /// How long a question waits for what the index still lacks.
    package var catchUpMilliseconds: Int64 = 250
    /// How long a search may take.
    package var searchMilliseconds: Int64 = 5_000
    /// How long nothing is tried after a failure, for example of a full disk.
    package var retryMilliseconds: Int64 = 5_000
    var bounds = SearchPageBounds()
    /// Nil for as large as the disk.
    var pagesMax: Int?
    /// For tests of crashes: asked before each page, with its number from 1; after a false no more is read.
    var mayRead: @Sendable (Int) -> Bool = { _ in true }

    package init() {}
}

/// An index of what messages say, in a file of its own that is derived behind the journal (docs/decisions/0048-message-search.md). A thread
/// of its own asks the store for what is new, a page at a time, writes it, and answers questions; nothing waits for it, and whatever happens
/// to the file, it is made anew from the journal. `@unchecked Sendable`: `told` guards itself, as `worker` does; everything else that
/// changes belongs to the worker's thread alone.
package final class SearchIndex: @unchecked Sendable {
    enum Work {
        case find(MessageQuestion, @Sendable (Result<FoundMessages, MessageSearchFault>) -> Void)
        /// Looks at everything there is, and erases what is to be erased; answers whether it could.
        case settle(@Sendable (Bool) -> Void)
    }

    private struct Told {
        var progress = SearchProgress()
        /// The last record that was looked at.
        var position: JournalPosition = 0
    }

    package let path: String
    let store: MessageStore
    let configuration: SearchIndexConfiguration
    private let logger: Logger
    private let worker: SerialWorker<Work>
    private let told = Mutex(Told())

    private var file: SearchFile?
    private var eraseAt: TimeInterval?
    private var retryAt: TimeInterval = 0
    private var lastFailure = ""
    private var pages = 0
    /// The file is known to be of this store.
    private var isCompared = false
    /// A test's crash.
    private var isFrozen = false
    /// Why the file that is not there yet is made is logged.
    private var hasGivenReason = false

    /// Opens the file on its own thread; whatever is wrong with it is logged.
    package init(
        path: String, of store: MessageStore, configuration: SearchIndexConfiguration = SearchIndexConfiguration(),
        logger: Logger
    ) {
        self.path = path
        self.store = store
        self.configuration = configuration
        self.logger = logger
        self.worker = SerialWorker(pollMilliseconds: configuration.pollMilliseconds) { Self.refuse($0) }
        self.worker.start(
            named: "tidings-search", isDue: { self.isDue },
            turn: { work in
                self.turn(work)
                self.publish()
            }, end: { self.closeFile() })
    }

    /// Waits until the file is closed.
    package func close() { self.worker.close() }

    package var progress: SearchProgress {
        let told = self.told.withLock { $0 }
        var progress = told.progress
        // Of now: the store goes on also where the index stands still.
        let last = self.store.lastRecord
        progress.behind = Int(clamping: last - min(last, told.position))
        return progress
    }

    package func find(_ question: MessageQuestion) async throws(MessageSearchFault) -> FoundMessages {
        let result = await withCheckedContinuation { continuation in
            self.worker.enqueue(.find(question) { continuation.resume(returning: $0) })
        }
        return try result.get()
    }

    /// For tests.
    func settle() async -> Bool {
        await withCheckedContinuation { continuation in
            self.worker.enqueue(.settle { continuation.resume(returning: $0) })
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
    private var isDue: Bool {
        let now = TimeInterval.uptime
        return now >= self.retryAt
            && (self.file == nil || (self.isBehind && !self.isFrozen) || self.eraseAt.map { now >= $0 } == true)
    }

    private func closeFile() {
        self.file?.close()
        self.file = nil
    }

    private var isBehind: Bool { !self.isCompared || (self.file?.place?.position ?? 0) < self.store.lastRecord }

    private func turn(_ work: [Work]) {
        guard TimeInterval.uptime >= self.retryAt else {
            for item in work { Self.refuse(item) }
            return
        }
        var left = work[...]
        do {
            _ = try self.openFile()
            let settles = work.contains { if case .settle = $0 { true } else { false } }
            try self.catchUp(for: settles ? .infinity : .milliseconds(self.configuration.catchUpMilliseconds))
            if settles || self.eraseAt.map({ TimeInterval.uptime >= $0 }) == true { try self.erase() }
            while let item = left.first {
                switch item {
                case .find(let question, let completion): completion(try self.answer(question, try self.openFile()))
                case .settle(let completion): completion(!self.isBehind)
                }
                left = left.dropFirst()
            }
            self.lastFailure = ""
        } catch {
            // A question that comes upon damage is answered by the next file.
            if Self.isDamage(error), self.lastFailure.isEmpty {
                self.worker.putBack(left)
                left = []
            }
            self.recover(from: error)
            for item in left { Self.refuse(item) }
        }
    }

    private func openFile() throws -> SearchFile {
        if let file = self.file { return file }
        let file = try SearchFile(path: self.path, pagesMax: self.configuration.pagesMax)
        self.file = file
        self.isCompared = false
        if file.place == nil, !self.hasGivenReason {
            self.log(.notice, "the search index is built anew", "there is none")
        }
        self.hasGivenReason = false
        self.noteErasing(file)
        return file
    }

    private func noteErasing(_ file: SearchFile) {
        guard !file.mustErase.isEmpty, self.eraseAt == nil else { return }
        self.eraseAt = TimeInterval.uptime + .milliseconds(self.configuration.eraseMilliseconds)
    }

    private func erase() throws {
        try self.file?.erase()
        self.eraseAt = nil
    }

    /// Page after page until nothing is new or the time is over.
    private func catchUp(for time: TimeInterval) throws {
        let deadline = TimeInterval.uptime + time
        while self.isBehind, !self.isFrozen, !self.worker.isStopping {
            self.pages += 1
            self.isFrozen = !self.configuration.mayRead(self.pages)
            if self.isFrozen { return }
            let file = try self.openFile()
            let (place, bounds) = (file.place, self.configuration.bounds)
            switch try self.look({ try $0.searchPage(after: place, bounds) }) {
            case .anotherStore: self.startAnew("the store was restored, or is another one", level: .warning)
            case .changes(let changes, let next):
                try file.apply(changes, place: next)
                self.isCompared = true
                self.noteErasing(file)
            }
            self.publish()
            if TimeInterval.uptime >= deadline { return }
        }
    }

    private func look<Value: Sendable>(_ read: @escaping @Sendable (StoreEngine) throws -> Value) throws -> Value {
        try self.store.lookWaiting(read)
    }

    private func startAnew(_ reason: String, level: Logger.Level) {
        self.file?.close()
        self.file = nil
        self.eraseAt = nil
        DerivedFile.remove(path: self.path)
        self.hasGivenReason = true
        self.log(level, "the search index is built anew", reason)
    }

    /// The index stays without: the store and everything else goes on.
    private func recover(from error: any Error) {
        let words = "\(error)"
        self.retryAt = TimeInterval.uptime + .milliseconds(self.configuration.retryMilliseconds)
        if Self.isDamage(error) {
            self.startAnew("it is damaged: \(words)", level: .warning)
            // Once at once; what is damaged again right away waits.
            if self.lastFailure.isEmpty { self.retryAt = 0 }
        } else {
            if words != self.lastFailure { self.log(.error, "the search index cannot be used", words) }
            self.file?.close()
            self.file = nil
            self.eraseAt = nil
        }
        self.lastFailure = words
    }

    private static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case let error as DatabaseError:
            [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR].contains(error.resultCode.primaryResultCode)
        case DerivedFileError.newer: true
        default: false
        }
    }

    private func log(_ level: Logger.Level, _ message: Logger.Message, _ reason: String) {
        self.logger.log(level: level, message, metadata: ["path": "\(self.path)", "reason": "\(reason)"])
    }

    private func publish() {
        let progress = SearchProgress(messages: self.file?.messages ?? 0, fileBytes: self.file?.bytes ?? 0)
        let position = self.file?.place?.position ?? 0
        self.told.withLock { $0 = Told(progress: progress, position: position) }
    }
}

// MARK: - Answering

extension SearchIndex {
    private func answer(
        _ question: MessageQuestion, _ file: SearchFile
    ) throws -> Result<FoundMessages, MessageSearchFault> {
        guard let query = SearchTags.query(question) else { return .failure(.noWords) }
        var before = JournalPosition.max
        if let id = question.before {
            guard let accepted = try self.look({ try $0.accepted(id, in: question.app)?.record }) else {
                return .failure(.unknownMessage)
            }
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
                found += try self.look { try $0.foundMessages(at: records, question) }
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
                indexedUntil: file.newest, isBehind: self.isBehind))
    }
}
