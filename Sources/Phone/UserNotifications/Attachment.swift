public import Foundation
import PhoneCore

/// A file that comes with a notification. A virtual phone shows it in its list by name; it neither moves nor draws it.
public final class UNNotificationAttachment: Sendable, Hashable {
    /// The attachment's name.
    public let identifier: String
    /// Where the file is.
    public let url: URL
    /// Its kind, as a uniform type identifier such as `public.jpeg`.
    public let type: String

    /// An attachment; an empty name gets one made up.
    ///
    /// The kinds and sizes are Apple's: images up to 10 MB, sounds up to 5 MB, video up to 50 MB [recalled].
    ///
    /// - Throws: `UNError`: the file does not exist (100), its kind is not known (101), or it is too large (102).
    public init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws {
        guard url.isFileURL, let facts = try? FileManager.default.attributesOfItem(atPath: url.path) else {
            throw UNError(.attachmentInvalidURL, detail: "url names no file: \(url.absoluteString)")
        }
        let hint = options?[UNNotificationAttachmentOptionsTypeHintKey] as? String
        guard let kind = Kind.all.first(where: { hint == nil ? $0.endings.contains(url.ending) : $0.type == hint })
        else {
            throw UNError(
                .attachmentUnrecognizedType,
                detail: "url must name an image, sound or video, got \(hint ?? url.lastPathComponent)")
        }
        let size = (facts[.size] as? NSNumber)?.intValue ?? 0
        guard size <= kind.bytesMax else {
            throw UNError(
                .attachmentInvalidFileSize, detail: "a \(kind.type) may have \(kind.bytesMax) bytes, got \(size)")
        }
        self.identifier = identifier.isEmpty ? UUID().uuidString : identifier
        self.url = url
        self.type = kind.type
    }

    init(value: NotificationAttachment) {
        let url = URL(string: value.url) ?? URL(fileURLWithPath: value.url)
        self.identifier = value.identifier
        self.url = url
        self.type = Kind.all.first { $0.endings.contains(url.ending) }?.type ?? "public.data"
    }

    var value: NotificationAttachment {
        NotificationAttachment(identifier: self.identifier, url: self.url.absoluteString)
    }

    /// The same identifier and file.
    public static func == (left: UNNotificationAttachment, right: UNNotificationAttachment) -> Bool {
        left.identifier == right.identifier && left.url == right.url
    }
    /// Equal ones have equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.identifier) }

    private struct Kind {
        var type: String
        var endings: [String]
        var bytesMax: Int

        static let all = [
            Kind(type: "public.jpeg", endings: ["jpg", "jpeg"], bytesMax: 10_000_000),
            Kind(type: "public.png", endings: ["png"], bytesMax: 10_000_000),
            Kind(type: "com.compuserve.gif", endings: ["gif"], bytesMax: 10_000_000),
            Kind(type: "public.aiff-audio", endings: ["aif", "aiff"], bytesMax: 5_000_000),
            Kind(type: "com.microsoft.waveform-audio", endings: ["wav"], bytesMax: 5_000_000),
            Kind(type: "public.mp3", endings: ["mp3"], bytesMax: 5_000_000),
            Kind(type: "public.mpeg-4-audio", endings: ["m4a"], bytesMax: 5_000_000),
            Kind(type: "public.mpeg", endings: ["mpg", "mpeg"], bytesMax: 50_000_000),
            Kind(type: "public.mpeg-4", endings: ["mp4"], bytesMax: 50_000_000),
            Kind(type: "public.avi", endings: ["avi"], bytesMax: 50_000_000),
        ]
    }
}

extension URL {
    fileprivate var ending: String { self.pathExtension.lowercased() }
}

/// The file's kind if its name does not tell.
public let UNNotificationAttachmentOptionsTypeHintKey = "UNNotificationAttachmentOptionsTypeHintKey"
/// The key to leave out the small image; kept out of sight.
public let UNNotificationAttachmentOptionsThumbnailHiddenKey = "UNNotificationAttachmentOptionsThumbnailHiddenKey"
/// Which part of the image is the small one; kept out of sight.
public let UNNotificationAttachmentOptionsThumbnailClippingRectKey =
    "UNNotificationAttachmentOptionsThumbnailClippingRectKey"
/// Which moment of the video is the small image; kept out of sight.
public let UNNotificationAttachmentOptionsThumbnailTimeKey = "UNNotificationAttachmentOptionsThumbnailTimeKey"
