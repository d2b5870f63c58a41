public import Foundation
public import TidingsModel

// Files on the server: images, recordings, videos.
extension ChatClient {
    /// Uploads a file. What it is, its first bytes say.
    ///
    /// A message names it by `MediaID.reference`, where another has a URL; everyone with that message may read it. A file that no message
    /// names is deleted after a day.
    ///
    /// - Parameters:
    ///   - file: must stay as it is until the upload has ended.
    ///   - name: the file name for people who save it; nil for the file's own.
    /// - Throws: `ChatError.notSignedIn`; `.invalid`: the configuration has no `apiURL`, or the file is empty or of no kind that the
    ///   server could take; `.store`: it cannot be read.
    public func uploadMedia(_ file: URL, name: String? = nil) throws -> MediaUpload {
        let head: Data
        let bytes: Int64
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            head = try handle.read(upToCount: MediaKind.headBytes) ?? Data()
            bytes = Int64(try handle.seekToEnd())
        } catch {
            throw ChatError.store(reason: "\(error)")
        }
        return try self.upload(.file(file), head: head, bytes: bytes, name: name ?? file.lastPathComponent)
    }

    /// Uploads what lies in memory; see `uploadMedia(_:name:)`.
    public func uploadMedia(_ data: Data, name: String? = nil) throws -> MediaUpload {
        try self.upload(.data(data), head: data.prefix(MediaKind.headBytes), bytes: Int64(data.count), name: name)
    }

    /// Downloads a file of the server. What has come before a connection was lost, or the process ended, stays beside the file with the
    /// endings `part` and `part-tag`, and the same call goes on with it.
    ///
    /// - Parameters:
    ///   - media: the file's id, for example `MediaID(reference: image.url)`.
    ///   - message: the message that names it; nil for what this person has uploaded.
    ///   - file: where it goes; replaced if it is there.
    ///   - progress: called as it comes, from any thread.
    /// - Throws: `ChatError.notSignedIn`; `.media` with the server's code: `unknown_media`, also where this person may not read it,
    ///   `media_not_approved`, `media_rejected`; `.store`: the file cannot be written; `.unavailable`; `.cancelled`.
    public func downloadMedia(
        _ media: MediaID, in message: MessageID?, to file: URL,
        progress: @escaping @Sendable (MediaProgress) -> Void = { _ in }
    ) async throws {
        let (courier, engine) = try self.mediaCourier()
        let task = engine.transfer {
            try await courier.download(media, in: message, to: file, report: progress)
        }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Uploads an image with a thumbnail for notifications, and sends both in one message.
    ///
    /// - Parameters:
    ///   - file: the image.
    ///   - conversation: its conversation.
    ///   - thumbnails: makes the thumbnail; on Apple's systems `ImageIOThumbnails()`, elsewhere the app's own.
    ///   - pushText: the text a push shows; nil for the kind's default.
    ///   - progress: called as the image is sent, from any thread.
    /// - Throws: what `uploadMedia(_:name:)`, `MediaUpload.media` and `send(_:to:…)` throw. Nothing is sent unless all of it is on the server.
    @discardableResult
    public func sendImage(
        _ file: URL, to conversation: ConversationID, thumbnails: any ThumbnailMaker, pushText: String? = nil,
        progress: @escaping @Sendable (MediaProgress) -> Void = { _ in }
    ) async throws -> Message {
        var small: MediaID?
        if let data = try thumbnails.thumbnail(of: file, pixels: Self.thumbnailPixels) {
            small = try await Self.finished(try self.uploadMedia(data, name: "thumbnail.jpg")) { _ in }
        }
        let upload = try self.uploadMedia(file)
        let image = try await Self.finished(upload, progress)
        return try await self.send(
            .image(.init(url: image.reference, thumbnailURL: small?.reference)), to: conversation, pushText: pushText)
    }

    /// Sharp at the largest size in which a notification shows an image, and some 60 KB.
    private static let thumbnailPixels = 1_024

    private static func finished(
        _ upload: MediaUpload, _ report: @Sendable (MediaProgress) -> Void
    ) async throws -> MediaID {
        try await withTaskCancellationHandler {
            for await progress in upload.progress { report(progress) }
            return try await upload.media
        } onCancel: {
            upload.cancel()
        }
    }

    private func upload(
        _ source: MediaCourier.Source, head: Data, bytes: Int64, name: String?
    ) throws -> MediaUpload {
        guard let kind = MediaKind(sniffing: [UInt8](head)) else {
            throw ChatError.invalid(
                InvalidField(field: "file", rule: "must be an image, a recording, a video or a PDF by its first bytes"))
        }
        let (courier, engine) = try self.mediaCourier()
        let (progress, continuation) = AsyncStream.makeStream(
            of: MediaProgress.self, bufferingPolicy: .bufferingNewest(1))
        let task = engine.transfer { () async throws -> MediaID in
            // The client stays as long as its uploads, which would end with it.
            defer { withExtendedLifetime(self) { continuation.finish() } }
            return try await courier.upload(source, bytes: bytes, kind: kind, name: name) { sent in
                continuation.yield(MediaProgress(bytes: sent, total: bytes))
            }
        }
        return MediaUpload(progress: progress, task: task)
    }

    private func mediaCourier() throws -> (MediaCourier, ClientEngine) {
        guard let engine = self.engine else { throw ChatError.notSignedIn }
        guard let base = self.configuration.apiURL else {
            throw ChatError.invalid(
                InvalidField(field: "apiURL", rule: "must say where the server's routes for phones are"))
        }
        let clock = self.clock
        let courier = MediaCourier(
            http: self.mediaHTTP, base: base, hasEnded: { engine.hasEnded },
            tokenProvider: { try await engine.userToken() },
            sleep: { await clock.sleep(untilMonotonic: clock.now.monotonic + $0) })
        return (courier, engine)
    }
}
