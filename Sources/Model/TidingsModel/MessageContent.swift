/// The content of a message, by the type its object name stands for (S0.13). The member names of the JSON text are those of the field's
/// clients, so that a backend that writes such messages by itself is understood.
public enum MessageContent: Hashable, Sendable {
    /// Not empty: `RC:TxtMsg`.
    case text(String)
    /// `RC:ImgMsg`, or `RC:GIFMsg` if animated.
    case image(Image)
    /// `RC:FileMsg`.
    case file(File)
    /// `RC:HQVCMsg`.
    case voice(Voice)
    /// `RC:SightMsg`.
    case video(Video)
    /// `RC:LBSMsg`.
    case location(Location)
    /// A web page: `RC:ImgTextMsg`.
    case link(Link)
    /// For the app: `RC:CmdMsg`.
    case command(Command)
    /// A type of the app's own, or content that is not what its object name promises.
    case custom(ObjectName, String)

    /// An image that lies on a web server, or on this one (`MediaID.reference`).
    public struct Image: Hashable, Sendable {
        /// Where it is.
        public var url: String
        /// A small image to show until it is there, in Base64.
        public var thumbnail: String?
        /// Where a small image of it is that a notification can show; nil for the image itself.
        public var thumbnailURL: String?
        /// True if it moves (a GIF).
        public var isAnimated: Bool

        /// An image.
        public init(
            url: String, thumbnail: String? = nil, thumbnailURL: String? = nil, isAnimated: Bool = false
        ) {
            self.url = url
            self.thumbnail = thumbnail
            self.thumbnailURL = thumbnailURL
            self.isAnimated = isAnimated
        }
    }

    /// A file that lies on a web server.
    public struct File: Hashable, Sendable {
        /// Where it is.
        public var url: String
        /// Its name, not empty.
        public var name: String
        /// Its size in bytes, 0 or more.
        public var bytes: Int64
        /// Its kind, for example the ending of its name; nil if it is not known.
        public var type: String?

        /// A file.
        public init(url: String, name: String, bytes: Int64, type: String? = nil) {
            self.url = url
            self.name = name
            self.bytes = bytes
            self.type = type
        }
    }

    /// A recording that lies on a web server.
    public struct Voice: Hashable, Sendable {
        /// Where it is.
        public var url: String
        /// How long it is, in seconds, 1 or more.
        public var seconds: Int64

        /// A recording.
        public init(url: String, seconds: Int64) {
            self.url = url
            self.seconds = seconds
        }
    }

    /// A video that lies on a web server.
    public struct Video: Hashable, Sendable {
        /// Where it is.
        public var url: String
        /// How long it is, in seconds, 1 or more.
        public var seconds: Int64
        /// Its size in bytes, 0 or more; nil if it is not known.
        public var bytes: Int64?
        /// Its name; nil for none.
        public var name: String?
        /// A small image of it, in Base64.
        public var thumbnail: String?

        /// A video.
        public init(url: String, seconds: Int64, bytes: Int64? = nil, name: String? = nil, thumbnail: String? = nil) {
            self.url = url
            self.seconds = seconds
            self.bytes = bytes
            self.name = name
            self.thumbnail = thumbnail
        }
    }

    /// A place.
    public struct Location: Hashable, Sendable {
        /// Degrees north of the equator, −90 to 90.
        public var latitude: Double
        /// Degrees east of Greenwich, −180 to 180.
        public var longitude: Double
        /// The name of the place; nil if nobody gave one.
        public var name: String?
        /// A small image of the map, in Base64.
        public var thumbnail: String?

        /// A place.
        public init(latitude: Double, longitude: Double, name: String? = nil, thumbnail: String? = nil) {
            self.latitude = latitude
            self.longitude = longitude
            self.name = name
            self.thumbnail = thumbnail
        }
    }

    /// A page of the web.
    public struct Link: Hashable, Sendable {
        /// Where it is.
        public var url: String
        /// Its title, not empty.
        public var title: String
        /// The short description; may be empty.
        public var summary: String
        /// Where an image of it is; nil for none.
        public var imageURL: String?

