package import Foundation
package import TidingsClient
package import TidingsModel

/// A message that a person has written and that is not on the server.
package struct OutgoingMessage: Hashable, Codable {
    package let id: ClientMessageID
    private let type: String
    private let target: String
    package var objectName: ObjectName
    /// Empty for an image that is not uploaded.
    package var content: String
    private let mentioned: [UserID]
    private let mentionsEveryone: Bool
    /// `MessageFlags`.
    private let flags: UInt8
    /// The image's own copy.
    package var file: URL?
    /// Wall milliseconds since 1970.
    package let writtenAt: Int64
    /// The uploaded part of the file, in percent.
    package var percent = 0
    /// Nil while it is on its way.
    package var failure: ChatFailure?

    package init(
        id: ClientMessageID, conversation: ConversationID, objectName: ObjectName, content: String,
        flags: MessageFlags = .normal, mentions: Mentions = .none, file: URL? = nil, writtenAt: Int64
    ) {
        self.id = id
        self.type = conversation.type.rawValue
        self.target = conversation.target
        self.objectName = objectName
        self.content = content
        if case .users(let users) = mentions { self.mentioned = users } else { self.mentioned = [] }
        self.mentionsEveryone = mentions == .everyone
        self.flags = flags.rawValue
        self.file = file
        self.writtenAt = writtenAt
    }

    package var conversation: ConversationID {
        ConversationID(type: ConversationType(rawValue: self.type) ?? .direct, target: self.target)
    }

    private var mentions: Mentions {
        self.mentionsEveryone ? .everyone : self.mentioned.isEmpty ? .none : .users(self.mentioned)
    }

    /// True while its file is uploaded.
    package var isUploading: Bool { self.file != nil && self.content.isEmpty }

    var draft: MessageDraft {
        MessageDraft(
            clientMessageID: self.id, conversation: self.conversation, objectName: self.objectName,
            content: self.content, flags: MessageFlags(rawValue: self.flags),
            mentions: self.mentions)
    }
}

