import NIOCore
import ServerCore
import Synchronization
import TidingsModel

/// The server's reports for those who read them over HTTP. Each reads the one buffer at their own pace, so nothing is kept for a reader
/// but how far they are.
final class EventFeed: Sendable {
    private struct State {
        /// Nil until the store is open.
        var buffer: ReportBuffer?
        /// Wall milliseconds.
        var begunAt: Int64 = 0
        var isEnded = false
        var readers: [Readers: Int] = [:]
        var waiting: [UInt64: EventLoopPromise<Bool>] = [:]
        var waits: UInt64 = 0
    }

    /// Readers that are counted together: those with the app's keys, and the operators who watch it, so that neither keeps the others out.
    fileprivate struct Readers: Hashable {
        var app: AppID
        var areOperators: Bool
    }

    /// A place among the readers of an app, free again when it is left, or let go of.
    final class Place: Sendable {
        private let readers: Readers
        private let feed: EventFeed
        private let left = Mutex(false)

        fileprivate init(among readers: Readers, in feed: EventFeed) {
            self.readers = readers
            self.feed = feed
        }

        deinit { if !self.isLeft { self.feed.leave(self.readers) } }

        var isLeft: Bool { self.left.withLock { $0 } }

        /// Leaves the place: its reader is woken, and reads no more. From any thread.
        func leave() {
            let isFirst = self.left.withLock { left in
                defer { left = true }
                return !left
            }
            guard isFirst else { return }
            self.feed.leave(self.readers)
            self.feed.wakeReaders()
        }
    }

    /// The most readers with an app's keys, and the most operators. They hold connections that others could use.
    static let readersMax = 10

    private let eventLoop: any EventLoop
    private let now: @Sendable () -> Now
    private let state = Mutex(State())

    /// - Parameters: eventLoop: for time limits. now: a clock of the tests, or the machine's.
    init(eventLoop: any EventLoop, now: @escaping @Sendable () -> Now = { Clocks.now() }) {
        self.eventLoop = eventLoop
        self.now = now
    }

    func begin(epoch: UInt64, histories: [AppID: AppHistory.Saved] = [:]) {
        let now = self.now()
        self.state.withLock { state in
            var buffer = ReportBuffer(epoch: epoch, begun: now)
            buffer.restore(histories, at: now)
            state.buffer = buffer
            state.begunAt = now.wall
        }
    }

    /// Nil while the store is not open.
    func statistics(of app: AppID) -> (counts: ReportBuffer.AppCounts, since: Int64)? {
        let now = self.now()
        return self.state.withLock { state in (state.buffer?.counts(of: app, at: now)).map { ($0, state.begunAt) } }
    }

    /// The app's last hour; nil while the store is not open.
    func history(of app: AppID) -> HistoryReport? {
        let now = self.now()
        return self.state.withLock { $0.buffer?.history(of: app, at: now) }
    }

    /// The last hour of each app, for a file. Nobody waits while it is made.
    var savedHistories: [AppID: AppHistory.Saved] {
        (self.state.withLock { $0.buffer?.appHistories } ?? [:]).mapValues(\.saved)
    }

    func setQueues(_ queues: [AppID: PushQueueLength], at now: Now) {
        self.state.withLock { $0.buffer?.setQueues(queues, at: now) }
    }

    /// Readers are told what is left, and nothing more comes.
    func end() {
        let waiting = self.state.withLock { state in
            state.isEnded = true
            return Self.takeWaiting(&state)
        }
        for promise in waiting { promise.succeed(true) }
    }

    func append(_ reports: [ServerReport], at now: Now) {
        let waiting = self.state.withLock { state in
            state.buffer?.append(reports, at: now)
            return Self.takeWaiting(&state)
        }
        for promise in waiting { promise.succeed(true) }
    }

    /// Who waits looks whether they may go on.
    func wakeReaders() {
        for promise in self.state.withLock({ Self.takeWaiting(&$0) }) { promise.succeed(true) }
    }

    private static func takeWaiting(_ state: inout State) -> [EventLoopPromise<Bool>] {
        guard !state.waiting.isEmpty else { return [] }
        let waiting = Array(state.waiting.values)
        state.waiting = [:]
        return waiting
    }

    // MARK: - Readers

    /// Nil if the app, or operators, have as many readers as they may.
    func enter(_ app: AppID, isOperator: Bool = false) -> Place? {
        let readers = Readers(app: app, areOperators: isOperator)
        let hasRoom = self.state.withLock { state in
            guard state.readers[readers, default: 0] < Self.readersMax else { return false }
            state.readers[readers, default: 0] += 1
            return true
        }
        return hasRoom ? Place(among: readers, in: self) : nil
    }

    private func leave(_ readers: Readers) {
        self.state.withLock { state in
            let left = state.readers[readers, default: 0] - 1
            state.readers[readers] = left > 0 ? left : nil
        }
    }

    /// Nil while the store is not open, or if the server is stopping. `isReset`: what came after `id` is not known.
    func start(_ app: AppID, after id: ReportID?) -> (cursor: ReportBuffer.Cursor, isReset: Bool)? {
        let now = self.now()
        return self.state.withLock { state in
            guard !state.isEnded, state.buffer != nil else { return nil }
            guard let id else { return (state.buffer?.start(of: app)).map { ($0, false) } }
            if let cursor = state.buffer?.cursor(after: id, of: app, at: now) { return (cursor, false) }
            return (state.buffer?.start(of: app)).map { ($0, true) }
        }
    }

    func id(of cursor: ReportBuffer.Cursor) -> ReportID? { self.state.withLock { $0.buffer?.id(of: cursor) } }

    func read(
        after cursor: inout ReportBuffer.Cursor, of kinds: Set<ServerReport.Kind>
    ) -> ReportBuffer.Page {
        let now = self.now()
        return self.state.withLock { $0.buffer?.page(after: &cursor, of: kinds, at: now) } ?? .entries([])
    }

    enum News: Equatable {
        case some
        /// Nothing has come in that time.
        case none
        case ended
    }

    /// - Parameter place: its reader waits no more once it has left; `leave` wakes one who waits already.
    func waitForNews(
        after cursor: ReportBuffer.Cursor, for time: TimeAmount, at place: Place? = nil
    ) async -> News {
        let promise = self.eventLoop.makePromise(of: Bool.self)
        let number = self.state.withLock { state -> UInt64? in
            guard !state.isEnded, state.buffer?.hasMore(after: cursor) == false, place?.isLeft != true else {
                return nil
            }
            state.waits += 1
            state.waiting[state.waits] = promise
            return state.waits
        }
        var isNews = true
        if let number {
            let timer = self.eventLoop.scheduleTask(in: time) { self.stopWaiting(number) }
            isNews = (try? await promise.futureResult.get()) ?? true
            timer.cancel()
        } else {
            promise.succeed(true)
        }
        guard isNews else { return .none }
        return self.state.withLock { $0.isEnded && $0.buffer?.hasMore(after: cursor) != true } ? .ended : .some
    }

    private func stopWaiting(_ number: UInt64) {
        self.state.withLock { $0.waiting.removeValue(forKey: number) }?.succeed(false)
    }

    /// Pauses, so that events that come meanwhile go in one piece.
    func pause(_ time: TimeAmount) async {
        try? await self.eventLoop.scheduleTask(in: time) {}.futureResult.get()
    }

    func hasMore(after cursor: ReportBuffer.Cursor) -> Bool {
        self.state.withLock { $0.buffer?.hasMore(after: cursor) == true }
    }

    var isEnded: Bool { self.state.withLock { $0.isEnded } }
}
