import ClientCore
import Foundation
import TidingsAppGroup
import TidingsModel

// The effects that need the kit, the app group, or the app's streams.
extension ClientEngine {
    func publish(_ effect: ClientEffect) {
        switch effect {
        case .publishStatus(let status):
            if case .waiting(_, let reason) = status { self.shared.withLock { $0.lastReason = reason } }
            self.parts.outlets.status(status)
        case .publishRunState(let state): self.parts.outlets.runState(state)
        case .publishEntries(let entries): self.parts.outlets.entries(entries)
        case .publishSignal(let signal): self.parts.outlets.signal(signal)
        case .handOverCustomMessages(let wall):
            self.storing {
                for message in try self.store.takeCustomMessages(wall: wall) {
                    self.parts.outlets.customMessage(message)
                }
            }
        case .publishProblem(let problem): self.parts.outlets.problem(problem)
        default: break
        }
    }

    /// Asks the host in a task of its own; without a host nothing is answered, and the core's limit decides.
    func asking(_ question: @escaping @Sendable (any KitHost) async -> ClientEvent) {
        guard let host = self.shared.withLock({ $0.host }) else { return }
        Task { self.post(await question(host)) }
    }

    /// Works on the notification centre or the badge, in the order of the effects; the core hears when it is done.
    func tidying(_ work: @escaping @Sendable (any KitHost) async -> Void) {
        guard let host = self.shared.withLock({ $0.host }) else { return self.post(.notificationWorkDone) }
        self.afterTidying {
            await work(host)
            self.post(.notificationWorkDone)
        }
    }

    /// Begins when what was begun before has ended.
    private func afterTidying(_ work: @escaping @Sendable () async -> Void) {
        self.shared.withLock { shared in
            let before = shared.tidying
            shared.tidying = Task {
                await before?.value
                await work()
            }
        }
    }

    /// The delivered list is looked at before the ledger: a push that came while there was no connection is there, also where no
    /// extension ran that could have said so.
    func claim(_ id: MessageID) {
        let holder = Ledger.Holder.kit(process: self.parts.processNumber)
        let clock = self.parts.clock
        self.asking { host in
            let isDelivered = await host.deliveredIdentifiers().contains(id.description)
            // Without an app group there is no extension to race with.
            guard self.parts.group != nil else { return .ringClaimed(id, isDelivered ? .alreadyShown : .granted) }
            let verdict = self.withGroup {
                $0.ledger.claim(id, by: holder, isDelivered: isDelivered, wall: clock.now.wall)
            }
            return verdict.map { .ringClaimed(id, $0) } ?? .ringClaimFailed(id)
        }
    }

    func markShown(_ id: MessageID) {
        let holder = Ledger.Holder.kit(process: self.parts.processNumber)
        let wall = self.parts.clock.now.wall
        self.withGroup { $0.ledger.markShown(id, by: holder, wall: wall) }
    }

    func markRecalled(_ id: MessageID) {
        let holder = Ledger.Holder.kit(process: self.parts.processNumber)
        let wall = self.parts.clock.now.wall
        self.withGroup { $0.ledger.markRecalled(id, by: holder, wall: wall) }
    }

    func postNotification(_ notification: LocalNotification) {
        let badge = self.withGroup { $0.countPosted(notification) } ?? nil
        guard let host = self.shared.withLock({ $0.host }) else { return }
        // In the order of the effects, like all that writes the icon: otherwise an older number could stay there.
        self.afterTidying {
            let end = await host.post(notification, badge: badge)
            if let badge, let stored = self.storedBadge, stored != badge { await self.showBadge(stored, on: host) }
            self.post(.notificationPosted(notification.message, end))
        }
    }

    func recall(_ id: MessageID, _ replacement: LocalNotification?) {
        let badge = replacement.flatMap { replacement in self.withGroup { $0.countPosted(replacement) } ?? nil }
        self.tidying { host in await host.recall(id, replacement: replacement, badge: badge) }
    }

    func clearNotifications(_ conversation: ConversationID, upTo position: LogPosition) {
        let store = self.store
        self.tidying { host in
            await host.clearNotifications(conversation, upTo: position) { (try? store.position(of: $0)) ?? nil }
        }
    }

