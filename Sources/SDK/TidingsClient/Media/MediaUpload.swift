import ClientCore
import Foundation
public import TidingsModel

/// How far a transfer is.
public struct MediaProgress: Hashable, Sendable {
    /// Bytes that are safe on the other side.
    public var bytes: Int64
    /// The number of bytes in all.
    public var total: Int64

    /// So far.
    public init(bytes: Int64, total: Int64) {
        self.bytes = bytes
        self.total = total
    }

    /// 0 to 1.
    public var fraction: Double { self.total > 0 ? Double(self.bytes) / Double(self.total) : 1 }
}

/// An upload under way: goes on by itself, also after a lost connection, until it is done, refused or cancelled.
///
/// ```swift
/// let upload = try client.uploadMedia(file)
/// for await progress in upload.progress { bar.progress = progress.fraction }
/// let media = try await upload.media
/// ```
public struct MediaUpload: Sendable {
    /// How far it is, whenever that changes; ends with the upload.
    public let progress: AsyncStream<MediaProgress>
    let task: Task<MediaID, any Error>

    /// The file's id on the server, once all of it is there.
    ///
    /// - Throws: `ChatError.cancelled`, also at a sign-out; `.store`: the file cannot be read any more; `.media` with the server's code, for
    ///   example `media_quota_exceeded`; `.unavailable`: nothing got through for some ten minutes.
    public var media: MediaID { get async throws { try await self.task.value } }

    /// Gives it up: what has come is deleted on the server, now or a day later.
    public func cancel() { self.task.cancel() }
}

/// Carries out what the machines of transfers decide.
struct MediaCourier: Sendable {
    let http: any MediaHTTP
    let base: URL
    /// The sign-in that it is for: nothing is asked any more.
    let hasEnded: @Sendable () -> Bool
    /// Asked for the first request, and when the server refuses one.
    let tokenProvider: @Sendable () async throws -> String
    let sleep: @Sendable (Int64) async -> Void

    enum Source: Sendable {
        case data(Data)
        case file(URL)

        func read(at offset: Int64, count: Int64) throws -> Data {
            switch self {
            case .data(let data):
                let start = data.startIndex + Int(offset)
                return Data(data[start..<(start + Int(count))])
            case .file(let url):
                let read: Data?
                do {
                    let file = try FileHandle(forReadingFrom: url)
                    defer { try? file.close() }
                    try file.seek(toOffset: UInt64(offset))
                    read = try file.read(upToCount: Int(count))
                } catch {
                    throw ChatError.store(reason: "\(error)")
                }
                guard let part = read, part.count == Int(count) else {
                    throw ChatError.store(reason: "the file has become shorter")
                }
                return part
            }
        }
    }

    private static let version = ["Tus-Resumable": "1.0.0"]
    private static let uploads = "v1/media/uploads"

    /// Returns only the id of the server's `Location`: where `base` leads through a proxy, the server knows neither its host nor a prefix
    /// of its paths, and the token goes nowhere else.
    private static func place(_ location: String) -> String? {
        let last = URL(string: location)?.lastPathComponent ?? ""
        return (try? MediaID.validated(last, field: "media")).map { "\(Self.uploads)/\($0)" }
    }

    func upload(
        _ source: Source, bytes: Int64, kind: MediaKind, name: String?, report: @Sendable (Int64) -> Void
    ) async throws -> MediaID {
        var machine = UploadMachine(bytes: bytes, seed: UInt64.random(in: .min ... .max))
        var metadata = "filetype \(Base64.encode(Array(kind.rawValue.utf8), .standard))"
        if let name { metadata += ",filename \(Base64.encode(Array(name.utf8), .standard))" }
        // Asked again after a lost answer, the server tells of the upload that it has begun (docs/server/api.md "Repeats").
        let creation = [
            "Upload-Length": "\(bytes)", "Upload-Metadata": metadata, "Idempotency-Key": "\"\(UUID().uuidString)\"",
        ]
        var token = try await self.token()
        var event: UploadMachine.Event? = .started
        while let happened = event {
            var effects: [UploadMachine.Effect] = []
            machine.handle(Task.isCancelled ? .cancelled : happened, into: &effects)
            event = nil
            for effect in effects {
                switch effect {
                case .create:
                    var answer = await self.request("POST", Self.uploads, token, creation)
                    if let location = answer?.location { answer?.location = Self.place(location) }
                    event = .answered(answer)
                case .ask(let location): event = .answered(await self.request("HEAD", location, token))
                case .send(let location, let offset, let count):
                    let part = try source.read(at: offset, count: count)
                    let headers = ["Upload-Offset": "\(offset)", "Content-Type": "application/offset+octet-stream"]
                    event = .answered(await self.request("PATCH", location, token, headers, part))
                case .wait(let milliseconds):
                    await self.sleep(milliseconds)
                    event = .timePassed
                case .renewToken: token = try await self.token()
                case .report(let sent): report(sent)
                case .delete(let location): self.delete(location, token)
                case .finish(let outcome):
                    try Self.check(outcome)
                    let id = machine.place?.split(separator: "/").last.flatMap {
                        try? MediaID.validated(String($0), field: "media")
                    }
                    guard let id else { throw ChatError.unexpectedAnswer }
                    return id
                }
            }
        }
        throw ChatError.unexpectedAnswer
    }

