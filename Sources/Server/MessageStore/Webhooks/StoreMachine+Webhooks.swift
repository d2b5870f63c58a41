import Foundation
import StoreMachine
import StoreModel
import TidingsModel

/// The journal reader's knowledge of a webhook, as of the place it has reached.
struct KnownWebhook: Hashable, Sendable {
    var kinds: Set<WebhookEventKind>
    var isEnabled: Bool
}

typealias KnownWebhooks = [AppID: [String: KnownWebhook]]

/// Something that happened, and which of the app's webhooks are told.
struct WebhookOccurrence: Hashable, Sendable {
    var position: JournalPosition
    /// Within its record.
    var number: Int
    var app: AppID
    var kind: WebhookEventKind
    /// Wall milliseconds.
    var at: Int64
    var data: JSONValue
    /// Sorted.
    var webhooks: [String]
}

struct WebhookPage: Sendable {
    var occurrences: [WebhookOccurrence] = []
    var known: KnownWebhooks
    var place: JournalPlace
    /// The place that was held is none of this store, which was restored or is another one: this one is its end.
    var isAnew = false
}

// What webhooks are told is read here and kept elsewhere, as what the search index is made of: nothing of the store depends on it.
extension StoreMachine {
    /// Returns the webhooks' events of the next records. Where no app has a webhook, and where there is no place of this store, the place
    /// is the end of the journal, and nothing is read.
    /// - Parameter now: of what the journal has no time of.
    func webhookPage(
        after held: JournalPlace?, knowing known: KnownWebhooks, now: Int64,
        recordsMax: Int = 500, seconds: TimeInterval = 0.005
    ) throws -> WebhookPage {
        let present = Self.known(self.control.apps)
        guard let held, self.isOwn(held), !present.isEmpty || !known.isEmpty else {
            return WebhookPage(
                known: present, place: self.place(at: self.next - 1),
                isAnew: held.map { !self.isOwn($0) } ?? !present.isEmpty)
        }
        var page = WebhookPage(known: known, place: held)
        let deadline = TimeInterval.uptime + seconds
        page.place = self.place(
            at: try self.readRecords(
                after: held.position, upTo: recordsMax, isEnough: { TimeInterval.uptime >= deadline },
                { try self.addOccurrence(of: $0, at: $1, now, to: &page) },
                skip: { self.noteUntold($0, $1) }))
        return page
    }

    private static func known(_ apps: [ManagedApp]) -> KnownWebhooks {
        var known: KnownWebhooks = [:]
        for app in apps where !app.webhooks.isEmpty { known[app.id] = Self.known(app) }
        return known
    }

    private static func known(_ app: ManagedApp) -> [String: KnownWebhook] {
        Dictionary(
            uniqueKeysWithValues: app.webhooks.map {
                ($0.id, KnownWebhook(kinds: Set($0.kinds), isEnabled: $0.isEnabled))
            })
    }

    private func addOccurrence(
        of record: JournalRecord, at position: JournalPosition, _ now: Int64, to page: inout WebhookPage
    ) throws {
        // From here on webhooks are as this record says: what comes after it is told, what was before it is not.
        if case .control(let entry) = record, case .app(let app)? = entry.record {
            page.known[app.id] = app.webhooks.isEmpty ? nil : Self.known(app)
            return
        }
        guard let (app, kind) = record.webhookKind, let webhooks = page.known[app] else { return }
        let told = webhooks.filter { $0.value.isEnabled && $0.value.kinds.contains(kind) }.keys.sorted()
        guard !told.isEmpty, let (at, data) = try self.webhookData(of: record) else { return }
        page.occurrences.append(
            WebhookOccurrence(
                position: position, number: 0, app: app, kind: kind, at: at ?? now, data: data.json, webhooks: told))
    }

