import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

/// The words of tus 1.0 (https://tus.io/protocols/resumable-upload).
enum Tus {
    static let version = "1.0.0"
    static let contentType = "application/offset+octet-stream"

    static let resumable = Self.name("Tus-Resumable")
    static let extensions = Self.name("Tus-Extension")
    static let maxSize = Self.name("Tus-Max-Size")
    static let checksumAlgorithm = Self.name("Tus-Checksum-Algorithm")
    static let length = Self.name("Upload-Length")
    static let offset = Self.name("Upload-Offset")
    static let uploadMetadata = Self.name("Upload-Metadata")
    static let methodOverride = Self.name("X-HTTP-Method-Override")
    private static let tusVersion = Self.name("Tus-Version")
    private static let uploadChecksum = Self.name("Upload-Checksum")

    static var versions: HTTPFields {
        var fields: HTTPFields = [:]
        fields[Self.tusVersion] = Self.version
        return fields
    }

    /// The names above are valid; `date` is never used.
    private static func name(_ text: String) -> HTTPField.Name { HTTPField.Name(text) ?? .date }

    private static let metadataRule = "must be keys with values in Base64, with commas between"

    /// `key base64, key, key base64`: a key without a value is empty.
    static func metadata(of request: Request) throws(InvalidField) -> [String: String] {
        var found: [String: String] = [:]
        for pair in (request.headers[Self.uploadMetadata] ?? "").split(separator: ",") {
            let parts = pair.split(separator: " ")
            guard (1...2).contains(parts.count) else {
                throw InvalidField(field: "Upload-Metadata", rule: Self.metadataRule)
            }
            let value = parts.count == 1 ? [] : Base64.decode(parts[1].utf8, isStrict: false)
            guard let value, let text = String(validating: value, as: UTF8.self),
                found.updateValue(text, forKey: String(parts[0])) == nil
            else { throw InvalidField(field: "Upload-Metadata", rule: Self.metadataRule) }
        }
        return found
    }

    /// Returns the kept part of the metadata.
    static func metadata(of record: MediaRecord) -> String {
        func pair(_ key: String, _ value: String) -> String { "\(key) \(Base64.encode(Array(value.utf8), .standard))" }
        return (record.name.map { [pair("filename", $0)] } ?? []).joined()
            + (record.name == nil ? "" : ",") + pair("filetype", record.kind.rawValue)
    }

    static func checksum(of request: Request) throws(InvalidField) -> MediaChecksum? {
        guard let text = request.headers[Self.uploadChecksum] else { return nil }
        let parts = text.split(separator: " ")
        guard parts.count == 2, let algorithm = MediaChecksum.Algorithm(rawValue: String(parts[0])),
            let digest = Base64.decode(parts[1].utf8, isStrict: false)
        else {
            let words = MediaChecksum.Algorithm.allCases.map(\.rawValue).joined(separator: " or ")
            throw InvalidField(field: "Upload-Checksum", rule: "must be \(words), and the digest in Base64")
        }
        return MediaChecksum(algorithm: algorithm, digest: digest)
    }
}
