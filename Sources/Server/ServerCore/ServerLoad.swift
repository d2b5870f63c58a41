import OrderedCollections
package import TidingsModel

/// The number of things in memory; shows queues that nothing bounds, and leaks.
package struct ServerLoad: Hashable, Sendable {
    package var storeBacklog = 0
    package var sessions = 0
    package var people = 0
    /// With recent work, unfinished legs, or silent pushes due or sent in the last hour, whose budget is known in
    /// memory alone.
    package var busyPeople = 0
    package var devices = 0
    package var legs = 0
    package var pushes = 0
    package var queued = 0
    /// Devices whose token APNs has refused, and that are not sent to.
    package var doubted = 0
    package var lanes = 0
    package var timers = 0
    package var listeners = 0
    package var addresses = 0
    /// People and apps whose buckets or backlogs are kept outside of the people in memory.
    package var askers = 0

    package init() {}
}

extension ServerCore {
    /// Visits everybody in memory: not for every event.
    package func load(at now: Now) -> ServerLoad {
        var load = ServerLoad()
        load.storeBacklog = self.turn.store.backlog
        load.sessions = self.turn.sessions.count
        load.people = self.slots.count
        for person in self.people {
            load.devices += person.devices.count
            for device in person.devices { load.legs += device.legs.count }
            let isBusy = person.devices.contains {
                !$0.legs.isEmpty || $0.badge.dueAt != nil || !$0.badge.sent.isEmpty || !$0.badge.silent.isEmpty
            }
            let isRecent = now.monotonic <= person.state.busyAt + self.turn.settings.idleTime
            if isBusy || isRecent { load.busyPeople += 1 }
        }
        load.pushes = self.turn.lanes.pushes.count
        // tidy: order does not leave: a sum is the same in any order
        for lane in self.turn.lanes.states.values {
            load.queued += lane.queue.count
            load.doubted += lane.held.count
        }
        load.lanes = self.turn.lanes.states.count
        load.timers = self.turn.timers.count
        load.addresses = self.turn.shares.addresses.count
        load.askers = self.turn.store.backlogs.count + self.turn.store.reads.count + self.turn.shares.apps.count
        // tidy: order does not leave: a sum is the same in any order
        load.listeners = self.turn.sessions.hearers.values.reduce(0) { $0 + $1.count }
        // tidy: order does not leave: a sum is the same in any order
        load.listeners += self.turn.sessions.watchers.values.reduce(0) { $0 + $1.count }
        return load
    }
}
