package import StoreModel
package import TidingsModel

/// A store in memory: the machine on `MemoryRows`, and what owns both. It does with the machine what a database's writer does: a batch
/// is one transaction, and between two batches it derives what is due.
///
/// What it throws but `StaleEpoch` is a failure of the rows, or `Stopped`. Then nothing of the batch is kept, and the store stands still
/// until it is opened again, as a server's process ends with its store.
package final class MemoryStore {
    /// The rows have failed since the store was opened, or it was never opened.
    package struct Stopped: Error, Hashable, Sendable {}

    package let rows: MemoryRows
    /// Of the last opening; 0 before the first.
    package private(set) var epoch: UInt64 = 0
    /// Also of recalls and custom messages.
    package private(set) var lastMessageID = MessageID(rawValue: 0)
    private let configuration: StoreMachine.Configuration
    /// Nil while the store stands still: what the machine held in memory is void.
    private var machine: StoreMachine?
    /// What a database's state file says.
    private var state: StoreState?

    package init(
        rows: MemoryRows = MemoryRows(), configuration: StoreMachine.Configuration = StoreMachine.Configuration()
    ) {
        self.rows = rows
        self.configuration = configuration
    }

    /// A crash of the owner before, and a start: what was not committed is gone, and so is what the machine had in memory. It recovers
    /// from the rows. Every earlier owner's batches are refused from now on.
    /// - Parameter number: `StoreIdentity.opening`; 0 for one that no phone can hold a log of.
    package func open(number: UInt64 = 0) -> StoreOpening {
        self.machine = nil
        self.rows.crash()
        let opening = number > 0 ? number : UInt64.max - self.epoch
        let drawn = StoreIdentity(id: "memory", generation: self.epoch + 1, opening: opening)
        let machine = Self.certain { try self.makeMachine(.opening(self.state, drawn: drawn)) }
        self.machine = machine
        self.epoch = machine.epoch
        self.note(machine)
        return StoreOpening(
            epoch: machine.epoch, lastMessageID: machine.lastMessageID, pending: machine.pendingAtOpening,
            control: machine.control, pushJobs: machine.pushJobsAtOpening)
    }

    /// One result per command. Throws `StaleEpoch`, with nothing carried out, if `epoch` is not that of the last opening.
    package func apply(_ batch: [StoreCommand], epoch: UInt64) throws -> [StoreResult] {
        guard epoch == self.epoch else { throw StaleEpoch(presented: epoch, current: self.epoch) }
        return try self.run { machine in
            // What is due since the batch before: its answers do not wait for it.
            try Self.catchUp(machine)
            let results = try machine.carryOut([batch])
            self.note(machine)
            return results.first ?? []
        }
    }

    package func apply(_ command: StoreCommand, epoch: UInt64) throws -> StoreResult {
        try self.apply([command], epoch: epoch)[0]
    }

    /// Derives everything that is behind, step by step.
    package func derive() throws {
        while try self.deriveStep() {}
    }

    /// Derives a part of what is behind, in a transaction of its own.
    /// - Returns: false if nothing was behind.
    package func deriveStep() throws -> Bool { try self.run { try $0.deriveStep() } }

    /// In a fixed order. `withMessages` includes the life of each message, which costs more than all else.
    package func dump(withMessages: Bool = true) -> StoreDump {
        Self.certain { try self.readable().dump(withMessages: withMessages) }
    }

    package var openLegCount: Int {
        let machine = Self.certain { try self.readable() }
        return (0...machine.lastPersonNumber).reduce(0) { count, number in
            count + (machine.personInMemory(number)?.openLegs?.count ?? self.rows.openLegs[number].order.count)
        }
    }

    private func run<Value>(_ work: (StoreMachine) throws -> Value) throws -> Value {
        guard let machine else { throw Stopped() }
        do {
            return try work(machine)
        } catch {
            self.machine = nil
            self.rows.rollBack()
            throw Self.cause(of: error)
        }
    }

    private static func catchUp(_ machine: StoreMachine) throws {
        var steps = 0
        while let due = machine.dueWork(after: steps) {
            switch due {
            case .deriving: _ = try machine.deriveStep()
            case .storingNew: try machine.storeNew()
            }
            steps += 1
        }
    }

    /// Of a store that stands still: what the next opening would find.
    private func readable() throws -> StoreMachine { try self.machine ?? self.makeMachine(.reading) }

    private func makeMachine(_ start: StoreMachine.Start) throws -> StoreMachine {
        try StoreMachine(rows: self.rows, configuration: self.configuration, start: start)
    }

    private func note(_ machine: StoreMachine) {
        self.state = machine.state
        self.lastMessageID = machine.lastMessageID
    }

    /// What the rows threw.
    private static func cause(of error: any Error) -> any Error {
        switch error {
        case let error as InterruptedRecord: Self.cause(of: error.cause)
        case let error as UnwrittenJournal: Self.cause(of: error.cause)
        default: error
        }
    }

    /// Rows in memory fail only where a change or a commit was told to, and never in a read or at a start.
    private static func certain<Value>(_ work: () throws -> Value) -> Value {
        do { return try work() } catch { fatalError("rows in memory could not be read: \(error)") }
    }
}
