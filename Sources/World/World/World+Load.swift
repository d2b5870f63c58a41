import APNsClientCore
import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import StoreModel

// What is looked at while the world runs: how much is held in memory, and whether all agree in time.
extension World {
    /// How often, in milliseconds.
    private static let measureInterval: Int64 = 10_000
    /// How long the server may hear of a phone that a silent push has woken, in milliseconds.
    private static let wakeTime: Int64 = 60_000

    mutating func measure() {
        self.plan(.measure, after: Self.measureInterval)
        self.see(.measured(self.load(isQuiet: false)))
    }

    func load(isQuiet: Bool) -> WorldLoad {
        var load = WorldLoad()
        load.server = self.server?.load(at: self.serverNow)
        load.pool = self.pool?.dispatcher.load
        load.connections = self.connections[self.connectionsBefore...].count { $0.serverIsOpen && $0.life == self.life }
        // The other app's people have the same names; whoever calls the roll has nobody's.
        load.people = 2 * self.people.count + 1
        load.isQuiet = isQuiet
        if isQuiet { load.keptLegs = self.store.openLegCount }
        load.phones = self.phones.map { phone in
            let works = phone.extensionWork.values
            return WorldLoad.Phone(
                key: phone.key, isWoken: phone.wokenAt.map { self.time < $0 + Self.wakeTime } ?? false,
                client: phone.processes.values.first { $0.client != nil }?.client?.load,
                pushesAtWork: works.count, waits: works.lazy.map { $0.waits.count }.max() ?? 0,
                posts: works.lazy.map { $0.posts.count }.max() ?? 0, ledger: phone.group.ledger.count)
        }
        return load
    }

    /// Everybody has looked at the app for four minutes: all agree, but for the number on the icon, which is the system's business
    /// once the app has left.
    mutating func endLook() { self.see(.looked(self.ending)) }

    /// The store and the phones as they are.
    var ending: Ending {
        Ending(
            store: self.store.dump(),
            phones: self.phones.map {
                .init(key: $0.key, disk: $0.disk, icon: $0.core.screen.badge(of: Self.bundle))
            })
    }
}
