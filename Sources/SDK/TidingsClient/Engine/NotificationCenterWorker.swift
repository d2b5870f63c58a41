import ClientCore
import TidingsAppGroup
import TidingsModel

/// Carries out the decisions of the queue of work at the notification centre. A client has one for all its persons, so that the work of one
/// person ends before that of the next begins.
final class NotificationCenterWorker: Sendable {
    /// Who asks: what the queue goes by, and who hears of the end.
    struct Requester: Sendable {
        var group: AppGroup?
        /// Tells this process's claims in the ledger from an earlier one's.
        var process: UInt64
        var clock: any ClientClock
        var position: @Sendable (MessageID) -> LogPosition?
        var groupFailed: @Sendable (any Error) -> Void
        var finish: @Sendable (NotificationCenterQueue.Answer?) -> Void
    }

    private struct State {
        var queue = NotificationCenterQueue()
        var host: (any KitHost)?
        var donates = false
        var last: NotificationCenterQueue.Number = 0
        var requesters: [NotificationCenterQueue.Number: Requester] = [:]
    }

    /// Held over the app group's lock, so that events are heard one after the other.
    private let state = Locked(State())

    /// - Parameter donates: whether messages are donated to the system.
    func setHost(_ host: (any KitHost)?, donates: Bool) {
        self.state.withLock { ($0.host, $0.donates) = (host, donates) }
    }

    func request(_ work: NotificationCenterQueue.Work, for requester: Requester) {
        let number = self.state.withLock { state in
            state.last += 1
            state.requesters[state.last] = requester
            return state.last
        }
        self.handle(.requested(work, number), of: number, usesGroup: work.usesGroup)
    }

    private func handle(
        _ event: NotificationCenterQueue.Event, of number: NotificationCenterQueue.Number, usesGroup: Bool = true
    ) {
        guard let requester = self.state.withLock({ $0.requesters[number] }) else { return }
        let (effects, host, failure) = self.state.withLock {
            state -> ([NotificationCenterQueue.Effect], (any KitHost)?, (any Error)?) in
            let facts = NotificationCenterQueue.Facts(
                process: requester.process, major: state.host?.major ?? 0, wall: requester.clock.now.wall,
                hasGroup: requester.group != nil, donates: state.donates, position: requester.position)
            let before = state.queue
            var effects: [NotificationCenterQueue.Effect] = []
            let heard = Result {
                try (usesGroup ? requester.group : nil).map { group in
                    try group.update { contents in
                        var queue = before
                        var shared: AppGroup.Contents? = contents
                        // Put back below; two references would make each change of it a copy.
                        contents.ledger = Ledger()
                        queue.handle(event, group: &shared, facts: facts, into: &effects)
                        if let shared { contents = shared }
                        return queue
                    }
                }
            }
            if case .success(let queue?) = heard {
                state.queue = queue
                return (effects, state.host, nil)
            }
            // Nothing was written, so nothing may have been decided with it.
            effects = []
            var none: AppGroup.Contents?
            state.queue.handle(event, group: &none, facts: facts, into: &effects)
            if case .failure(let error) = heard { return (effects, state.host, error) }
            return (effects, state.host, nil)
        }
        if let failure { requester.groupFailed(failure) }
        for effect in effects { self.carryOut(effect, on: host) }
    }

    /// Without a kit there is no notification centre to work at: the list is empty, and nothing is taken.
    private func carryOut(_ effect: NotificationCenterQueue.Effect, on host: (any KitHost)?) {
        switch effect {
        case .list(let number):
            Task { self.handle(.listed(await host?.deliveredNotifications() ?? [], number), of: number) }
        case .removeScheduledAndList(let number):
            Task {
                await host?.removeScheduledNotifications()
                self.handle(.listed(await host?.deliveredNotifications() ?? [], number), of: number)
            }
        case .post(let notification, let badge, let number):
            Task {
                let result = await host?.post(notification, badge: badge) ?? .failed
                self.handle(.posted(result, number), of: number)
            }
        case .remove(let identifiers): host?.removeDeliveredNotifications(identifiers)
        case .showBadge(let badge, let number):
            Task {
                await host?.showBadge(badge)
                self.handle(.badgeShown(number), of: number)
            }
        case .showBadgeBeforeReturning(let badge): host?.showBadgeNow(badge)
        case .donate(let form): host?.donate(form)
        case .deleteDonations(let scope): host?.deleteDonations(scope)
        case .finish(let number, let answer):
            self.state.withLock { $0.requesters.removeValue(forKey: number) }?.finish(answer)
        }
    }
}
