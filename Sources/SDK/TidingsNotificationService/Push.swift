import ClientCore
import Foundation
import TidingsAppGroup
import TidingsModel
import UserNotifications

/// One push and everything it is decided with. Carries decisions out and takes none.
struct Push: Sendable {
    let identifier: String
    let userInfo: JSONValue
    let group: AppGroup
    let surroundings: NotificationServiceHandler.Surroundings
    let options: NotificationServiceHandler.Options
    /// Whether nothing at all may be shown of it.
    let mayFilter: Bool

    /// Where the server is, and what opens it.
    struct API: Sendable {
        var url: URL
        var token: String
    }

    /// What was decided, and what the app group said then.
    struct Decision: Sendable {
        var changes: ExtensionDecision.Changes
        var api: API?
        var settings: SharedSettings
    }

    /// What a look at the app group led to.
    enum Verdict: Sendable {
        case decided(Decision)
        /// The delivered list has to be looked at first.
        case lookAtDelivered
        /// The app group cannot be read or written: nothing is changed (S2.20).
        case unreadable
    }

    /// How long a fetch and the receipts may take, in seconds. The receipts hold the notification up, so that is short.
    private static let fetchSeconds = 8.0
    private static let receiptSeconds = 1.5

    func decide(isDelivered: Bool?) -> Verdict {
        let wall = self.surroundings.wall()
        // Not under the lock: the keychain is another process.
        let kept = self.surroundings.tokens?.read()
        let decided = Result {
            try self.group.update { contents -> Decision? in
                let api = self.api(contents, kept: kept)
                let facts = ExtensionDecision.Facts(
                    signIn: contents.signIn, isDelivered: isDelivered, position: contents.recipient?.position,
                    showsContent: contents.settings.showsContent, isFilteringEntitled: self.mayFilter,
                    canFetch: api != nil, names: self.names(contents.settings))
                let changes = ExtensionDecision.changes(
                    userInfo: self.userInfo, facts: facts, ledger: &contents.ledger, badge: &contents.badge,
                    isRecall: self.options.isRecall, wall: wall)
                guard let changes else { return nil }
                if let reached = changes.reached { contents.recipient?.position = reached }
                return Decision(changes: changes, api: api, settings: contents.settings)
            }
        }
        switch decided {
        case .success(let decision?): return .decided(decision)
        case .success(nil): return .lookAtDelivered
        case .failure: return .unreadable
        }
    }

    /// How long the app's claim of the message still counts, in milliseconds; nil if nothing has to be waited for.
    func waitForApp() -> Int64? {
        let wall = self.surroundings.wall()
        let wait = try? self.group.update {
            ExtensionDecision.wait(
                userInfo: self.userInfo, signIn: $0.signIn, ledger: $0.ledger, wall: wall)
        }
        return wait
    }

    /// - Parameter kept: the token that lies outside the app group; the file's own is empty then.
    private func api(_ contents: AppGroup.Contents, kept: String?) -> API? {
        guard let noted = contents.recipient?.extensionToken,
            let token = noted.isEmpty ? kept : noted, !token.isEmpty,
            let url = self.options.apiURL ?? contents.settings.apiURL.flatMap({ URL(string: $0) })
        else { return nil }
        return API(url: url, token: token)
    }

    private func names(_ settings: SharedSettings) -> KnownNames {
        (try? NotificationPayload(userInfo: self.userInfo)).map { settings.names(of: $0) } ?? KnownNames()
    }

    /// Whether the message's notification is in the delivered list.
    func isDelivered() async -> Bool {
        let identifier = PushInfo(userInfo: self.userInfo)?.message.description ?? self.identifier
        return await UNUserNotificationCenter.current().deliveredNotifications()
            .contains { $0.request.identifier == identifier }
    }

    /// Takes notifications out of the notification centre (S2.22).
    func remove(_ messages: [MessageID]) {
        guard !messages.isEmpty else { return }
        UNUserNotificationCenter.current().removeDeliveredNotifications(withIdentifiers: messages.map(\.description))
    }

