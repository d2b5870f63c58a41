import Foundation
import SDKTestSupport
import Synchronization
import Testing
import TidingsAppGroup
import TidingsModel

@testable import TidingsClient

private let place = ConversationID(type: .direct, target: "bob")
private let jpeg = Data([0xff, 0xd8, 0xff, 0xe0]) + Data((0..<2_500_000).map { UInt8(truncatingIfNeeded: $0) })

/// The server's side of uploads and downloads, as docs/server/api.md says, for one client.
private final class MediaServer: MediaHTTP {
    private struct State {
        var files: [String: (bytes: Data, length: Int, type: String)] = [:]
        /// What was begun with an idempotency key.
        var begun: [String: String] = [:]
        var asked: [String] = []
        /// How many requests get through whose answers do not, after some that are well.
        var lost = (count: 0, after: 0)
        var refusal: (status: Int, code: String)?
        var tokens: Set<String> = []
        var urls: [String] = []
        /// What `Location` says before the id.
        var place = "/v1/media/uploads/"
        /// What happens before a request is answered.
        var event: (request: String, body: @Sendable () async -> Void)?
    }
    private struct Lost: Error {}
    private let state = Mutex(State())

    var asked: [String] { self.state.withLock { $0.asked } }
    var fileCount: Int { self.state.withLock { $0.files.count } }
    var tokens: Set<String> { self.state.withLock { $0.tokens } }
    func loseAnswers(_ count: Int, after: Int) { self.state.withLock { $0.lost = (count, after) } }
    func refuse(_ status: Int, _ code: String) { self.state.withLock { $0.refusal = (status, code) } }
    var urls: [String] { self.state.withLock { $0.urls } }
    func locate(at place: String) { self.state.withLock { $0.place = place } }
    func when(_ request: String, _ body: @escaping @Sendable () async -> Void) {
        self.state.withLock { $0.event = (request, body) }
    }
    func file(_ id: MediaID) -> (bytes: Data, length: Int, type: String)? {
        self.state.withLock { $0.files[id.rawValue] }
    }

    func send(_ request: MediaHTTPRequest) async throws -> MediaHTTPAnswer {
        let name = "\(request.method) \(request.headers["Upload-Offset"] ?? request.headers["Range"] ?? "")"
        let happening = self.state.withLock { state -> (@Sendable () async -> Void)? in
            state.tokens.insert(request.token)
            state.asked.append(name)
            state.urls.append(request.url.absoluteString)
            guard let event = state.event, event.request == name else { return nil }
            state.event = nil
            return event.body
        }
        await happening?()
        return try self.state.withLock { state throws(Lost) in
            let answer = Self.answer(request, &state)
            if state.lost.after > 0 {
                state.lost.after -= 1
                return answer
            }
            guard state.lost.count > 0 else { return answer }
            state.lost.count -= 1
            throw Lost()
        }
    }

    private static func answer(_ request: MediaHTTPRequest, _ state: inout State) -> MediaHTTPAnswer {
        if let (status, code) = state.refusal {
            return MediaHTTPAnswer(status: status, body: Data("{\"code\":\"\(code)\"}".utf8))
        }
        let id = request.url.lastPathComponent
        switch request.method {
        case "POST":
            let key = request.headers["Idempotency-Key"] ?? ""
            if let id = state.begun[key] {
                return MediaHTTPAnswer(status: 201, headers: ["location": state.place + id])
            }
            let id = String(repeating: "\(state.files.count)", count: 32)
            state.begun[key] = id
            let length = Int(request.headers["Upload-Length"] ?? "") ?? 0
            let type = (request.headers["Upload-Metadata"] ?? "").split(separator: ",")[0].split(separator: " ")[1]
            state.files[id] = (
                Data(), length, String(decoding: Data(base64Encoded: String(type)) ?? Data(), as: UTF8.self)
            )
            return MediaHTTPAnswer(status: 201, headers: ["location": state.place + id])
        case "HEAD":
            return MediaHTTPAnswer(status: 200, headers: ["upload-offset": "\(state.files[id]?.bytes.count ?? -1)"])
        case "PATCH":
            guard state.files[id]?.bytes.count == Int(request.headers["Upload-Offset"] ?? "") else {
                return MediaHTTPAnswer(status: 409)
            }
            state.files[id]?.bytes.append(request.body)
            return MediaHTTPAnswer(status: 204, headers: ["upload-offset": "\(state.files[id]?.bytes.count ?? 0)"])
        case "GET":
            guard let file = state.files[id], request.url.query == "message=\(MessageID(rawValue: 7))" else {
                return MediaHTTPAnswer(status: 404, body: Data("{\"code\":\"unknown_media\"}".utf8))
            }
            let ends = (request.headers["Range"] ?? "").dropFirst(6).split(separator: "-").compactMap { Int($0) }
            let part = file.bytes[ends[0]..<min(ends[1] + 1, file.bytes.count)]
            return MediaHTTPAnswer(
                status: 206,
                headers: ["etag": "\"\(id)\"", "content-range": "bytes \(ends[0])-\(ends[1])/\(file.bytes.count)"],
                body: Data(part))
        default:
            state.files[id] = nil
            return MediaHTTPAnswer(status: 204)
        }
    }
}

