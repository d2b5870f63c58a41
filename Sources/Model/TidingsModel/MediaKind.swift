/// A kind of file that the server stores. None can carry a program to a browser, which is why neither HTML nor SVG nor XML is among them,
/// nor "any bytes".
public enum MediaKind: String, Hashable, Sendable, CaseIterable, Codable, JSONWritable {
    /// JPEG.
    case jpeg = "image/jpeg"
    /// PNG.
    case png = "image/png"
    /// GIF, moving or not.
    case gif = "image/gif"
    /// WebP.
    case webp = "image/webp"
    /// HEIC, as an iPhone's camera writes.
    case heic = "image/heic"
    /// MPEG-4 with video.
    case mp4 = "video/mp4"
    /// QuickTime, as an iPhone's camera writes.
    case quickTime = "video/quicktime"
    /// MPEG-4 with sound alone (`.m4a`).
    case m4a = "audio/mp4"
    /// AAC in ADTS frames.
    case aac = "audio/aac"
    /// PDF.
    case pdf = "application/pdf"
}

extension MediaKind {
    /// How many bytes of a file's beginning tell its kind at most.
    package static let headBytes = 32

    /// Reads a media type; parameters and case do not matter (RFC 9110 §8.3.1), and neither do the other names of three kinds. Nil for
    /// any other.
    public init?(mediaType: String) {
        let name = String(mediaType.prefix { $0 != ";" }).lowercased().trimmingSuffix(while: { $0 == " " })
        switch name {
        case "audio/m4a", "audio/x-m4a": self = .m4a
        case "audio/x-aac", "audio/aacp": self = .aac
        case "image/jpg": self = .jpeg
        default: self.init(rawValue: name)  // tidy: every other name is the kind's own, or of none
        }
    }

    /// Determines the kind of a file by its first bytes; nil if it is none of these. MPEG-4 that does not say if it has pictures is `mp4`.
    public init?(sniffing head: [UInt8]) {
        // The narrower ones go first: whatever is one of these is also "some MPEG-4".
        let order: [Self] = [.jpeg, .png, .gif, .webp, .heic, .quickTime, .pdf, .aac]
        if let kind = order.first(where: { $0.agrees(with: head) }) {
            self = kind
        } else if Self.brand(of: head).map({ Self.soundBrands.contains($0) }) == true {
            self = .m4a
        } else if Self.mp4.agrees(with: head) {
            self = .mp4
        } else {
            return nil
        }
    }

    /// Returns true if a file that begins like this can be of this kind. `head` is its first `headBytes` bytes, or the whole file.
    package func agrees(with head: [UInt8]) -> Bool {
        switch self {
        case .jpeg: head.starts(with: [0xff, 0xd8, 0xff])
        case .png: head.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        case .gif: head.starts(with: "GIF87a".utf8) || head.starts(with: "GIF89a".utf8)
        case .webp: head.starts(with: "RIFF".utf8) && head.dropFirst(8).starts(with: "WEBP".utf8)
        case .heic: Self.brand(of: head).map { Self.stillBrands.contains($0) } ?? false
        case .quickTime: Self.brand(of: head) == "qt  " || Self.isOldQuickTime(head)
        case .mp4, .m4a:
            // Files with sound alone often have a brand of any MPEG-4.
            Self.brand(of: head).map { $0 != "qt  " && !Self.stillBrands.contains($0) } ?? false
        // A sync word of twelve bits, layer 0 (ISO/IEC 13818-7 §6.2).
        case .aac: head.count >= 2 && head[0] == 0xff && head[1] & 0xf6 == 0xf0
        case .pdf: head.starts(with: "%PDF-".utf8)
        }
    }

    /// The major brand of a file of ISO's base format (ISO/IEC 14496-12 §4.3); nil for any other file.
    private static func brand(of head: [UInt8]) -> String? {
        guard head.count >= 12, head[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        let brand = head[8..<12]
        guard brand.allSatisfy({ (0x20..<0x7f).contains($0) }) else { return nil }
        return String(decoding: brand, as: UTF8.self)
    }

    private static let stillBrands: Set<String> = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]
    private static let soundBrands: Set<String> = ["M4A ", "M4B "]

    /// QuickTime had no brand before 2003: it begins with one of its atoms.
    private static func isOldQuickTime(_ head: [UInt8]) -> Bool {
        guard head.count >= 8 else { return false }
        return ["moov", "mdat", "wide", "free"].contains { head[4..<8].elementsEqual($0.utf8) }
    }

    /// True if a notification can show it.
    public var isImage: Bool {
        switch self {
        case .jpeg, .png, .gif, .webp, .heic: true
        case .mp4, .quickTime, .m4a, .aac, .pdf: false
        }
    }

    /// The usual ending of a file's name, without a dot.
    public var fileEnding: String {
        switch self {
        case .jpeg: "jpg"
        case .png: "png"
        case .gif: "gif"
        case .webp: "webp"
        case .heic: "heic"
        case .mp4: "mp4"
        case .quickTime: "mov"
        case .m4a: "m4a"
        case .aac: "aac"
        case .pdf: "pdf"
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> String {
        var text = self
        while let last = text.last, predicate(last) { text.removeLast() }
        return text
    }
}