    /// What is answered in the end: the best content, unless the message was withdrawn, the person has signed out or a newer
    /// number is known since the decision. What cannot be read changes nothing.
    func answer(
        _ decision: Decision, from original: UNNotificationContent, best: UNNotificationContent
    ) -> UNNotificationContent {
        let last = try? self.group.update { contents in
            ExtensionDecision.answer(
                decision.changes, userInfo: self.userInfo,
                facts: .init(signIn: contents.signIn, isFilteringEntitled: self.mayFilter), ledger: contents.ledger,
                badge: contents.badge)
        }
        guard let last, last != decision.changes else { return best }
        guard last.reason == decision.changes.reason else {
            return self.content(Decision(changes: last, settings: decision.settings), from: original)
        }
        guard let badge = last.badge, let content = best.mutableCopy() as? UNMutableNotificationContent else {
            return best
        }
        content.badge = NSNumber(value: badge)
        return content
    }

    /// The content as it was decided.
    func content(_ decision: Decision, from original: UNNotificationContent) -> UNNotificationContent {
        let changes = decision.changes
        guard let content = original.mutableCopy() as? UNMutableNotificationContent else { return original }
        if changes.isStripped {
            content.title = ""
            content.subtitle = ""
            content.badge = nil
            content.userInfo = ExtensionDecision.strippedUserInfo.userInfo
            content.attachments = []
            // Neither whom it is about, nor an action that would answer them.
            content.threadIdentifier = ""
            content.categoryIdentifier = ""
        } else if let bare = self.userInfo.withoutPushText {
            content.userInfo = bare.userInfo
        }
        if let badge = changes.badge { content.badge = NSNumber(value: badge) }
        if let title = changes.title { content.title = title }
        if let body = changes.body { content.body = body }
        if changes.isSilent {
            content.sound = nil
            content.interruptionLevel = .passive
        }
        if changes.isDiscarded {
            // A badge on otherwise empty content is still applied (ios-delivery.md §10).
            let nothing = UNMutableNotificationContent()
            nothing.badge = content.badge
            return nothing
        }
        guard self.options.usesCommunicationNotifications, changes.reason == .rings, changes.body != nil,
            let payload = try? NotificationPayload(userInfo: self.userInfo)
        else { return content }
        let body = PushInfo(userInfo: self.userInfo)?.text?.body
        return CommunicationNotification.content(
            from: content, payload: payload, names: self.names(decision.settings), body: body) ?? content
    }

    /// Tells the server that messages are shown, all of them in one request: the notification waits for it. What does not get
    /// through is not repeated: the legs have ended already.
    func report(_ messages: [MessageID], to api: API) async {
        guard let first = messages.first else { return }
        let ids: (String, JSONValue) =
            messages.count == 1
            ? ("message_id", .string(first.description))
            : ("message_ids", .array(messages.map { .string($0.description) }))
        let body = JSONValue.members([ids, ("receipt", "shown")])
        _ = try? await self.surroundings.http.send(
            ExtensionHTTPRequest(
                method: "POST", url: api.url.appendingPathComponent("v1/extension/receipts"), token: api.token,
                body: body.serialized, seconds: Self.receiptSeconds))
    }

