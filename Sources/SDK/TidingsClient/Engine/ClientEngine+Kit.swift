import ClientCore
import Foundation
import TidingsAppGroup

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
                let outcome = try self.store.carryOut(.takeCustomMessages(wall: wall))
                guard case .custom(let messages) = outcome else { return }
                for message in messages { self.parts.outlets.customMessage(message) }
            }
        case .publishProblem(let problem): self.parts.outlets.problem(problem)
        default: break
        }
    }

    /// Without a host nothing is answered, and the core's limit decides.
    func asking(_ question: @escaping @Sendable (any KitHost) async -> ClientEvent) {
        guard let host = self.shared.withLock({ $0.host }) else { return }
        Task { self.post(await question(host)) }
    }

    func requestCenterWork(_ work: NotificationCenterQueue.Work) {
        self.parts.center.request(
            work,
            for: self.centerRequester { answer in
                if case .client(let event)? = answer { self.post(event) }
            })
    }

    func centerRequester(
        finish: @escaping @Sendable (NotificationCenterQueue.Answer?) -> Void
    ) -> NotificationCenterWorker.Requester {
        let store = self.store
        let outlets = self.parts.outlets
        return NotificationCenterWorker.Requester(
            group: self.parts.group, process: self.parts.processNumber, clock: self.parts.clock,
            position: { id in (try? store.ask { try $0.position(of: id) }) ?? nil },
            groupFailed: { outlets.problem(.storeFault(reason: "\($0)")) }, finish: finish)
    }

    func readDeviceStatus() {
        guard let host = self.shared.withLock({ $0.host }) else { return }
        Task {
            guard let status = await host.deviceStatus() else { return }
            let filters = (try? self.parts.group?.update { $0.extensionFilters }) ?? false
            self.post(.deviceStatusRead(status, extensionFilters: filters))
        }
    }

    /// With the token in the keychain the file does not have it. A token that cannot be kept costs receipts and
    /// missed messages only.
    func storeRecipient(_ recipient: Recipient) {
        self.shared.withLock { $0.recipientTag = recipient.tag }
        let isKeptApart = self.parts.tokens != nil
        self.keepToken(recipient.extensionToken)
        self.withGroup { contents in
            contents.recipient = recipient
            if isKeptApart { contents.recipient?.extensionToken = "" }
        }
    }

    func forgetPerson() {
        self.storing { try self.store.forgetAll() }
        self.keepToken(nil)
        self.withGroup { $0.forgetPerson(words: self.parts.words) }
    }

    private func keepToken(_ token: String?) {
        do {
            try self.parts.tokens?.write(token)
        } catch {
            self.parts.outlets.problem(.storeFault(reason: "\(error)"))
        }
    }

    /// For the moment before the process ends (S2.17).
    func writeBadgeNow() {
        let count = try? self.store.ask { (unread: try $0.counts().unread, position: try $0.rows.log.stored) }
        guard let count else { return }
        self.requestCenterWork(.countAtTermination(unread: count.unread, position: count.position))
    }
}
