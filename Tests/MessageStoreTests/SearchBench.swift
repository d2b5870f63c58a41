import Foundation
import Logging
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

/// A store and an index behind it, both of which can be closed and opened again.
final class SearchBench {
    let folder: TemporaryFolder
    private(set) var store: MessageStore
    private(set) var index: SearchIndex
    private var lastID: UInt64 = 0
    let log = LogBox()

    static let configuration: SearchIndexConfiguration = {
        var configuration = SearchIndexConfiguration()
        configuration.following.pollMilliseconds = 5
        configuration.following.retryMilliseconds = 5
        configuration.following.catchUpMilliseconds = 60_000
        // Only when a test asks for it.
        configuration.eraseMilliseconds = 3_600_000
        return configuration
    }()

    init(
        _ configuration: SearchIndexConfiguration = SearchBench.configuration,
        _ store: MessageStoreConfiguration = MessageStoreConfiguration()
    ) throws {
        self.folder = try TemporaryFolder()
        self.store = try MessageStore(path: self.folder.path(), configuration: store, logger: quiet)
        self.index = SearchIndex(
            path: self.folder.path("search.sqlite"), of: self.store, configuration: configuration,
            logger: self.log.logger)
    }

    deinit {
        self.index.close()
        self.store.close()
    }

    var path: String { self.folder.path("search.sqlite") }

    func reopenIndex(
        _ configuration: SearchIndexConfiguration = SearchBench.configuration,
        meanwhile: (String) throws -> Void = { _ in }
    ) throws {
        self.index.close()
        try meanwhile(self.path)
        self.index = SearchIndex(
            path: self.path, of: self.store, configuration: configuration, logger: self.log.logger)
    }

    func reopenStore(
        _ configuration: SearchIndexConfiguration = SearchBench.configuration,
        meanwhile: (TemporaryFolder) throws -> Void = { _ in }
    ) throws {
        self.index.close()
        self.store.close()
        try meanwhile(self.folder)
        self.store = try MessageStore(path: self.folder.path(), logger: quiet)
        self.index = SearchIndex(
            path: self.path, of: self.store, configuration: configuration, logger: self.log.logger)
    }

    // MARK: What people do

    func nextID() -> MessageID {
        self.lastID += 1
        return MessageID(rawValue: self.lastID)
    }

    @discardableResult
    func say(
        _ text: String, app: AppID = "shop", from sender: UserID = "ada", to target: String = "bo",
        type: ConversationType = .direct, recipients: [UserID] = [], name: ObjectName = .text,
        flags: MessageFlags = .normal
    ) async throws -> MessageID {
        let id = self.nextID()
        let message = Message(
            id: id, app: app, sender: sender, conversation: ConversationID(type: type, target: target),
            clientMessageID: ClientMessageID("c\(id.rawValue)"), objectName: name,
            content: JSONValue.members([("content", .string(text))]).text, flags: flags, pushText: nil,
            sentAt: Int64(id.rawValue) * 1_000, recipients: recipients)
        let results = try await self.store.apply([.accept(message: message, senderDevice: "phone")])
        if case .accepted = results.first {} else { Issue.record("not accepted: \(results)") }
        return id
    }

    func edit(_ id: MessageID, _ text: String, app: AppID = "shop") async throws {
        _ = try await self.store.apply([
            .edit(
                EditOperation(
                    app: app, message: id, actor: nil, content: JSONValue.members([("content", .string(text))]).text,
                    window: 0, at: 9))
        ])
    }

    func recall(_ id: MessageID, app: AppID = "shop") async throws {
        _ = try await self.store.apply([
            .recall(RecallOperation(id: self.nextID(), app: app, message: id, actor: nil, window: 0, at: 9))
        ])
    }

    // MARK: What is found

    func find(_ question: MessageQuestion) async throws -> FoundMessages { try await self.index.find(question) }

    /// All of it, page by page.
    func found(_ question: MessageQuestion) async throws -> [Message] {
        var question = question
        var all: [Message] = []
        while true {
            let page = try await self.index.find(question)
            #expect(page.messages.count <= question.limit)
            all += page.messages
            guard page.hasMore, let last = page.messages.last else { return all }
            question.before = last.id
        }
    }

    func texts(_ text: String, app: AppID = "shop") async throws -> [String] {
        try await self.found(MessageQuestion(app: app, text: text, limit: 50)).map { $0.text ?? "" }
    }

    /// Those of the words that stand in a file of the index.
    func inFile(_ words: [String]) throws -> [String] {
        var bytes = Data()
        for suffix in DerivedFile.suffixes {
            bytes += (try? Data(contentsOf: URL(fileURLWithPath: self.path + suffix))) ?? Data()
        }
        return words.filter { bytes.range(of: Data($0.utf8)) != nil }
    }
}

/// What was logged at notice or above, as "message: reason". `@unchecked Sendable`: `lines` is guarded by `lock`.
final class LogBox: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []

    var all: [String] { self.lock.withLock { self.lines } }

    fileprivate func append(_ line: String) { self.lock.withLock { self.lines.append(line) } }

    var logger: Logger { Logger(label: "test") { [self] _ in BoxHandler(box: self) } }

    private struct BoxHandler: LogHandler {
        let box: LogBox
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            self.box.append("\(event.level) \(event.message): \(event.metadata?["reason"]?.description ?? "")")
        }
    }
}
