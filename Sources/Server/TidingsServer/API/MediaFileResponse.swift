import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServerCore
import TidingsModel

/// A file, or a part of it, as it is handed out: never shown in a page of its own, whatever is in it.
struct MediaFileResponse {
    private let record: MediaRecord
    private let range: ByteRange
    private let isUnchanged: Bool

    /// A file never changes, so its id says which it is.
    private var tag: String { "\"\(self.record.id)\"" }

    init(_ record: MediaRecord, _ request: Request) {
        self.record = record
        let tag = "\"\(record.id)\""
        // RFC 9110 §13.1.5: with another tag the whole is asked for.
        let isForRange = request.headers[.ifRange].map { $0 == tag } ?? true
        self.range = ByteRange(isForRange ? request.headers[.range] : nil, of: record.bytes)
        let known = (request.headers[.ifNoneMatch] ?? "").split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }
        self.isUnchanged = known.contains("*") || known.contains { $0 == tag || $0 == "W/\(tag)" }
    }

    /// The most bytes that may wait to be written at a time (`HTTPDeadlines`).
    private static let partBytes: Int64 = 32_768

    /// - Parameter loop: of the connection.
    func response(from shelf: MediaShelf, on loop: any EventLoop) async throws -> Response {
        var headers = self.headers
        if self.isUnchanged { return Response(status: .notModified, headers: headers) }
        let bytes: Range<Int64>
        switch self.range {
        case .whole: bytes = 0..<self.record.bytes
        case .part(let part):
            bytes = part
            headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(self.record.bytes)"
        case .unsatisfiable:
            throw APIProblem(
                .rangeNotSatisfiable, field: "Range", rule: "must begin before byte \(self.record.bytes)",
                headers: [.contentRange: "bytes */\(self.record.bytes)"])
        }
        headers[.contentType] = self.record.kind.rawValue
        // Opened before the answer begins: what is deleted meanwhile is still read to its end.
        let file = try await shelf.file(of: self.record)
        let body = ResponseBody(contentLength: Int(bytes.count)) { writer in
            var offset = bytes.lowerBound
            while offset < bytes.upperBound {
                let (start, count) = (offset, Int(min(Self.partBytes, bytes.upperBound - offset)))
                let part = try await MediaFolder.onDisk { try file.read(at: start, count: count) }
                guard part.count == count else { throw MediaFailure(path: "", code: EIO) }
                try await writer.write(ByteBuffer(bytes: part))
                // The writer knows that the connection takes no more when the loop has had its turn; until then all of the file would be read.
                try await loop.submit {}.get()
                offset += Int64(count)
            }
            try await writer.finish(nil)
        }
        return Response(status: self.range == .whole ? .ok : .partialContent, headers: headers, body: body)
    }

    private var headers: HTTPFields {
        var headers: HTTPFields = [
            .eTag: self.tag, .acceptRanges: "bytes", .cacheControl: "private, max-age=86400",
            .vary: "Authorization", .contentDisposition: self.disposition, .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "sandbox; default-src 'none'",
        ]
        if let policy = HTTPField.Name("Cross-Origin-Resource-Policy") { headers[policy] = "same-origin" }
        return headers
    }

    /// RFC 6266: a plain name for old clients, and the one it has.
    private var disposition: String {
        let plain = "attachment; filename=\"media.\(self.record.kind.fileEnding)\""
        // RFC 8187 §3.2.1.
        let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")
        guard let name = self.record.name?.addingPercentEncoding(withAllowedCharacters: allowed) else { return plain }
        return "\(plain); filename*=UTF-8''\(name)"
    }
}
