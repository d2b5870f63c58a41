import ClientCore
import Foundation
import TidingsAppGroup
import TidingsModel
import TidingsNotificationContent
import UserNotifications

/// Carries out what the machine decides about one push. The content handler is called exactly once: when the work is
/// done, when the time is up, or when the run is given up.
final class NotificationServiceRun: Sendable {
    /// The handler and its content may be handed from one thread to another.
    private struct Answer: @unchecked Sendable {
        // Guarded by the lock around it: only the code that takes the handler out calls it.
        var handler: ((UNNotificationContent) -> Void)?
        let original: UNNotificationContent
        var image: UNNotificationAttachment?
        var portrait: Data?
        var work: [Task<Void, Never>] = []
    }

    private struct Decision: Sendable {
        var machine: ExtensionMachine
        /// The API as it was when the push was decided: a person who signs in later has another one.
        var api: API?
    }

    struct API: Sendable {
        var base: URL
        var token: String

        /// The base's own path stays before it, whether or not that ends with a slash: the routes may lie behind a proxy.
        func url(_ path: String) -> URL? {
            let base = self.base.absoluteString
            return URL(string: (base.hasSuffix("/") ? String(base.dropLast()) : base) + path)
        }
    }

    /// Short: it is never held while the app group's files are read or written.
    private let answer: Locked<Answer>
    /// Held over the app group's lock, so that events are heard one after the other.
    private let decision: Locked<Decision>
    private let group: AppGroup?
    private let surroundings: NotificationServiceHandler.Surroundings
    private let options: NotificationServiceHandler.Options
    private let message: MessageID?

    /// In seconds. The receipts hold the notification up, so that is short.
    private static let fetchSeconds = 8.0
    private static let receiptSeconds = 1.5

    /// `group` is nil where the app group cannot be used now: the content stays as it came (S2.20).
    init(
        _ request: UNNotificationRequest, group: AppGroup?, surroundings: NotificationServiceHandler.Surroundings,
        options: NotificationServiceHandler.Options, handler: @escaping (UNNotificationContent) -> Void
    ) {
        let userInfo = JSONValue(userInfo: request.content.userInfo)
        let info = PushInfo(userInfo: userInfo)
        self.message = info?.message
        let push = ExtensionMachine.ReceivedPush(
            identifier: request.identifier, userInfo: userInfo,
            mayFilter: ExtensionDecision.mayFilter(
                isEntitled: options.isFilteringEntitled, version: surroundings.version()),
            isForeignRecall: info == nil && options.isRecall(userInfo),
            usesCommunicationNotifications: options.usesCommunicationNotifications
                && CommunicationForm.isKnown(to: surroundings.version()))
        let answer = Answer(handler: handler, original: request.content)
        self.answer = Locked(answer)
        self.decision = Locked(Decision(machine: ExtensionMachine(push)))
        self.group = group
        self.surroundings = surroundings
        self.options = options
    }

    deinit { self.handle(.timeExpired) }

    var isOpen: Bool { self.answer.withLock { $0.handler != nil } }

    func handle(_ event: ExtensionMachine.Event) {
        // Not under the lock: the keychain is another process. Asked for the decision only, which says whether the server is asked.
        let kept = event.decides ? self.surroundings.tokens?.read() : nil
        let wall = self.surroundings.wall()
        let effects = self.decision.withLock { decision -> [ExtensionMachine.Effect] in
            let before = decision.machine
            guard !before.isIdle else { return [] }
            var effects: [ExtensionMachine.Effect] = []
            let heard = Result {
                try self.group.map { group in
                    try group.update { contents -> (ExtensionMachine, API?) in
                        var machine = before
                        let api = event.decides ? self.api(contents, kept: kept) : nil
                        var shared: AppGroup.Contents? = contents
                        // Put back below; two references would make each change of it a copy.
                        contents.ledger = Ledger()
                        machine.handle(event, group: &shared, canAskServer: api != nil, wall: wall, into: &effects)
                        if let shared { contents = shared }
                        return (machine, api)
                    }
                }
            }
            if case .success((let machine, let api)?) = heard {
                decision.machine = machine
                if before.changes == nil { decision.api = api }
            } else {
                // Nothing was written, so nothing may have been decided with it.
                effects = []
                var none: AppGroup.Contents?
                decision.machine.handle(event, group: &none, canAskServer: false, wall: wall, into: &effects)
            }
            return effects
        }
        for effect in effects { self.carryOut(effect) }
    }