@Suite struct `Files of a client` {
    private let bench: ClientBench
    private let media = MediaServer()

    init() throws { self.bench = try ClientBench() }

    private func client(_ apiURL: String = "https://chat.example.com") async throws -> ChatClient {
        let client = try self.bench.client(mediaHTTP: self.media) { $0.apiURL = URL(string: apiURL) }
        try await client.connect(userID: "alice", token: "user-token")
        return client
    }

    private func file(_ name: String, _ data: Data) throws -> URL {
        let file = self.bench.folder.appendingPathComponent(name)
        try data.write(to: file)
        return file
    }

    @Test func `are sent in parts with the user's token, and tell how far they are`() async throws {
        let client = try await self.client()
        let upload = try client.uploadMedia(try self.file("cat.jpg", jpeg))
        var last = MediaProgress(bytes: 0, total: 0)
        for await progress in upload.progress { last = progress }
        let id = try await upload.media
        #expect(last == MediaProgress(bytes: Int64(jpeg.count), total: Int64(jpeg.count)))
        #expect(last.fraction == 1)
        #expect(self.media.file(id)?.bytes == jpeg)
        #expect(self.media.file(id)?.type == "image/jpeg")
        #expect(self.media.asked == ["POST ", "PATCH 0", "PATCH 1048576", "PATCH 2097152"])
        #expect(self.media.tokens == ["user-token"])
    }