    /// Returns the data as the event stream has them, as far as the journal does. No time where it has none; nil for a record not told.
    private func webhookData(of record: JournalRecord) throws -> (at: Int64?, JSONMembers)? {
        switch record {
        case .accept(let message, _, _, _, _):
            return (
                message.sentAt,
                [
                    "message_id": message.id, "kind": "message", "sender": message.sender,
                    "conversation": message.conversation, "object_name": message.objectName,
                    "object_type": message.objectName.word,
                ]
            )
        case .custom(let operation):
            let message = operation.message
            return (
                message.sentAt,
                ["message_id": message.id, "kind": "custom", "recipients": operation.recipients.count]
            )
        case .edit(_, let edit, _): return (edit.at, ["message_id": edit.message, "conversation": edit.conversation])
        case .recall(_, let recall, let accepted):
            // Of a push that is taken back: it is told once, as the push.
            if case .pushStep = try self.record(at: accepted) { return nil }
            return (
                recall.at,
                [
                    "message_id": recall.message, "recall": recall.id, "sender": recall.sender,
                    "conversation": recall.conversation,
                ]
            )
        case .endLeg(let ended):
            return (ended.at, ended.leg.told + ["end": ended.end.name, "detail": ended.end.detail])
        case .receipt(let leg, let receipt, let at, _): return (at, leg.told + ["receipt": receipt])
        case .signIn(let device): return (device.signedInAt, device.key.told + ["platform": device.platform])
        case .signOut(let key): return (nil, key.told)
        case .push(let job): return (job.createdAt, Self.told(job.id, job.state))
        case .pushChange(let change): return (change.changedAt, Self.told(change.job, change.state))
        case .pushStep(let step): return (step.at, Self.told(step.job, try self.state(after: step)))
        case .putConversation, .change, .delete, .conversationSettings, .personSettings, .blocked, .setPushState,
            .deviceStatus, .setVoIPToken, .advance, .markRead, .keepLeg, .objectNames, .userAccount, .profile,
            .account, .following, .control, .labels, .lost:
            return nil
        }
    }

    private static func told(_ push: PushJobID, _ state: PushJob.State) -> JSONMembers {
        ["push": push, "push_state": state]
    }

    /// Returns the state after the last step of a pass.
    private func state(after step: PushStepRecord) throws -> PushJob.State {
        guard let job = try self.push(step.job, of: step.app)?.job, job.localTime != nil else { return .done }
        switch job.state {
        case .done, .recalling, .recalled: return job.isAtLastPass ? .done : .scheduled
        // It went on to another pass, also where that was missed or cancelled by now.
        case .scheduled, .running, .missed, .cancelled: return .scheduled
        }
    }

    private func noteUntold(_ position: JournalPosition, _ damage: UnreadableRow) {
        self.noteOnce(.untold(position, damage), as: "webhooks of record \(position)")
    }
}

extension JournalRecord {
    /// Nil for what no webhook is told.
    fileprivate var webhookKind: (AppID, WebhookEventKind)? {
        switch self {
        case .accept(let message, _, _, _, _): (message.app, .messageAccepted)
        case .custom(let operation): (operation.app, .messageAccepted)
        case .recall(let app, _, _): (app, .messageRecalled)
        case .edit(let app, _, _): (app, .messageEdited)
        case .endLeg(let ended): (ended.leg.user.app, .legEnded)
        case .receipt(let leg, _, _, _): (leg.user.app, .receipt)
        case .signIn(let device): device.isNew ? (device.key.user.app, .deviceSignedIn) : nil
        case .signOut(let key): (key.user.app, .deviceSignedOut)
        case .push(let job): (job.app, .pushJob)
        // A recall that goes on writes its state again and again, and a pass that is missed writes that of before.
        case .pushChange(let change):
            change.state == .scheduled || (change.state == .recalling && change.cursor > 0)
                ? nil : (change.app, .pushJob)
        // The messages of a push are told as the push, not one by one.
        case .pushStep(let step): step.isLast ? (step.app, .pushJob) : nil
        case .putConversation, .change, .delete, .conversationSettings, .personSettings, .blocked, .setPushState,
            .deviceStatus, .setVoIPToken, .advance, .markRead, .keepLeg, .objectNames, .userAccount, .profile,
            .account, .following, .control, .labels, .lost:
            nil
        }
    }
}

extension DeviceRecord {
    /// It was unknown, or had signed out; a device that connects once more before anything has happened looks the same.
    fileprivate var isNew: Bool {
        self.push == .none && self.voIP == nil && self.status == nil && self.settled == self.since
            && self.decided == self.since
    }
}
