import Foundation
import GRDB
import Logging
import StoreMachine
import Synchronization
import TidingsModel

struct JournalFollowerConfiguration: Sendable {
    /// How often it looks whether the journal has grown.
    var pollMilliseconds: Int64 = 200
    /// How long a question waits for what is not derived yet.
    var catchUpMilliseconds: Int64 = 250
    /// How long nothing is tried after a failure, for example of a full disk.
    var retryMilliseconds: Int64 = 5_000
    /// Nil for as large as the disk.
    var pagesMax: Int?
    /// For tests of crashes: how many pages are read.
    var readMax = Int.max
}

/// What is derived from the journal, in a `DerivedFile`, with the place it has reached.
protocol JournalFile: AnyObject, SendableMetatype {
    associatedtype Progress: Sendable

    init(path: String, pagesMax: Int?) throws
    /// As of its last page; nil before the first.
    var place: JournalPlace? { get }
    var progress: Progress { get }
    func close()
}

/// Follows the journal with a file, on a thread of its own, by the decisions of `JournalReader`. The store and everything else goes on,
/// whatever happens to the file. `@unchecked Sendable`: `told` guards itself, as `worker` does; everything else that changes belongs to
/// the worker's thread alone.
final class JournalFollower<File: JournalFile, Work: Sendable>: @unchecked Sendable {
    let store: MessageStore
    /// As the log has it.
    private let name: String
    private let path: String
    private let configuration: JournalFollowerConfiguration
    private let logger: Logger
    private let worker: SerialWorker<Work>
    private let told = Mutex<(progress: File.Progress?, position: JournalPosition)>((nil, 0))

    private(set) var reader: JournalReader
    private(set) var file: File?
    /// How often a file was opened.
    private(set) var openings = 0
    private var pages = 0

    /// - Parameter refuse: for work that is not carried out. On any thread.
    init(
        _ name: String, _ path: String, of store: MessageStore, from origin: JournalReader.Origin,
        _ configuration: JournalFollowerConfiguration, _ logger: Logger, refuse: @escaping @Sendable (Work) -> Void
    ) {
        self.store = store
        self.name = name
        self.path = path
        self.configuration = configuration
        self.logger = logger
        self.worker = SerialWorker(pollMilliseconds: configuration.pollMilliseconds, refuse: refuse)
        self.reader = JournalReader(origin: origin, retrySeconds: .milliseconds(configuration.retryMilliseconds))
    }

    /// Once. All of these are called on the thread alone.
    /// - Parameters:
    ///   - isDue: whether there is something to do besides work and the journal.
    ///   - turn: catches up, and takes away from the work what is done.
    ///   - end: after the last turn.
    func start(
        _ thread: String, isDue: @escaping @Sendable () -> Bool,
        turn: @escaping @Sendable (inout ArraySlice<Work>) throws -> Void, end: @escaping @Sendable () -> Void = {}
    ) {
        self.worker.start(
            named: thread,
            isDue: { self.reader.mayTry(at: .uptime) && (self.mayRead || isDue()) },
            turn: { self.carryOut($0, turn) },
            end: {
                self.closeFile()
                end()
            })
    }

    func enqueue(_ work: Work) { self.worker.enqueue(work) }

    /// Waits until the file is closed.
    func close() { self.worker.close() }

    /// What the file last said, and how many records it has not looked at. On any thread.
    var progress: (file: File.Progress?, behind: Int) {
        let told = self.told.withLock { $0 }
        // Of now: the store goes on also where this stands still.
        let last = self.store.lastRecord
        return (told.progress, Int(clamping: last - min(last, told.position)))
    }
}

// MARK: - The thread

extension JournalFollower {
    var isBehind: Bool { self.reader.isBehind(self.store.lastRecord) }
    private var mayRead: Bool { self.isBehind && self.pages < self.configuration.readMax }

    private func carryOut(_ work: [Work], _ turn: (inout ArraySlice<Work>) throws -> Void) {
        defer { self.publish() }
        var left = work[...]
        if self.reader.mayTry(at: .uptime) {
            do {
                try turn(&left)
                self.reader.succeed()
            } catch {
                // A question that comes upon damage is answered by the next file.
                if self.recover(from: error, at: .uptime) { return self.worker.putBack(left) }
            }
        }
        for item in left { self.worker.refuse(item) }
    }

    /// Returns the file that is open, or opens it.
    func openFile() throws -> File {
        if let file = self.file { return file }
        let file = try File(path: self.path, pagesMax: self.configuration.pagesMax)
        self.file = file
        self.openings += 1
        if self.reader.open(at: file.place) { self.log(.notice, "\(self.name) is built anew", "there is none") }
        return file
    }

    /// Page after page until nothing is new or the time is over.
    /// - Parameters:
    ///   - time: nil for what a question waits.
    ///   - readPage: returns the place that was reached; nil where the one that was held is none of this store.
    func catchUp(for time: TimeInterval? = nil, _ readPage: () throws -> JournalPlace?) throws {
        let deadline = TimeInterval.uptime + (time ?? .milliseconds(self.configuration.catchUpMilliseconds))
        if self.reader.origin == .start || DerivedFile.exists(self.path) { _ = try self.openFile() }
        while self.mayRead, !self.worker.isStopping {
            self.pages += 1
            let place = try readPage()
            if place == nil { self.beginAnew("the store was restored, or is another one") }
            self.reader.step(to: place)
            self.publish()
            if TimeInterval.uptime >= deadline { return }
        }
    }

    func removeFile() {
        self.closeFile()
        DerivedFile.remove(path: self.path)
    }

    func log(_ level: Logger.Level, _ message: Logger.Message, _ reason: String, path: String? = nil) {
        self.logger.log(level: level, message, metadata: ["path": "\(path ?? self.path)", "reason": "\(reason)"])
    }

    private func closeFile() {
        self.file?.close()
        self.file = nil
    }

    private func beginAnew(_ reason: String) {
        self.removeFile()
        self.log(.warning, "\(self.name) is built anew", reason)
    }

    /// - Returns: whether it goes on at once.
    private func recover(from error: any Error, at now: TimeInterval) -> Bool {
        let (words, isInFile) = ("\(error)", self.file?.place != nil)
        switch self.reader.fail(Self.failure(error), words, isInFile: isInFile, at: now) {
        case .close(let isNews):
            self.closeFile()
            if isNews { self.log(.error, "\(self.name) cannot be used", words) }
        case .remove: self.beginAnew("it is damaged: \(words)")
        case .setAside:
            self.closeFile()
            let aside = self.path + ".damaged"
            DerivedFile.move(path: self.path, to: aside)
            self.log(.error, "\(self.name) is damaged, and was set aside", words, path: aside)
        }
        return self.reader.mayTry(at: now)
    }

    private static func failure(_ error: any Error) -> JournalReader.Failure {
        switch error {
        case DatabaseError.SQLITE_CORRUPT, DatabaseError.SQLITE_NOTADB: .damaged
        case DatabaseError.SQLITE_ERROR, DerivedFileError.newer: .unlike
        default: .passing
        }
    }

    private func publish() {
        let (progress, position) = (self.file?.progress, self.reader.place?.position ?? 0)
        self.told.withLock { $0 = (progress, position) }
    }
}
