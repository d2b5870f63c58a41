import TidingsModel

/// An image beside the text of a notification (apns.md §13 `mutable-content`): what may be fetched, and what it is.
public enum NotificationImage {
    /// The largest image that is fetched, in bytes: half of what the system takes, and little of the memory an extension has
    /// (ios-delivery.md §10).
    public static let bytesMax = 5_000_000
    /// The largest portrait, in bytes: it is shown the size of a finger, and lies in memory beside the image.
    public static let portraitBytesMax = 1_000_000
    /// How long an image may take, in seconds; the notification waits for it. The system gives an extension about 30
    /// (ios-delivery.md §10).
    public static let seconds = 10.0

    /// Returns true if an image may be fetched from a host. The sender chooses the image's URL: their own host would learn when, and from
    /// which address, the push has reached the person.
    ///
    /// - Parameters:
    ///   - host: as in the URL; capitals do not count.
    ///   - hosts: those the app allows; `*.example.com` means every host below `example.com`, but not that one itself.
    ///     An address such as `127.0.0.1` has no host below it: it is allowed by itself alone.
    public static func isAllowed(_ host: String, among hosts: [String]) -> Bool {
        WebAddress.isHost(host, among: hosts)
    }

    /// The kinds of image the system shows beside a notification.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case jpeg = "jpg"
        case png
        case gif

        /// The ending of a file's name, by which the system knows the kind.
        public var fileExtension: String { self.rawValue }

        /// The kind of a file by its first bytes; nil if it is no such image. What the server says of it does not count: a
        /// file that is called an image and is none would be refused by the system, together with the notification's text.
        public init?(bytes: some Collection<UInt8>) {
            let starts: [(Kind, [UInt8])] = [
                (.jpeg, [0xff, 0xd8, 0xff]), (.png, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
                (.gif, Array("GIF87a".utf8)), (.gif, Array("GIF89a".utf8)),
            ]
            guard let found = starts.first(where: { bytes.starts(with: $0.1) }) else { return nil }
            self = found.0
        }
    }
}