    private func carryOut(_ effect: ExtensionMachine.Effect) {
        switch effect {
        case .wait(let milliseconds):
            self.add { run in
                await run.surroundings.sleep(milliseconds)
                return .timePassed
            }
        case .listDelivered:
            self.add { _ in .deliveredListed(Set(await Self.delivered().map(\.identifier))) }
        case .remove(let messages):
            UNUserNotificationCenter.current().removeDeliveredNotifications(
                withIdentifiers: messages.map(\.description))
        case .fetch(let fetch):
            self.add { run in
                let answer = await run.fetch(fetch)
                return .missedFetched(answer, delivered: answer == nil ? [] : await Self.delivered())
            }
        case .report(let messages):
            self.add { run in
                await run.report(messages)
                return .reported
            }
        case .post(let post, let tag):
            self.add { _ in .posted(post.message.message, isTaken: await Self.post(post.message, post.isSilent, tag)) }
        case .fetchImage(let url):
            self.add { run in
                let image = await run.image(at: url)
                run.answer.withLock { $0.image = image }
                return .imageFetched(isThere: image != nil)
            }
        case .fetchPortrait(let url):
            self.add { run in
                let portrait = await run.file(named: url, bytesMax: NotificationImage.portraitBytesMax)
                run.answer.withLock { $0.portrait = portrait }
                return .portraitFetched(isThere: portrait != nil)
            }
        case .deleteDonations(let messages): CommunicationNotification.deleteDonations(.messages(messages))
        case .finish(let edit): self.finish(edit)
        }
    }

    /// The work is cancelled when the run ends.
    private func add(_ work: @escaping @Sendable (NotificationServiceRun) async -> ExtensionMachine.Event) {
        let task = Task { self.handle(await work(self)) }
        let isOver = self.answer.withLock { answer in
            if answer.handler != nil { answer.work.append(task) }
            return answer.handler == nil
        }
        if isOver { task.cancel() }
    }

    private func finish(_ edit: ContentEdit?) {
        let end = self.answer.withLock { answer in
            defer {
                answer.handler = nil
                answer.work = []
            }
            return answer
        }
        end.handler?(
            edit.map { $0.applied(to: end.original, image: end.image, portrait: end.portrait) } ?? end.original)
        for task in end.work { task.cancel() }
    }

    // MARK: The server

    /// `kept` is the token outside the app group; the file's own is empty then.
    private func api(_ contents: AppGroup.Contents, kept: String?) -> API? {
        guard let noted = contents.recipient?.extensionToken,
            let token = noted.isEmpty ? kept : noted, !token.isEmpty,
            let url = self.options.apiURL ?? contents.settings.apiURL.flatMap({ URL(string: $0) })
        else { return nil }
        return API(base: url, token: token)
    }

    /// All in one request, because the notification waits for it. What does not get through is not repeated: the legs
    /// have ended already.
    private func report(_ messages: [MessageID]) async {
        guard let first = messages.first, let api = self.decision.withLock({ $0.api }),
            let url = api.url("/v1/extension/receipts")
        else { return }
        let ids: (String, JSONValue) =
            messages.count == 1
            ? ("message_id", .string(first.description))
            : ("message_ids", .array(messages.map { .string($0.description) }))
        let body = JSONValue.members([ids, ("receipt", "shown")])
        _ = try? await self.surroundings.http.send(
            ExtensionHTTPRequest(
                method: "POST", url: url, token: api.token, body: body.serialized, seconds: Self.receiptSeconds))
    }

    /// design.md §5 "Keep-one"; nil for no answer.
    private func fetch(_ fetch: MissedFetch) async -> JSONValue? {
        guard let api = self.decision.withLock({ $0.api }), let url = api.url(fetch.path),
            let answer = try? await self.surroundings.http.send(
                ExtensionHTTPRequest(method: "GET", url: url, token: api.token, seconds: Self.fetchSeconds)),
            answer.status == 200, let page = try? JSONValue(parsing: answer.body), !Task.isCancelled
        else { return nil }
        return page
    }

    // MARK: The notification centre

