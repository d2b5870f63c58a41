import Foundation
import Logging
import StoreModel
import TidingsModel

/// What the reader of the journal knows of a webhook, as of the place it has reached.
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
extension StoreEngine {
    /// What webhooks are told of the next records. Where no app has a webhook, and where there is no place of this store, it is the end of the
    /// journal, and nothing is read.
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
        page.place = self.place(
            at: try self.readRecords(
                after: held.position, upTo: recordsMax, for: seconds, isEnough: { false },
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
                position: position, number: 0, app: app, kind: kind, at: at ?? now, data: data, webhooks: told))
    }

    /// As the event stream tells it, but for what the journal does not have. No time where the journal has none; nil for what is not told.
    private func webhookData(of record: JournalRecord) throws -> (at: Int64?, JSONValue)? {
        switch record {
        case .accept(let message, _, _, _, _):
            return (
                message.sentAt,
                [
                    "message_id": .string(message.id.description), "kind": "message",
                    "sender": .string(message.sender.rawValue), "conversation": message.conversation.told,
                    "object_name": .string(message.objectName.rawValue),
                ]
            )
        case .custom(let operation):
            return (
                operation.message.sentAt,
                [
                    "message_id": .string(operation.message.id.description), "kind": "custom",
                    "recipients": .int(operation.recipients.count),
                ]
            )
        case .edit(_, let edit, _):
            return (
                edit.at,
                ["message_id": .string(edit.message.description), "conversation": edit.conversation.told]
            )
        case .recall(_, let recall, let accepted):
            // Of a push that is taken back: it is told once, as the push.
            if case .pushStep = try self.record(at: accepted) { return nil }
            return (
                recall.at,
                [
                    "message_id": .string(recall.message.description), "recall": .string(recall.id.description),
                    "sender": .string(recall.sender.rawValue), "conversation": recall.conversation.told,
                ]
            )
        case .endLeg(let ended):
            return (
                ended.at,
                .members(
                    ended.leg.told + [("end", .string(ended.end.name)), ("detail", .optional(ended.end.detail))])
            )
        case .receipt(let leg, let receipt, let at, _):
            return (at, .members(leg.told + [("receipt", .string(receipt.rawValue))]))
        case .signIn(let device):
            return (device.signedInAt, .members(device.key.told + [("platform", .string(device.platform))]))
        case .signOut(let key): return (nil, .members(key.told))
        case .push(let job): return (job.createdAt, Self.told(job.id, job.state))
        case .pushChange(let change): return (change.changedAt, Self.told(change.job, change.state))
        case .pushStep(let step): return (step.at, Self.told(step.job, try self.state(after: step)))
        case .putConversation, .change, .delete, .conversationSettings, .personSettings, .blocked, .setPushState,
            .deviceStatus, .setVoIPToken, .advance, .markRead, .keepLeg, .objectNames, .userAccount, .profile,
            .account, .following, .control, .labels, .lost:
            return nil
        }
    }

    private static func told(_ push: PushJobID, _ state: PushJob.State) -> JSONValue {
        ["push": .string(push.description), "push_state": .string(state.rawValue)]
    }

    /// Of the last step of a pass.
    private func state(after step: PushStepRecord) throws -> PushJob.State {
        guard let job = try self.push(step.job, of: step.app)?.job, job.localTime != nil else { return .done }
        return job.isAtLastPass && !job.state.isUnfinished ? .done : .scheduled
    }

    private func noteUntold(_ position: JournalPosition, _ damage: UnreadableRow) {
        guard self.notedDamage.insert("webhooks of record \(position)").inserted else { return }
        self.logger.error(
            "webhooks are not told of a record", metadata: ["record": "\(position)", "error": "\(damage)"])
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
        // A recall that goes on writes its state again and again.
        case .pushChange(let change):
            change.state == .recalling && change.cursor > 0 ? nil : (change.app, .pushJob)
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

extension ConversationID {
    fileprivate var told: JSONValue { ["type": .string(self.type.rawValue), "target": .string(self.target)] }
}

extension LegID {
    fileprivate var told: [(String, JSONValue)] {
        [
            ("message_id", .string(self.message.description)), ("user", .string(self.user.user.rawValue)),
            ("device", .optional(self.device?.rawValue)),
        ]
    }
}

extension DeviceKey {
    fileprivate var told: [(String, JSONValue)] {
        [("user", .string(self.user.user.rawValue)), ("device", .string(self.device.rawValue))]
    }
}
