import Benchmark
import MessageStore
import StoreModel
import TidingsModel

/// Rivals stand beside each other in one run: what is compared is their ratio.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .throughput], warmupIterations: 1, scalingFactor: .one, maxDuration: .seconds(10),
        maxIterations: 1_000)

    // The unread total is kept, not counted: the second must cost what the first costs. Both stores are at rest: what is left to be
    // derived from a million messages would go on between the questions.
    for (messages, conversations) in [(10, 10), (1_000_000, 1_000)] {
        Benchmark("unread total, \(conversations) conversations, \(messages) messages") { benchmark in
            guard let rig = try? StoreRig() else { return benchmark.error("no store") }
            defer { rig.remove() }
            try? await rig.fill(messages: messages, conversations: conversations)
            rig.close()
            try? rig.reopen()
            guard let unread = try? await rig.unread(), unread == messages else { return benchmark.error("not kept") }
            benchmark.startMeasurement()
            for _ in 0..<1_000 { blackHole(try? await rig.unread()) }
            benchmark.stopMeasurement()
        }
    }

    Benchmark("a send to a group of 3,000: until it is durable") { benchmark in
        await sends(benchmark, until: { _ in })
    }

    Benchmark("a send to a group of 3,000: until every log has it") { benchmark in
        await sends(benchmark, until: { $0.close() })
    }

    Benchmark("opening a store with 1,000,000 messages", configuration: .init(maxIterations: 3)) { benchmark in
        guard let rig = try? StoreRig() else { return benchmark.error("no store") }
        defer { rig.remove() }
        try? await rig.fill(messages: 1_000_000, conversations: 1_000)
        rig.close()
        benchmark.startMeasurement()
        try? rig.reopen()
        benchmark.stopMeasurement()
    }

    Benchmark("durable ingest, 1,000 batches of 10 messages") { benchmark in
        guard let rig = try? StoreRig() else { return benchmark.error("no store") }
        defer { rig.remove() }
        let batches = rig.batches()
        benchmark.startMeasurement()
        for batch in batches { blackHole(try? await rig.store.apply(batch)) }
        benchmark.stopMeasurement()
    }

    // The rival: the bytes of the journal, appended and synced batch by batch.
    Benchmark("a bare append log with fdatasync, 1,000 times 10 messages") { benchmark in
        guard let log = try? AppendLog() else { return benchmark.error("no file") }
        let batches = StoreRig.journalBytes.map { [UInt8](repeating: 0x2e, count: $0) }
        guard batches.count == 1_000 else { return benchmark.error("no journal") }
        benchmark.startMeasurement()
        for batch in batches { blackHole(log.append(batch)) }
        benchmark.stopMeasurement()
    }
}

/// Measures one send to a group of 3,000 in a store whose members are known.
private func sends(_ benchmark: Benchmark, until: (StoreRig) -> Void) async {
    guard let rig = try? StoreRig(), let group = try? await rig.makeGroup(members: 3_000) else {
        return benchmark.error("no store")
    }
    defer { rig.remove() }
    blackHole(try? await rig.store.apply([rig.message(from: "member0", to: group)]))
    let send = rig.message(from: "member1", to: group)
    benchmark.startMeasurement()
    blackHole(try? await rig.store.apply([send]))
    until(rig)
    benchmark.stopMeasurement()
}
