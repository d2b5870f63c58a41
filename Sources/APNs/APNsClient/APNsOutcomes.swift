public import APNsModel
import NIOConcurrencyHelpers
import NIOCore

/// Pushes with their outcomes, in the order they ended: what `APNsClient.send(contentsOf:inFlightMax:)` gives.
///
/// An error of the source is thrown after the outcomes of everything it gave before.
public struct APNsOutcomes<Requests: AsyncSequence & Sendable>: AsyncSequence where Requests.Element == APNsRequest {
    /// A push and how it ended.
    public typealias Element = (request: APNsRequest, outcome: APNsOutcome)

    let client: APNsClient
    let requests: Requests
    let inFlightMax: Int

    /// Begins to send.
    public func makeAsyncIterator() -> Iterator {
        let run = OutcomeRun(client: self.client, inFlightMax: self.inFlightMax)
        run.begin(self.requests)
        return Iterator(end: OutcomeRunEnd(run: run))
    }

    /// Reads the outcomes.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let end: OutcomeRunEnd
        private var batch: [OutcomeRun.End] = []
        private var given = 0

        fileprivate init(end: OutcomeRunEnd) { self.end = end }

        /// The next outcome; nil after the last one, and in a cancelled task.
        ///
        /// - Throws: what the source threw.
        public mutating func next() async throws -> Element? {
            if self.given == self.batch.count || Task.isCancelled {
                let returned = self.batch.count
                (self.batch, self.given) = ([], 0)
                self.batch = try await self.end.run.next(returning: returned)
                if self.batch.isEmpty { return nil }
            }
            defer { self.given += 1 }
            return (self.batch[self.given].push.push, self.batch[self.given].outcome)
        }
    }
}

private final class OutcomeRunEnd: Sendable {
    let run: OutcomeRun
    init(run: OutcomeRun) { self.run = run }
    deinit { self.run.cancel() }
}

/// Between the task that reads the source, the client, and the one that reads the outcomes. Each hands on many at a
/// time where there are many: a change of tasks costs more than a push.
///
/// `@unchecked Sendable`: `gathered` and `isOver` are touched on the client's loop only, the rest is guarded by its
/// lock.
final class OutcomeRun: @unchecked Sendable {
    struct End: Sendable {
        var push: PendingPush
        var outcome: APNsOutcome
    }

    private typealias Reader = CheckedContinuation<[End], any Error>
    private typealias Feeder = CheckedContinuation<Int, Never>

    private struct State {
        /// The number of requests held: promised to the source, under way, ended, or in the reader's hands.
        var held = 0
        var ended = CircularBuffer<End>()
        var end: Result<Void, any Error>?
        var isCancelled = false
        var reader: Reader?
        var feeder: Feeder?
        var task: Task<Void, Never>?
    }

    private let client: APNsClient
    private let inFlightMax: Int
    /// So many outcomes are handed on together at most, and for so many there is room before the source goes on: half of
    /// what may be held, so that reader and client both have something to do.
    private let batchMax: Int
    private let state = NIOLockedValueBox(State())
    private var gathered: [End] = []
    /// True if the client has let go of it: further requests are not sent.
    var isOver = false

    init(client: APNsClient, inFlightMax: Int) {
        self.client = client
        self.inFlightMax = inFlightMax
        self.batchMax = max(inFlightMax / 2, 1)
    }

    // MARK: The source

