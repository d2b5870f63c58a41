import APNsClientCore
import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import StoreMachine
import StoreModel

// What is measured while the World runs: how much is held in memory, and whether all agree in time.
extension World {
    private static let measureInterval: Int64 = 10_000
    /// How long the server may be told of a phone that a silent push has woken, in milliseconds.
    private static let wakeTime: Int64 = 60_000

    mutating func measure() {
        self.plan(.measure, after: Self.measureInterval)
        self.emit(.measured(self.memoryLoad(isQuiet: false)))
    }

    func memoryLoad(isQuiet: Bool) -> WorldLoad {
        var load = WorldLoad()
        load.server = self.server?.load(at: self.serverNow)
        load.pools = self.senders?.pools.values.map(\.dispatcher.load) ?? []
        load.retiredPools = self.senders?.pools.values.count(where: \.isRetired) ?? 0
        load.activeCredentials = self.credentials.active.count
        load.connections = self.connections[self.connectionsBefore...].count { $0.serverIsOpen && $0.life == self.life }
        load.connections += self.hostile.sessions.count
        load.apiRequests = self.openAPIRequests.count
        load.hasHostileClients = self.options.faults.hasHostileClients
        // The other app's people have the same names; the sender of the final probe has a name of its own.
        load.people = 2 * self.people.count + self.anonymousPeople.count + 1 + self.accounts.known.count
        if self.options.faults.hasHostileClients { load.people += self.hostilePeople.count }
        load.isQuiet = isQuiet
        if isQuiet { load.keptLegs = self.store.openLegCount }
        load.phones = self.phones.map { phone in
            var load = phone.load
            load.isWoken = phone.wokenAt.map { self.time < $0 + Self.wakeTime } ?? false
            return load
        }
        return load
    }

    /// - Parameter withMessages: whether the store tells what became of each message; that takes long.
    func ending(withMessages: Bool) -> Ending {
        Ending(
            store: self.store.dump(withMessages: withMessages),
            phones: self.phones.map {
                .init(
                    key: $0.key, disk: $0.disk, icon: $0.core.screen.badge(of: Self.bundle),
                    donations: $0.core.donations(of: Self.bundle))
            })
    }
}

extension WorldPhone {
    /// Looked at where it lies: all phones are asked again and again, and mostly hold nothing.
    fileprivate var load: WorldLoad.Phone {
        var load = WorldLoad.Phone(key: self.key, ledger: Self.count(of: &self.group.ledger))
        Self.countWork(in: &self.extensionWork, into: &load)
        for process in self.processes.values.elements {
            if process.task != nil { load.holdsTask = true }
            guard let client = process.client else { continue }
            load.client = client.load
            break
        }
        return load
    }

    private static func count(of ledger: inout Ledger) -> Int { ledger.count }

    private static func countWork(
        in work: inout OrderedDictionary<CallbackNumber, ExtensionWork>, into load: inout WorldLoad.Phone
    ) {
        guard !work.isEmpty else { return }
        load.pushesAtWork = work.count
        load.waits = work.values.lazy.map { $0.machine.openRequests }.max() ?? 0
        load.posts = work.values.lazy.map { $0.machine.openPosts.count }.max() ?? 0
    }
}
