import ClientCore
import PhoneCore
import TidingsModel

// The SDK in the service extension.
extension Stage {
    /// The extension's decision (DESIGN P3, §7 "Extension").
    mutating func extendedBySDK(_ request: NotificationRequest, in process: ProcessID) -> NotificationContent {
        var content = request.content
        guard var sdk = self.app.sdk else { return content }
        let canRead = self.core.screen.lock != .beforeFirstUnlock
        let signIn: ExtensionDecision.SignIn =
            canRead ? sdk.recipient.map { .signedIn(recipientTag: $0.tag) } ?? .signedOut : .unknown
        let isDelivered = self.core.screen.list.contains { $0.key.identifier == request.identifier }
        var badge = canRead ? sdk.badge : nil
        let facts = ExtensionDecision.Facts(
            signIn: signIn, isDelivered: isDelivered, position: sdk.recipient?.position,
            showsContent: sdk.setup.kit.showsContent,
            isFilteringEntitled: ExtensionDecision.mayFilter(
                isEntitled: self.app.setup.installed.hasFilteringEntitlement,
                version: self.setup.phone.version.description),
            canFetch: sdk.canFetch)
        let changes = ExtensionDecision.changes(
            userInfo: .object(content.userInfo), facts: facts, ledger: &sdk.ledger, badge: &badge, wall: self.now.wall)
        if canRead {
            sdk.badge = badge
            if let reached = changes?.reached { sdk.recipient?.position = reached }
        }
        self.app.sdk = sdk
        guard let changes else { return content }
        if !changes.removed.isEmpty {
            self.follow(.process(process, .deliveredRemoved(identifiers: changes.removed.map(\.description))))
        }
        if let fetch = changes.fetch { self.fetchMissed(fetch, pushRings: changes.reason == .rings, in: process) }
        if let receipt = changes.receipt, sdk.canFetch { self.receipt(of: receipt) }
        if changes.isDiscarded { return NotificationContent(badge: changes.badge) }
        content.badge = changes.badge ?? content.badge
        content.title = changes.title ?? content.title
        content.body = changes.body ?? content.body
        if changes.isSilent {
            content.sound = nil
            content.interruptionLevel = .passive
        }
        if changes.isStripped {
            content.title = ""
            content.subtitle = ""
            content.badge = nil
            content.userInfo = ExtensionDecision.strippedUserInfo.objectValue ?? JSONObject()
            content.threadIdentifier = ""
            content.categoryIdentifier = ""
        }
        return content
    }

    private mutating func receipt(of message: MessageID) {
        let label = self.app.sdk?.labels[message] ?? message.description
        self.trace.told(server: "receipt of \(label)", at: self.now.monotonic)
    }

    /// Posts what APNs has overwritten, before the push itself is shown (DESIGN §5 "Keep-one").
    private mutating func fetchMissed(_ fetch: MissedFetch, pushRings: Bool, in process: ProcessID) {
        guard var sdk = self.app.sdk else { return }
        self.trace.told(server: "asks for \(fetch.limit) after \(fetch.after)", at: self.now.monotonic)
        let answer = sdk.missed(fetch)
        let delivered = Set(self.core.screen.list.compactMap { MessageID($0.key.identifier) })
        let posts = MissedDecision.posts(
            answer, fetch, showsContent: sdk.setup.kit.showsContent, pushRings: pushRings, delivered: delivered,
            ledger: &sdk.ledger, wall: self.now.wall)
        for post in posts { sdk.ledger.markShown(post.message.message, by: .pushExtension, wall: self.now.wall) }
        if let known = sdk.recipient?.position { sdk.recipient?.position = max(known, fetch.before) }
        self.app.sdk = sdk
        let removed = MissedDecision.removed(answer).map(\.description)
        if !removed.isEmpty { self.follow(.process(process, .deliveredRemoved(identifiers: removed))) }
        for post in posts {
            let message = post.message
            var content = NotificationContent(
                title: message.text.title ?? "", body: message.text.body, sound: post.isSilent ? nil : .standard,
                userInfo: message.userInfo(recipientTag: sdk.recipient?.tag ?? "").objectValue ?? JSONObject(),
                threadIdentifier: message.conversation.description)
            if post.isSilent { content.interruptionLevel = .passive }
            _ = self.ask(
                .add(NotificationRequest(identifier: message.message.description, content: content)), of: process)
            self.receipt(of: message.message)
        }
    }
}

extension SDKHost {
    /// Whether the extension reaches the small server.
    var canFetch: Bool { self.setup.fetchesMissed && !self.isOffline }

    /// The server's answer to `GET /v1/extension/missed`: the log as the person sees it.
    fileprivate func missed(_ fetch: MissedFetch) -> JSONValue {
        let entries = self.log.filter { $0.position > fetch.after }.prefix(fetch.limit)
        let answer = entries.map { entry -> JSONValue in
            switch entry.body {
            case .message(let message): self.missed(message, at: entry.position)
            case .recall(let recall):
                ["position": .int(entry.position), "recall": .string(recall.message.description)]
            case .read, .custom, .edit, .deletion, .conversationSettings, .personSettings, .blocked, .change, .unknown:
                ["position": .int(entry.position)]
            }
        }
        return ["entries": .array(answer)]
    }

    private func missed(_ message: Message, at position: LogPosition) -> JSONValue {
        let conversation = message.conversation(seenBy: self.setup.person)
        let isWithdrawn = self.log.contains { later in
            switch later.body {
            case .recall(let recall): recall.message == message.id
            case .read(conversation, let upTo): upTo >= position
            case .message, .read, .custom, .edit, .deletion, .conversationSettings, .personSettings, .blocked, .change,
                .unknown:
                false
            }
        }
        let isPushed =
            message.flags.contains(.notified) && message.flags.contains(.stored)
            && message.sender != self.setup.person && conversation.type != .chatRoom
        let payload = try? NotificationPayload(message: message, seenBy: self.setup.person, at: position)
        return [
            "position": .int(position), "message_id": .string(message.id.description),
            "rings": .bool(isPushed && !isWithdrawn), "sender": .string(message.sender.rawValue),
            "text": PushInfo.Text(title: conversation.target, body: Gate.text(message)).dictionary,
            NotificationPayload.key: payload.map { .object($0.dictionary) } ?? .null,
        ]
    }
}