    fileprivate func begin<Requests: AsyncSequence & Sendable>(
        _ requests: Requests
    ) where Requests.Element == APNsRequest {
        let task = Task {
            var room = 0
            do {
                for try await request in requests {
                    if room == 0 { room = await self.awaitRoom() }
                    // Nobody wants it any more.
                    if room == 0 { return }
                    room -= 1
                    let push = PendingPush(request, waits: true, .run(self))
                    if let why = self.client.fault(in: request) {
                        self.handOn([End(push: push, outcome: .notSent(why))])
                    } else {
                        self.client.engine.submit(push)
                    }
                }
                self.sourceEnded(.success(()), unused: room)
            } catch {
                self.sourceEnded(.failure(error), unused: room)
            }
        }
        let isCancelled = self.state.withLockedValue { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Waits until something may be held, and takes all there is room for.
    ///
    /// - Returns: for how many; 0 if it was cancelled.
    private func awaitRoom() async -> Int {
        await withCheckedContinuation { continuation in
            let room = self.state.withLockedValue { state -> Int? in
                if state.isCancelled { return 0 }
                if let room = self.takeRoom(&state) { return room }
                state.feeder = continuation
                return nil
            }
            if let room { continuation.resume(returning: room) }
        }
    }

    private func takeRoom(_ state: inout State) -> Int? {
        let room = self.inFlightMax - state.held
        guard room > 0 else { return nil }
        state.held += room
        return room
    }

    private func sourceEnded(_ end: Result<Void, any Error>, unused: Int) {
        let reader = self.state.withLockedValue { state -> Reader? in
            state.end = end
            state.held -= unused
            guard state.held == 0, let reader = state.reader else { return nil }
            state.reader = nil
            state.end = .success(())
            return reader
        }
        reader?.resume(with: end.map { [] })
    }

    // MARK: The client

    /// A push has ended; `deliver()` follows in the same cycle of the loop.
    ///
    /// - Returns: whether it is the first of the cycle.
    func gather(_ request: PendingRequest, _ outcome: APNsOutcome) -> Bool {
        guard let push = request as? PendingPush else { return false }
        self.gathered.append(End(push: push, outcome: outcome))
        return self.gathered.count == 1
    }

    func deliver() {
        self.handOn(self.gathered)
        self.gathered.removeAll(keepingCapacity: true)
    }

    private func handOn(_ ends: [End]) {
        let (reader, batch) = self.state.withLockedValue { state -> (Reader?, [End]) in
            if state.isCancelled { return (nil, []) }
            state.ended.append(contentsOf: ends)
            guard let reader = state.reader else { return (nil, []) }
            state.reader = nil
            return (reader, self.takeBatch(&state))
        }
        reader?.resume(returning: batch)
    }

    private func takeBatch(_ state: inout State) -> [End] {
        let batch = Array(state.ended.prefix(self.batchMax))
        state.ended.removeFirst(batch.count)
        return batch
    }

    // MARK: The reader

    /// Returns the requests that have ended, at least one; empty at the end.
    ///
    /// - Parameter returned: so many of the last batch, all of it, are not held any more.
    fileprivate func next(returning returned: Int) async throws -> [End] {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (result, feeder, room) = self.state.withLockedValue { state in
                    state.held -= returned
                    let result = self.takeResult(&state, continuation)
                    let isRoomy = state.ended.isEmpty || self.inFlightMax - state.held >= self.batchMax
                    guard isRoomy, let feeder = state.feeder, let room = self.takeRoom(&state) else {
                        return (result, Feeder?.none, 0)
                    }
                    state.feeder = nil
                    return (result, feeder, room)
                }
                feeder?.resume(returning: room)
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            self.cancel()
        }
    }

    /// Returns the result for the reader; nil if it has to wait.
    private func takeResult(_ state: inout State, _ continuation: Reader) -> Result<[End], any Error>? {
        if state.isCancelled { return .success([]) }
        if !state.ended.isEmpty { return .success(self.takeBatch(&state)) }
        if let end = state.end, state.held == 0 {
            // An error is thrown once.
            state.end = .success(())
            return end.map { [] }
        }
        state.reader = continuation
        return nil
    }

    fileprivate func cancel() {
        let (reader, feeder, task, isDone) = self.state.withLockedValue { state in
            defer {
                state.isCancelled = true
                state.ended = CircularBuffer()
                (state.reader, state.feeder, state.task) = (nil, nil, nil)
            }
            let isDone = state.isCancelled || (state.end != nil && state.held == 0)
            return (state.reader, state.feeder, state.task, isDone)
        }
        reader?.resume(returning: [])
        feeder?.resume(returning: 0)
        task?.cancel()
        if !isDone { self.client.engine.cancel(self) }
    }
}