        /// A page.
        public init(url: String, title: String, summary: String = "", imageURL: String? = nil) {
            self.url = url
            self.title = title
            self.summary = summary
            self.imageURL = imageURL
        }
    }

    /// An instruction to the app, as the app's own clients agreed.
    public struct Command: Hashable, Sendable {
        /// The name of the command, not empty.
        public var name: String
        /// The arguments of the command; may be empty.
        public var data: String

        /// An instruction.
        public init(name: String, data: String = "") {
            self.name = name
            self.data = data
        }
    }
}

extension MessageContent {
    /// The object name of the type.
    public var objectName: ObjectName {
        switch self {
        case .text: .text
        case .image(let image): image.isAnimated ? .gif : .image
        case .file: .file
        case .voice: .voice
        case .video: .video
        case .location: .location
        case .link: .link
        case .command: .command
        case .custom(let name, _): name
        }
    }

    /// The flags of such a message unless the sender sets others: a command neither stays in the history nor counts nor rings.
    public var defaultFlags: MessageFlags {
        if case .command = self { return .command }
        return .normal
    }

    /// The text of a text; nil for everything else.
    public var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The image a notification can show beside the text, if the content has one.
    public var imageURL: String? {
        switch self {
        case .image(let image): image.thumbnailURL ?? image.url
        case .link(let link): link.imageURL
        case .text, .file, .voice, .video, .location, .command, .custom: nil
        }
    }

    /// Throws `InvalidField` naming the member as `content.…`; no URL is followed. Where a file lies may be a URL or a reference to
    /// media of the server.
    public func validate() throws(InvalidField) {
        switch self {
        case .text(let text): try Self.check(isFilled: text, field: "content.text")
        case .image(let image):
            try Self.check(place: image.url, field: "content.url")
            if let small = image.thumbnailURL { try Self.check(place: small, field: "content.thumbnailURL") }
        case .file(let file):
            try Self.check(place: file.url, field: "content.url")
            try Self.check(isFilled: file.name, field: "content.name")
            try Self.check(file.bytes, atLeast: 0, field: "content.bytes")
        case .voice(let voice):
            try Self.check(place: voice.url, field: "content.url")
            try Self.check(voice.seconds, atLeast: 1, field: "content.seconds")
        case .video(let video):
            try Self.check(place: video.url, field: "content.url")
            try Self.check(video.seconds, atLeast: 1, field: "content.seconds")
            if let bytes = video.bytes { try Self.check(bytes, atLeast: 0, field: "content.bytes") }
        case .location(let place):
            try Self.check(place.latitude, upTo: 90, field: "content.latitude")
            try Self.check(place.longitude, upTo: 180, field: "content.longitude")
        case .link(let link):
            try WebAddress.check(link.url, field: "content.url")
            try Self.check(isFilled: link.title, field: "content.title")
            if let image = link.imageURL { try Self.check(place: image, field: "content.imageURL") }
        case .command(let command): try Self.check(isFilled: command.name, field: "content.name")
        case .custom(let name, let content):
            _ = try ObjectName.validated(name.rawValue, field: "object_name")
            try Self.check(isFilled: content, field: "content")
        }
    }

    private static func check(place text: String, field: String) throws(InvalidField) {
        if MediaID(reference: text) == nil { try WebAddress.check(text, field: field) }
    }

    private static func check(isFilled text: String, field: String) throws(InvalidField) {
        guard !text.isEmpty else { throw InvalidField(field: field, rule: "must not be empty") }
    }

    private static func check(_ number: Int64, atLeast min: Int64, field: String) throws(InvalidField) {
        guard number >= min else { throw InvalidField(field: field, rule: "must be \(min) or more, got \(number)") }
    }

    private static func check(_ degrees: Double, upTo max: Int, field: String) throws(InvalidField) {
        try InvalidField.check(
            degrees.magnitude <= Double(max), field, "must be -\(max) to \(max) degrees, got \(degrees)")
    }
}

extension MessageFlags {
    /// Neither kept in the history nor counted nor notified: for the app, not for the person.
    public static let command: MessageFlags = []
}