    private static func delivered() async -> [NotificationCenterQueue.Entry] {
        await UNUserNotificationCenter.current().deliveredNotifications().map { notification in
            let content = notification.request.content
            return NotificationCenterQueue.Entry(
                identifier: notification.request.identifier, userInfo: JSONValue(userInfo: content.userInfo),
                thread: content.threadIdentifier)
        }
    }

    /// Returns whether the notification centre has taken it.
    private static func post(_ message: MissedMessage, _ isSilent: Bool, _ tag: String) async -> Bool {
        guard !Task.isCancelled else { return false }
        var content = UNMutableNotificationContent()
        content.title = message.text.title?.notificationText ?? ""
        content.subtitle = message.text.subtitle?.notificationText ?? ""
        content.body = message.text.body.notificationText
        content.apply(message.manner(isSilent: isSilent))
        content.userInfo = message.userInfo(recipientTag: tag).userInfo
        let made = message.communication.flatMap {
            CommunicationNotification.content(from: content, $0, CommunicationNotification.Portraits())
        }
        let request = UNNotificationRequest(
            identifier: message.message.description, content: made ?? content, trigger: nil)
        return (try? await UNUserNotificationCenter.current().add(request)) != nil
    }

    // MARK: The image

    /// If anything fails, the notification comes without its image.
    private func image(at text: String) async -> UNNotificationAttachment? {
        guard let file = await self.file(named: text, bytesMax: NotificationImage.bytesMax),
            let kind = NotificationImage.Kind(bytes: file)
        else { return nil }
        let name = "tidings-\(UUID().uuidString).\(kind.fileExtension)"
        let place = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        do {
            try file.write(to: place)
            // The phone is locked more often than not.
            try self.surroundings.safety.protect(place.path, as: .completeUntilFirstUserAuthentication)
            // The system moves the file to a place of its own with the notification.
            return try UNNotificationAttachment(identifier: Self.imageName, url: place)
        } catch {
            try? FileManager.default.removeItem(at: place)
            return nil
        }
    }

    /// Nil if it is no image, or comes too late.
    private func file(named text: String, bytesMax: Int) async -> Data? {
        let file: Data?
        if let media = MediaID(reference: text) {
            file = await self.file(of: media, bytesMax: bytesMax)
        } else {
            file = await self.file(at: text, bytesMax: bytesMax)
        }
        guard let file, NotificationImage.Kind(bytes: file) != nil, !Task.isCancelled else { return nil }
        return file
    }

    /// From a web server that the app allows.
    private func file(at text: String, bytesMax: Int) async -> Data? {
        let hosts = self.options.imageHosts
        guard let url = URL(string: text), FileFetch.fault(of: url, hosts: hosts) == nil else { return nil }
        return try? await self.surroundings.http.file(
            at: url, hosts: hosts, bytesMax: bytesMax, seconds: NotificationImage.seconds)
    }

    /// From the server, to which the extension's token and the push's own message are good for what that names.
    private func file(of media: MediaID, bytesMax: Int) async -> Data? {
        guard let api = self.decision.withLock({ $0.api }), let message = self.message,
            let url = api.url("/v1/media/\(media)?message=\(message)")
        else { return nil }
        return try? await self.surroundings.http.media(
            at: url, token: api.token, bytesMax: bytesMax, seconds: NotificationImage.seconds)
    }

    static let imageName = "image"
}

extension ExtensionMachine.Event {
    fileprivate var decides: Bool {
        switch self {
        case .received, .timePassed, .deliveredListed: true
        case .missedFetched, .posted, .reported, .imageFetched, .portraitFetched, .timeExpired: false
        }
    }
}

extension ContentEdit {
    fileprivate func applied(
        to original: UNNotificationContent, image: UNNotificationAttachment?, portrait: Data?
    ) -> UNNotificationContent {
        guard var content = original.mutableCopy() as? UNMutableNotificationContent else { return original }
        content.apply(self)
        if self.isDiscarded {
            let nothing = UNMutableNotificationContent()
            nothing.badge = content.badge
            return nothing
        }
        let made = self.communication.flatMap {
            CommunicationNotification.content(
                from: content, $0, CommunicationNotification.Portraits(sender: self.hasPortrait ? portrait : nil))
        }
        guard self.hasImage, let image else { return made ?? content }
        guard let withImage = (made ?? content).mutableCopy() as? UNMutableNotificationContent else {
            return made ?? content
        }
        withImage.attachments = [image]
        return withImage
    }
}