    @Test func `go on where the server is after a lost connection`() async throws {
        let client = try await self.client()
        // The second answer is lost, that to the first part.
        self.media.loseAnswers(1, after: 1)
        let upload = try client.uploadMedia(jpeg)
        let isOver = Locked(false)
        let task = Task {
            defer { isOver.withLock { $0 = true } }
            return try await upload.media
        }
        await self.bench.passTime { isOver.withLock { $0 } }
        let id = try await task.value
        #expect(self.media.file(id)?.bytes == jpeg)
        #expect(
            self.media.asked == [
                "POST ", "PATCH 0", "HEAD ", "PATCH 1048576", "PATCH 1572864", "PATCH 2097152",
            ])
    }

    @Test func `are begun once where the answer to the beginning is lost`() async throws {
        let client = try await self.client()
        self.media.loseAnswers(1, after: 0)
        for _ in 0..<2 {
            let upload = try client.uploadMedia(Data(jpeg.prefix(10)))
            let isOver = Locked(false)
            let task = Task {
                defer { isOver.withLock { $0 = true } }
                return try await upload.media
            }
            await self.bench.passTime { isOver.withLock { $0 } }
            #expect(self.media.file(try await task.value)?.bytes == jpeg.prefix(10))
        }
        #expect(self.media.asked == ["POST ", "POST ", "PATCH 0", "POST ", "PATCH 0"])
        // Two uploads, and a key for each.
        #expect(self.media.fileCount == 2)
    }

    @Test(arguments: ["https://chat.example.com/chat", "https://chat.example.com/chat/"])
    func `are sent where the app says, wherever the server believes to be`(apiURL: String) async throws {
        let client = try await self.client(apiURL)
        self.media.locate(at: "http://inside.example.com:8080/v1/media/uploads/")
        let id = try await client.uploadMedia(jpeg).media
        let file = self.bench.folder.appendingPathComponent("got.jpg")
        try await client.downloadMedia(id, in: MessageID(rawValue: 7), to: file)
        let uploads = "https://chat.example.com/chat/v1/media/uploads"
        #expect(self.media.urls.prefix(2) == [uploads, "\(uploads)/\(id)"])
        #expect(
            self.media.urls.last == "https://chat.example.com/chat/v1/media/\(id)?message=\(MessageID(rawValue: 7))")
    }

    @Test func `end with the sign-out, and nothing is asked of the server any more`() async throws {
        let client = try await self.client()
        self.media.when("PATCH 1048576") { await Task { await client.signOut() }.value }
        let upload = try client.uploadMedia(jpeg)
        let isOver = Locked(false)
        let ending = Task {
            defer { isOver.withLock { $0 = true } }
            return try await upload.media
        }
        // A sign-out may wait for the server.
        await self.bench.passTime { isOver.withLock { $0 } }
        await #expect(throws: ChatError.cancelled) { try await ending.value }
        // What has come stays, without its end: a deletion would be asked for by now.
        for _ in 0..<100 { await Task.yield() }
        #expect(self.media.asked == ["POST ", "PATCH 0", "PATCH 1048576"])
    }

    @Test func `are not asked for once the sign-in is over`() async throws {
        let client = try await self.client()
        let engine = try #require(client.engine)
        #expect(try await engine.userToken() == "user-token")
        await engine.finish()
        await #expect(throws: ChatError.cancelled) { try await engine.userToken() }
        await #expect(throws: ChatError.cancelled) { try await client.uploadMedia(jpeg).media }
        let file = self.bench.folder.appendingPathComponent("got.jpg")
        await #expect(throws: ChatError.cancelled) {
            try await client.downloadMedia(MediaID(String(repeating: "0", count: 32)), in: nil, to: file)
        }
        #expect(self.media.asked == [])
    }

    @Test func `that are gone before all of them is sent end with that`() async throws {
        let client = try await self.client()
        let cat = try self.file("cat.jpg", jpeg)
        self.media.when("POST ") { try? FileManager.default.removeItem(at: cat) }
        await #expect {
            try await client.uploadMedia(cat).media
        } throws: { error in
            if case .store? = error as? ChatError { true } else { false }
        }
    }

    @Test func `of no kind that a server takes are refused before anything is sent`() async throws {
        let client = try await self.client()
        for data in [Data("<html>".utf8), Data(), Data("plain".utf8)] {
            #expect(throws: ChatError.self) { try client.uploadMedia(data) }
        }
        #expect(self.media.asked == [])
        let stranger = try self.bench.client(mediaHTTP: self.media) { $0.storeFolder = self.bench.folder }
        #expect(throws: ChatError.notSignedIn) { try stranger.uploadMedia(jpeg) }
    }

    @Test func `that the server refuses end with its code`() async throws {
        let client = try await self.client()
        self.media.refuse(409, "media_quota_exceeded")
        let upload = try client.uploadMedia(jpeg)
        await #expect(throws: ChatError.media(code: "media_quota_exceeded", status: 409)) { try await upload.media }
    }

    @Test func `are downloaded by the message that names them, and go on with what is there`() async throws {
        let client = try await self.client()
        let id = try await client.uploadMedia(jpeg).media
        let file = self.bench.folder.appendingPathComponent("got.jpg")
        await #expect(throws: ChatError.media(code: "unknown_media", status: 404)) {
            try await client.downloadMedia(id, in: nil, to: file)
        }
        try await client.downloadMedia(id, in: MessageID(rawValue: 7), to: file)
        #expect(try Data(contentsOf: file) == jpeg)
        #expect(
            self.media.asked.suffix(3) == [
                "GET bytes=0-1048575", "GET bytes=1048576-2097151", "GET bytes=2097152-3145727",
            ])

        let other = self.bench.folder.appendingPathComponent("other.jpg")
        try jpeg.prefix(2_000_000).write(to: other.appendingPathExtension("part"))
        try Data("\"\(id)\"".utf8).write(to: other.appendingPathExtension("part-tag"))
        try await client.downloadMedia(id, in: MessageID(rawValue: 7), to: other)
        #expect(try Data(contentsOf: other) == jpeg)
        #expect(self.media.asked.last == "GET bytes=2000000-3048575")
        let left = try FileManager.default.contentsOfDirectory(atPath: self.bench.folder.path)
        #expect(!left.contains { $0.contains("part") })
    }

    @Test func `are sent as an image with the thumbnail that the app has made`() async throws {
        let client = try await self.client()
        let small = Data([0xff, 0xd8, 0xff, 0xdb, 1, 2, 3])
        let cat = try self.file("cat.jpg", jpeg)
        let sending = Task { try await client.sendImage(cat, to: place, thumbnails: GivenThumbnail(small)) }
        let message = try await sending.value
        guard case .image(let image) = message.typedContent else { return #expect(Bool(false), "an image") }
        let ids = [image.url, image.thumbnailURL ?? ""].compactMap { MediaID(reference: $0) }
        #expect(ids.map { self.media.file($0)?.bytes } == [jpeg, small])
        #expect(message.typedContent.imageURL == image.thumbnailURL)
    }
}
