import Foundation
import StoreModel
import Synchronization
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

/// Whoever receives: what came, and how each attempt ends. The clock moves when a test says so.
final class WebhookReceiver: Sendable {
    private struct State {
        var now: Int64 = 1_000_000
        var came: [WebhookDelivery] = []
        var isDown = false
        var isHanging = false
        var dropped = 0
    }

    private let state = Mutex(State())

    var now: Int64 { self.state.withLock { $0.now } }
    var came: [WebhookDelivery] { self.state.withLock { $0.came } }

    func forward(by milliseconds: Int64) { self.state.withLock { $0.now += milliseconds } }
    var dropped: Int { self.state.withLock { $0.dropped } }

    func countDropped(_ count: Int) { self.state.withLock { $0.dropped += count } }
    func setHanging() { self.state.withLock { $0.isHanging = true } }
    func setDown(_ isDown: Bool) { self.state.withLock { $0.isDown = isDown } }

    /// Nil where it never ends.
    func receive(_ delivery: WebhookDelivery) -> WebhookAttemptEnd? {
        self.state.withLock { state in
            state.came.append(delivery)
            guard !state.isHanging else { return nil }
            return state.isDown ? .failed(WebhookFailure(.status, status: 503)) : .delivered
        }
    }
}

/// A store and the desk behind it, both of which can be closed and opened again.
final class DeskBench {
    let folder: TemporaryFolder
    let receiver = WebhookReceiver()
    let log = LogBox()
    private(set) var store: MessageStore
    private(set) var desk: WebhookDesk
    private var lastID: UInt64 = 0

    private let rules: WebhookSchedule.Rules

    init(rules: WebhookSchedule.Rules = .init()) throws {
        self.rules = rules
        self.folder = try TemporaryFolder()
        self.store = try MessageStore(path: self.folder.path(), logger: quiet)
        self.desk = Self.open(self.folder, self.store, self.receiver, self.log, rules)
    }

    deinit {
        self.desk.close()
        self.store.close()
    }

    private static func open(
        _ folder: TemporaryFolder, _ store: MessageStore, _ receiver: WebhookReceiver, _ log: LogBox,
        _ rules: WebhookSchedule.Rules
    ) -> WebhookDesk {
        var configuration = WebhookDeskConfiguration()
        configuration.following.pollMilliseconds = 5
        configuration.following.retryMilliseconds = 5
        configuration.following.catchUpMilliseconds = 60_000
        configuration.rules = rules
        return WebhookDesk(
            path: folder.path("webhooks"), of: store, configuration: configuration, logger: log.logger,
            now: { receiver.now }, countDropped: { receiver.countDropped($0) },
            send: { delivery, completion in
                if let end = receiver.receive(delivery) { completion(end) }
            })
    }

    func reopen(meanwhile: () async throws -> Void = {}) async throws {
        self.desk.close()
        self.store.close()
        try await meanwhile()
        self.store = try MessageStore(path: self.folder.path(), logger: quiet)
        self.desk = Self.open(self.folder, self.store, self.receiver, self.log, self.rules)
    }

    var hasFile: Bool { FileManager.default.fileExists(atPath: self.folder.path("webhooks")) }

    func makeApp(_ app: AppID = "shop") async throws {
        let secret = TokenSecret(id: "s1", sealed: SealedBytes(keyID: "m1", bytes: [1]), createdAt: 1)
        _ = try await self.store.apply([.changeControl(.createApp(app, AppSettings(), secret), at: 1)])
    }

    func change(_ change: WebhookChange, of app: AppID = "shop") async throws {
        let answers = try await self.store.apply([.changeControl(.changeWebhook(app, change), at: 5)])
        if case .control = answers.first {} else { Issue.record("\(answers)") }
    }

    func add(_ id: String, _ kinds: [WebhookEventKind], to app: AppID = "shop") async throws {
        let record = WebhookRecord(
            id: id, name: id, url: "https://example.com/", kinds: kinds, secret: SealedBytes(keyID: "m1", bytes: [2]),
            createdAt: 5)
        try await self.change(.add(record), of: app)
        // As the API does: a desk that has not looked at the journal yet would begin at its end, behind what is said next.
        _ = await self.desk.progress(of: WebhookKey(app: app, webhook: id))
    }

    @discardableResult
    func say(_ text: String, app: AppID = "shop") async throws -> MessageID {
        self.lastID += 1
        let id = MessageID(rawValue: self.lastID)
        let message = Message(
            id: id, app: app, sender: "ada", conversation: ConversationID(type: .direct, target: "bo"),
            clientMessageID: ClientMessageID("c\(id.rawValue)"), objectName: .text,
            content: JSONValue.members([("content", .string(text))]).text, flags: .normal, pushText: nil,
            sentAt: Int64(id.rawValue) * 1_000)
        _ = try await self.store.apply([.accept(message: message, senderDevice: "phone")])
        return id
    }

    func recall(_ id: MessageID) async throws {
        self.lastID += 1
        let recall = RecallOperation(
            id: MessageID(rawValue: self.lastID), app: "shop", message: id, actor: nil, window: 0, at: 9)
        _ = try await self.store.apply([.recall(recall)])
    }

    /// Everything is derived by then, and what is due was sent.
    func progress(_ webhook: String = "w1", of app: AppID = "shop") async throws -> WebhookProgress {
        try #require(await self.desk.progress(of: WebhookKey(app: app, webhook: webhook)))
    }

    /// Waits for ends that come back to the desk.
    func settle(_ webhook: String = "w1", of app: AppID = "shop", pending: Int = 0) async throws {
        while try await self.progress(webhook, of: app).pending != pending { await Task.yield() }
    }

    /// `TYPE message` of each, in any order.
    func told(_ webhook: String, of app: AppID = "shop") throws -> [String] {
        try self.receiver.came.filter { $0.key == WebhookKey(app: app, webhook: webhook) }.map {
            "\($0.type) \(try JSONValue(parsing: $0.data)["message_id"]?.stringValue ?? "")"
        }.sorted()
    }
}