    /// Fetches what APNs has overwritten and posts it under its message ids (DESIGN §5 "Keep-one").
    func fetchMissed(_ decision: Decision, from api: API) async {
        guard let fetch = decision.changes.fetch, let url = URL(string: fetch.path, relativeTo: api.url),
            let answer = try? await self.surroundings.http.send(
                ExtensionHTTPRequest(method: "GET", url: url.absoluteURL, token: api.token, seconds: Self.fetchSeconds)),
            answer.status == 200, let page = try? JSONValue(parsing: answer.body), !Task.isCancelled
        else { return }
        let center = UNUserNotificationCenter.current()
        let delivered = Set(
            await center.deliveredNotifications().compactMap { MessageID($0.request.identifier) })
        let wall = self.surroundings.wall()
        let posts =
            (try? self.group.update { contents -> [MissedDecision.Post]? in
                guard self.isForSignedIn(contents) else { return nil }
                return MissedDecision.posts(
                    page, fetch, showsContent: contents.settings.showsContent,
                    names: { contents.settings.names(of: $0) }, pushRings: decision.changes.reason == .rings,
                    delivered: delivered, ledger: &contents.ledger, wall: wall)
            }) ?? nil
        guard let posts, let tag = PushInfo(userInfo: self.userInfo)?.recipientTag else { return }
        self.remove(MissedDecision.removed(page))
        var shown: [MessageID] = []
        var isWhole = true
        for post in posts {
            switch await self.post(post, recipientTag: tag, in: center) {
            case .shown: shown.append(post.message.message)
            case .withdrawn: break
            case .failed: isWhole = false
            }
        }
        if isWhole {
            _ = try? self.group.update { contents in
                guard self.isForSignedIn(contents), let known = contents.recipient?.position else { return }
                contents.recipient?.position = max(known, fetch.before)
            }
        }
        await self.report(shown, to: api)
    }

    /// Whether the push is still for the person who is signed in: the fetch may take longer than a sign-out (DESIGN P7).
    private func isForSignedIn(_ contents: AppGroup.Contents) -> Bool {
        guard let info = PushInfo(userInfo: self.userInfo) else { return false }
        return contents.signIn == .signedIn(recipientTag: info.recipientTag)
    }

    /// What became of a missed message.
    private enum PostEnd {
        case shown
        /// Withdrawn meanwhile: there is nothing to show.
        case withdrawn
        /// Not taken, or not this person's any more.
        case failed
    }

    /// Posts one missed message; a claim whose notification was not taken is given back.
    private func post(
        _ post: MissedDecision.Post, recipientTag tag: String, in center: UNUserNotificationCenter
    ) async -> PostEnd {
        let content = UNMutableNotificationContent()
        content.title = post.message.text.title ?? ""
        content.body = post.message.text.body
        content.threadIdentifier = post.message.conversation.description
        content.userInfo = post.message.userInfo(recipientTag: tag).userInfo
        if post.isSilent { content.interruptionLevel = .passive } else { content.sound = .default }
        let id = post.message.message
        var isPosted = false
        let isMeant = try? self.group.update { self.isForSignedIn($0) && $0.ledger[id]?.isWithdrawn != true }
        if isMeant == true, !Task.isCancelled {
            let request = UNNotificationRequest(identifier: id.description, content: content, trigger: nil)
            isPosted = (try? await center.add(request)) != nil
        }
        let wall = self.surroundings.wall()
        let end = try? self.group.update { contents -> PostEnd in
            guard self.isForSignedIn(contents) else { return .failed }
            if contents.ledger[id]?.isWithdrawn == true { return .withdrawn }
            if isPosted {
                contents.ledger.markShown(id, by: .pushExtension, wall: wall)
            } else {
                contents.ledger.release(id, by: .pushExtension)
            }
            return isPosted ? .shown : .failed
        }
        // Signed out or withdrawn while it was posted.
        if isPosted, let end, end != .shown { self.remove([id]) }
        return end ?? (isPosted ? .shown : .failed)
    }
}

extension SharedSettings {
    /// The names of a notification's conversation and sender.
    fileprivate func names(of payload: NotificationPayload) -> KnownNames {
        KnownNames(
            sender: self[name: .user(payload.senderID)], group: self[name: .conversation(payload.conversation)])
    }
}

extension JSONValue {
    /// A user info without the real text and picture of a push, which stand in the content now; nil if there are none.
    fileprivate var withoutPushText: JSONValue? {
        guard let all = self.objectValue, let info = self[PushInfo.key]?.objectValue,
            info["text"] != nil || info["image"] != nil
        else { return nil }
        let bare = JSONValue.members(
            info.members.filter { $0.key != "text" && $0.key != "image" }.map { ($0.key, $0.value) })
        return .members(all.members.map { ($0.key, $0.key == PushInfo.key ? bare : $0.value) })
    }
}