    /// The person has left: nothing of theirs may stay in the notification centre, where the next one could answer it.
    func clearAllNotifications() {
        guard let host = self.shared.withLock({ $0.host }) else { return }
        self.afterTidying {
            await host.showBadge(0)
            await host.clearAllNotifications()
        }
    }

    func readDeviceStatus() {
        guard let host = self.shared.withLock({ $0.host }) else { return }
        Task { if let status = await host.deviceStatus() { self.post(.deviceStatusRead(status)) } }
    }

    /// Where the token lies in the keychain the file says nothing of it; one that cannot be kept costs receipts and missed
    /// messages, nothing else.
    func storeRecipient(_ recipient: Recipient) {
        self.shared.withLock { $0.recipientTag = recipient.tag }
        let isKeptApart = self.parts.tokens != nil
        self.keep(recipient.extensionToken)
        self.withGroup { contents in
            contents.recipient = recipient
            if isKeptApart { contents.recipient?.extensionToken = "" }
        }
    }

    func forgetPerson() {
        self.storing { try self.store.forgetAll() }
        self.keep(nil)
        self.withGroup { $0.forgetPerson(words: self.parts.words) }
        self.clearAllNotifications()
    }

    private func keep(_ token: String?) {
        do {
            try self.parts.tokens?.write(token)
        } catch {
            self.parts.outlets.problem(.storeFault(reason: "\(error)"))
        }
    }

    /// Without a stored badge nothing is changed (S2.20).
    func lowerBadge(unread: Int, position: LogPosition) {
        let number = self.withGroup { $0.countUnread(unread, at: position) } ?? nil
        self.tidying { host in if let number { await self.showBadge(number, on: host) } }
    }

    /// Shows what the app group says when its turn has come, and again while that is something else afterwards: an
    /// extension counts its push and has its number shown by the system at any time, and this one must not stay over it.
    ///
    /// - Parameter number: what to show where there is no app group.
    private func showBadge(_ number: Int, on host: any KitHost) async {
        var number = number
        for _ in 0..<4 {
            number = self.storedBadge ?? number
            await host.showBadge(number)
            if self.storedBadge ?? number == number { return }
        }
    }

    /// Shows a number a push has told, after what was begun before.
    func showPushedBadge(_ number: Int) async {
        guard let host = self.shared.withLock({ $0.host }) else { return }
        await withCheckedContinuation { continuation in
            self.afterTidying {
                await self.showBadge(number, on: host)
                continuation.resume()
            }
        }
    }

    private var storedBadge: Int? {
        self.withGroup { $0.badge?.shown } ?? nil
    }

    /// Counts and writes the badge before it returns: for the moment before the process ends (S2.17).
    func writeBadgeNow() {
        guard let count = try? self.store.count() else { return }
        let number = self.resignedBadge(unread: count.unread, position: count.stored)
        self.shared.withLock { $0.host }?.showBadgeNow(number)
    }

    func writeBadge(unread: Int, position: LogPosition) {
        let number = self.resignedBadge(unread: unread, position: position)
        self.tidying { host in await self.showBadge(number, on: host) }
    }

    /// Writes the badge as of resigning active; returns what the icon is to show.
    private func resignedBadge(unread: Int, position: LogPosition) -> Int {
        self.withGroup { $0.countResigned(unread: unread, at: position) } ?? unread
    }

    /// After a start: claims of an earlier process are settled by looking at the delivered list (DESIGN P3).
    func recoverLedger() {
        let process = self.parts.processNumber
        let clock = self.parts.clock
        let open = self.withGroup { $0.ledger.unsettled(process: process, wall: clock.now.wall) } ?? []
        guard !open.isEmpty, let host = self.shared.withLock({ $0.host }) else { return }
        Task {
            let delivered = Set(await host.deliveredIdentifiers().compactMap { MessageID($0) })
            self.withGroup { $0.ledger.recover(delivered: delivered, process: process, wall: clock.now.wall) }
        }
    }
}