    func download(
        _ media: MediaID, in message: MessageID?, to file: URL, report: @Sendable (MediaProgress) -> Void
    ) async throws {
        let part = PartFile(file)
        let (offset, tag) = part.state
        var machine = DownloadMachine(offset: offset, tag: tag, seed: UInt64.random(in: .min ... .max))
        let path = "v1/media/\(media)" + (message.map { "?message=\($0)" } ?? "")
        var token = try await self.token()
        var came = Data()
        var event: DownloadMachine.Event? = .started
        while let happened = event {
            var effects: [DownloadMachine.Effect] = []
            machine.handle(Task.isCancelled ? .cancelled : happened, into: &effects)
            event = nil
            for effect in effects {
                switch effect {
                case .fetch(let offset, let count, let tag):
                    var headers = ["Range": "bytes=\(offset)-\(offset + count - 1)"]
                    if offset > 0 { headers["If-Range"] = tag }
                    let answer = await self.send("GET", path, token, headers)
                    came = answer?.body ?? Data()
                    event = .answered(answer.map { MediaAnswer($0) })
                    if let tag = answer?.headers["etag"] { part.tag = tag }
                case .store(let offset): try part.write(came, at: offset)
                case .wait(let milliseconds):
                    await self.sleep(milliseconds)
                    event = .timePassed
                case .renewToken: token = try await self.token()
                case .report(let received, let total): report(MediaProgress(bytes: received, total: total))
                case .finish(let outcome):
                    try Self.check(outcome)
                    return try part.finish()
                }
            }
        }
    }

    private func token() async throws -> String {
        do { return try await self.tokenProvider() } catch {
            // A provider may end with its task in its own way.
            guard !Task.isCancelled, (error as? ChatError) != .cancelled else { throw ChatError.cancelled }
            throw ChatError.noToken(reason: "\(error)")
        }
    }

    private static func check(_ outcome: MediaOutcome) throws(ChatError) {
        switch outcome {
        case .done: break
        case .refused(let code, let status): throw .media(code: code, status: status)
        case .unreachable: throw .unavailable(reason: "nothing got through")
        case .cancelled: throw .cancelled
        }
    }

    private func delete(_ location: String, _ token: String) {
        // The upload's own task is cancelled by now.
        Task.detached { _ = await self.request("DELETE", location, token) }
    }

    private func request(
        _ method: String, _ path: String, _ token: String, _ headers: [String: String] = [:], _ body: Data = Data()
    ) async -> MediaAnswer? {
        let all = headers.merging(Self.version) { own, _ in own }
        return await self.send(method, path, token, all, body).map { MediaAnswer($0) }
    }

    private func send(
        _ method: String, _ path: String, _ token: String, _ headers: [String: String], _ body: Data = Data()
    ) async -> MediaHTTPAnswer? {
        let base = self.base.absoluteString
        // Without the slash the last part of a prefix would be replaced.
        guard !self.hasEnded(), let url = URL(string: base + (base.hasSuffix("/") ? "" : "/") + path) else {
            return nil
        }
        return try? await self.http.send(
            MediaHTTPRequest(method: method, url: url, token: token, headers: headers, body: body))
    }
}

/// The part of a download that has come, in a file beside its destination: a later process goes on with it.
private final class PartFile {
    private let file: URL
    private let path: URL
    private let tagPath: URL
    var tag: String?

    init(_ file: URL) {
        self.file = file
        self.path = file.appendingPathExtension("part")
        self.tagPath = file.appendingPathExtension("part-tag")
    }

    var state: (offset: Int64, tag: String?) {
        guard let size = try? FileManager.default.attributesOfItem(atPath: self.path.path)[.size] as? NSNumber,
            let tag = try? String(contentsOf: self.tagPath, encoding: .utf8)
        else { return (0, nil) }
        return (size.int64Value, tag)
    }

    func write(_ data: Data, at offset: Int64) throws {
        do {
            if offset == 0 {
                try Data().write(to: self.path)
                try Data((self.tag ?? "").utf8).write(to: self.tagPath)
            }
            let file = try FileHandle(forWritingTo: self.path)
            // Those that throw: the older ones raise what Swift cannot catch, on a full disk.
            defer { try? file.close() }
            try file.truncate(atOffset: UInt64(offset))
            try file.seek(toOffset: UInt64(offset))
            try file.write(contentsOf: data)
        } catch {
            throw ChatError.store(reason: "\(error)")
        }
    }

    func finish() throws {
        do {
            _ = try? FileManager.default.removeItem(at: self.file)
            try FileManager.default.moveItem(at: self.path, to: self.file)
            _ = try? FileManager.default.removeItem(at: self.tagPath)
        } catch {
            throw ChatError.store(reason: "\(error)")
        }
    }
}