/// Sends what screens give it, keeps it until the server has it, and what was refused until the person sends it again or deletes it, also
/// in later processes. Each message has its own id from the beginning, by which client and server know a repeat.
@MainActor package final class OutgoingMessages {
    /// An event of a message.
    package enum Event {
        /// Its state.
        case changed
        /// It is on the server.
        case accepted(Message)
        case failed(ChatFailure)
    }

    /// Makes what notifications show of an image.
    package var thumbnails: any ThumbnailMaker = SystemThumbnails()
    /// A phone that is locked may refuse it.
    package var readFile: (URL) throws -> Data = { try Data(contentsOf: $0) }
    private let client: ChatClient
    private var items: [OutgoingMessage] = []
    private var tasks: [ClientMessageID: Task<Void, Never>] = [:]
    private var listeners: [UUID: (ConversationID, Event) -> Void] = [:]
    private var person: UserID?

    /// Sends messages for the person who is signed in.
    package init(client: ChatClient) { self.client = client }

    /// In the order of writing.
    package func messages(in conversation: ConversationID) -> [OutgoingMessage] {
        self.load()
        return self.items.filter { $0.conversation == conversation }
    }

    package func listen(_ listener: @escaping (ConversationID, Event) -> Void) -> UUID {
        let id = UUID()
        self.listeners[id] = listener
        return id
    }

    package func stopListening(_ id: UUID) { self.listeners[id] = nil }

    // MARK: Sending

    /// - Throws: `ChatError.invalid` for what the server would not take; nothing is kept of it.
    package func send(_ content: MessageContent, mentions: Mentions = .none, to conversation: ConversationID) throws {
        let item = OutgoingMessage(
            id: Self.newID(), conversation: conversation, objectName: content.objectName, content: content.json,
            flags: content.defaultFlags, mentions: mentions, writtenAt: self.client.wallMilliseconds)
        do throws(InvalidField) {
            try content.validate()
            try item.draft.validate()
        } catch {
            throw ChatError.invalid(error)
        }
        self.add(item)
    }

    /// - Throws: if the file cannot be copied.
    package func sendImage(_ file: URL, to conversation: ConversationID) throws {
        let id = Self.newID()
        let copy = try self.client.screensFolder().appendingPathComponent("\(id).\(Self.imageSuffix)")
        try FileManager.default.copyItem(at: file, to: copy)
        self.add(
            OutgoingMessage(
                id: id, conversation: conversation, objectName: .image, content: "", file: copy,
                writtenAt: self.client.wallMilliseconds))
    }

    private static func newID() -> ClientMessageID { ClientMessageID(UUID().uuidString.lowercased()) }

    private func add(_ item: OutgoingMessage) {
        self.load()
        self.items.append(item)
        self.save()
        self.start(item.id)
        self.publish(item.conversation, .changed)
    }

    package func retry(_ id: ClientMessageID) {
        guard self.change(id, { $0.failure = nil }) else { return }
        self.start(id)
    }

    /// Takes it back: an upload under way, or what was refused.
    package func remove(_ id: ClientMessageID) {
        guard let item = self.item(id) else { return }
        self.tasks.removeValue(forKey: id)?.cancel()
        self.drop(id)
        self.publish(item.conversation, .changed)
    }

    private func start(_ id: ClientMessageID) {
        guard self.tasks[id] == nil, self.client.userID != nil else { return }
        self.tasks[id] = Task { [weak self] in
            await self?.carry(id)
            self?.tasks[id] = nil
        }
    }

    private func carry(_ id: ClientMessageID) async {
        do {
            if let item = self.item(id), let file = item.file, item.isUploading {
                let content = try await self.upload(file, of: id)
                guard self.change(id, { $0.content = content.json }) else { return }
            }
            guard let item = self.item(id) else { return }
            let message = try await self.client.send(item.draft)
            guard self.item(id) != nil else { return }
            self.drop(id)
            self.publish(item.conversation, .accepted(message))
        } catch {
            self.failed(id, error)
        }
    }

    private func failed(_ id: ClientMessageID, _ error: any Error) {
        // The person has left the screen and comes back to the message, and the client still has it.
        guard let item = self.item(id), !Task.isCancelled, (error as? ChatError) != .cancelled,
            (error as? ChatError) != .notSignedIn
        else { return }
        let failure = ChatFailure(error)
        self.change(id) { $0.failure = failure }
        self.publish(item.conversation, .failed(failure))
    }

    private func upload(_ file: URL, of id: ClientMessageID) async throws -> MessageContent {
        var small: MediaID?
        if let data = try self.thumbnails.thumbnail(of: file, pixels: 1_024) {
            small = try await self.finish(try self.client.uploadMedia(data, name: "thumbnail.jpg")) { _ in }
        }
        let upload = try self.client.uploadMedia(file, name: "image")
        let media = try await self.finish(upload) { [weak self] progress in
            self?.change(id) { $0.percent = Int(progress.fraction * 100) }
        }
        return .image(.init(url: media.reference, thumbnailURL: small?.reference))
    }

    private func finish(_ upload: MediaUpload, _ report: (MediaProgress) -> Void) async throws -> MediaID {
        try await withTaskCancellationHandler {
            for await progress in upload.progress { report(progress) }
            return try await upload.media
        } onCancel: {
            upload.cancel()
        }
    }

    // MARK: The person

    /// Goes on with the waiting messages, once a person is signed in.
    package func resume() {
        self.load()
        for item in self.items where item.failure == nil { self.start(item.id) }
        for conversation in Set(self.items.map(\.conversation)) { self.publish(conversation, .changed) }
    }

    /// Nothing of the person before stays here; their file goes with their store.
    package func personChanged() {
        for task in self.tasks.values { task.cancel() }
        self.tasks = [:]
        self.items = []
        self.person = nil
        self.hasReported = false
    }

    // MARK: Keeping

    private func item(_ id: ClientMessageID) -> OutgoingMessage? { self.items.first { $0.id == id } }

    @discardableResult
    private func change(_ id: ClientMessageID, _ change: (inout OutgoingMessage) -> Void) -> Bool {
        guard let index = self.items.firstIndex(where: { $0.id == id }) else { return false }
        let before = self.items[index]
        change(&self.items[index])
        let now = self.items[index]
        if before.content != now.content || before.failure != now.failure { self.save() }
        self.publish(before.conversation, .changed)
        return true
    }

    private func drop(_ id: ClientMessageID) {
        if let file = self.item(id)?.file { try? FileManager.default.removeItem(at: file) }
        self.items.removeAll { $0.id == id }
        self.save()
    }

    private func publish(_ conversation: ConversationID, _ event: Event) {
        for listener in self.listeners.values { listener(conversation, event) }
    }

    private static let fileName = "outgoing.json"
    private static let imageSuffix = "image"
    /// Told once: it is tried again whenever a screen shows something.
    private var hasReported = false

    private func load() {
        guard self.person == nil, let person = self.client.userID else { return }
        do {
            let folder = try self.client.screensFolder()
            let read = try self.read(folder.appendingPathComponent(Self.fileName))
            // From here on the file is written, which would be too early where it could not be read.
            self.person = person
            if read.lost > 0 {
                self.setAside(Self.fileName, in: folder)
                self.report("\(read.lost) unsent messages in \(Self.fileName) cannot be read")
            }
            var kept = read.items.filter { !self.isSent($0) }
            for index in kept.indices {
                // An app's folder may be another one after an update.
                kept[index].file = kept[index].file.map { folder.appendingPathComponent($0.lastPathComponent) }
            }
            let written = self.items
            self.items = kept + written
            self.removeImages(in: folder)
            guard !written.isEmpty else { return }
            // The file could not be read when they were written.
            self.save()
            for item in kept where item.failure == nil { self.start(item.id) }
        } catch {
            self.report("unsent messages cannot be read: \(error)")
        }
    }

    private struct Kept: Decodable {
        let item: OutgoingMessage?
        init(from decoder: any Decoder) { self.item = try? OutgoingMessage(from: decoder) }
    }

    /// Each by itself: one that cannot be read takes no other one along.
    private func read(_ file: URL) throws -> (items: [OutgoingMessage], lost: Int) {
        guard FileManager.default.fileExists(atPath: file.path) else { return ([], 0) }
        let data = try self.readFile(file)
        guard let kept = try? JSONDecoder().decode([Kept].self, from: data) else { return ([], 1) }
        let items = kept.compactMap(\.item)
        return (items, kept.count - items.count)
    }

    /// A later version of the app may read it.
    private func setAside(_ name: String, in folder: URL) {
        let copy = folder.appendingPathComponent("unread.\(name)")
        try? FileManager.default.removeItem(at: copy)
        try? FileManager.default.copyItem(at: folder.appendingPathComponent(name), to: copy)
    }

    /// Removes the images that no message waits for.
    private func removeImages(in folder: URL) {
        let waiting = Set(self.items.compactMap { $0.file?.lastPathComponent })
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for file in files ?? [] where file.pathExtension == Self.imageSuffix {
            if !waiting.contains(file.lastPathComponent) { try? FileManager.default.removeItem(at: file) }
        }
    }

    private func report(_ reason: String) {
        guard !self.hasReported else { return }
        self.hasReported = true
        self.client.report(.storeFault(reason: reason))
    }

    /// The process may have ended between the server's answer and what is noted here.
    private func isSent(_ item: OutgoingMessage) -> Bool {
        let newest = (try? self.client.history(conversation: item.conversation, limit: 200)) ?? []
        return newest.contains { $0.message.clientMessageID == item.id && $0.message.sender == self.person }
    }

    private func save() {
        guard let person = self.person, person == self.client.userID, let folder = try? self.client.screensFolder()
        else { return }
        do {
            let data = try JSONEncoder().encode(self.items)
            try data.write(to: folder.appendingPathComponent(Self.fileName), options: .atomic)
        } catch {
            self.report("unsent messages cannot be kept: \(error)")
        }
    }
}
