import HeapModule
import OrderedCollections
package import TidingsModel

/// How much the machine holds in memory: queues that nothing bounds, and what nobody lets go, show here.
package struct ServerLoad: Hashable, Sendable {
    /// Commands the store has not answered.
    package var storeBacklog = 0
    /// Connections that are open, or wait for the store to sign them in.
    package var sessions = 0
    /// People in memory.
    package var people = 0
    /// Those of them with something to do a moment ago, with unfinished legs, or with silent pushes that are due or were sent in the
    /// last hour: their budget is known in memory alone.
    package var busyPeople = 0
    /// Devices of the people in memory on which they are signed in.
    package var devices = 0
    /// Unfinished legs.
    package var legs = 0
    /// Pushes with the APNs client.
    package var pushes = 0
    /// Devices whose turn in their lane has not come.
    package var queued = 0
    /// Those of them whose token APNs has refused while nothing showed that the lane works: they wait until something does.
    package var doubted = 0
    /// Lanes that are in use, or were a moment ago.
    package var lanes = 0
    /// Timers, of which those of the past days may be many.
    package var timers = 0
    /// Entries of the tables of who hears which room and who watches whom.
    package var listeners = 0
    /// Addresses that have taken something of what is limited, lately.
    package var addresses = 0
    /// People and apps whose buckets or backlogs are kept outside of the people in memory.
    package var askers = 0

    /// Nothing.
    package init() {}
}

extension ServerCore {
    /// What it holds now. Looks at everybody in memory: not for every event.
    package func load(at now: Now) -> ServerLoad {
        var load = ServerLoad()
        load.storeBacklog = self.storeBacklog
        load.sessions = self.openings.count + self.sessions.count
        load.people = self.slots.count
        for person in self.people {
            load.devices += person.devices.count
            for device in person.devices { load.legs += device.legs.count }
            let isBusy = person.devices.contains {
                !$0.legs.isEmpty || $0.badge.dueAt != nil || !$0.badge.sent.isEmpty
            }
            let isRecent = now.monotonic <= person.busyAt + self.settings.idleTime
            if isBusy || isRecent { load.busyPeople += 1 }
        }
        load.pushes = self.pushes.count
        // tidy: order does not leave: a sum is the same in any order
        load.queued = self.lanes.values.reduce(0) { $0 + $1.queue.count }
        // tidy: order does not leave: a sum is the same in any order
        load.doubted = self.lanes.values.reduce(0) { $0 + $1.queue.doubted }
        load.lanes = self.lanes.count
        load.timers = self.timers.count
        load.addresses = self.addresses.count
        load.askers = self.backlogs.count + self.reads.count + self.apps.count
        // tidy: order does not leave: a sum is the same in any order
        load.listeners = self.rooms.values.reduce(0) { $0 + $1.count }
        // tidy: order does not leave: a sum is the same in any order
        load.listeners += self.watchers.values.reduce(0) { $0 + $1.count }
        return load
    }
}
