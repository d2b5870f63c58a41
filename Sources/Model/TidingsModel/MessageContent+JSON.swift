// Content read is checked like content written: a typed content is always valid.
extension MessageContent {
    /// Reads the content of a message. Content that is not what its object name promises is `custom`, never refused:
    /// the message was accepted, and the app has to show something. Unknown members stay in the message's own text
    /// only.
    public init(objectName: ObjectName, content: String) {
        self = Self.read(objectName, content) ?? .custom(objectName, content)
    }

    private static func read(_ objectName: ObjectName, _ content: String) -> MessageContent? {
        guard Self.builtIn.contains(objectName), let json = Self.parsed(content),
            let read = Self.typed(objectName, json)
        else { return nil }
        do throws(InvalidField) { try read.validate() } catch { return nil }
        return read
    }

    private static let builtIn: [ObjectName] = [
        .text, .image, .gif, .file, .voice, .video, .location, .link, .command,
    ]

    private static func parsed(_ content: String) -> JSONValue? {
        do throws(JSONError) { return try JSONValue(parsing: content) } catch { return nil }
    }

    private static func typed(_ objectName: ObjectName, _ json: JSONValue) -> MessageContent? {
        func text(_ key: String) -> String? { json[key]?.stringValue }
        switch objectName {
        case .text: return text("content").map { .text($0) }
        case .image:
            return text("imageUri").map {
                .image(Image(url: $0, thumbnail: text("content"), thumbnailURL: text("thumbnailUri")))
            }
        case .gif:
            return text("remoteUrl").map {
                .image(Image(url: $0, thumbnailURL: text("thumbnailUri"), isAnimated: true))
            }
        case .file:
            guard let url = text("fileUrl"), let name = text("name"), let bytes = json["size"]?.wholeNumber else {
                return nil
            }
            return .file(File(url: url, name: name, bytes: bytes, type: text("type")))
        case .voice:
            guard let url = text("remoteUrl"), let seconds = json["duration"]?.wholeNumber else { return nil }
            return .voice(Voice(url: url, seconds: seconds))
        case .video:
            guard let url = text("sightUrl"), let seconds = json["duration"]?.wholeNumber else { return nil }
            return .video(
                Video(
                    url: url, seconds: seconds, bytes: json["size"]?.wholeNumber, name: text("name"),
                    thumbnail: text("content")))
        case .location:
            guard let latitude = json["latitude"]?.degrees, let longitude = json["longitude"]?.degrees else {
                return nil
            }
            return .location(
                Location(latitude: latitude, longitude: longitude, name: text("poi"), thumbnail: text("content")))
        case .link:
            guard let url = text("url"), let title = text("title") else { return nil }
            // Clients write an empty text where there is no image.
            let image = text("imageUri").flatMap { $0.isEmpty ? nil : $0 }
            return .link(Link(url: url, title: title, summary: text("content") ?? "", imageURL: image))
        case .command:
            return text("name").map { .command(Command(name: $0, data: text("data") ?? "")) }
        // tidy: a type this build does not know
        default: return nil
        }
    }

    /// The content as it travels.
    public var json: String {
        if case .custom(_, let content) = self { return content }
        return JSONValue.members(self.members.compactMap { key, value in value.map { (key, $0) } }).text
    }

    private var members: [(String, JSONValue?)] {
        switch self {
        case .text(let text): [("content", .string(text))]
        case .image(let image):
            (image.isAnimated
                ? [("remoteUrl", .string(image.url))]
                : [("content", image.thumbnail.map { .string($0) }), ("imageUri", .string(image.url))])
                + [("thumbnailUri", image.thumbnailURL.map { .string($0) })]
        case .file(let file):
            [
                ("name", .string(file.name)), ("size", .int(file.bytes)), ("type", file.type.map { .string($0) }),
                ("fileUrl", .string(file.url)),
            ]
        case .voice(let voice): [("remoteUrl", .string(voice.url)), ("duration", .int(voice.seconds))]
        case .video(let video):
            [
                ("sightUrl", .string(video.url)), ("content", video.thumbnail.map { .string($0) }),
                ("duration", .int(video.seconds)), ("size", video.bytes.map { .int($0) }),
                ("name", video.name.map { .string($0) }),
            ]
        case .location(let place):
            [
                ("content", place.thumbnail.map { .string($0) }),
                ("latitude", JSONNumber(place.latitude).map { .number($0) }),
                ("longitude", JSONNumber(place.longitude).map { .number($0) }), ("poi", place.name.map { .string($0) }),
            ]
        case .link(let link):
            [
                ("title", .string(link.title)), ("content", .string(link.summary)),
                ("imageUri", link.imageURL.map { .string($0) }), ("url", .string(link.url)),
            ]
        case .command(let command): [("name", .string(command.name)), ("data", .string(command.data))]
        case .custom: []
        }
    }
}

extension JSONValue {
    /// Some clients write it as a text.
    fileprivate var wholeNumber: Int64? { self.intValue ?? self.stringValue.flatMap { Int64($0) } }

    fileprivate var degrees: Double? {
        guard case .number(let number) = self else { return nil }
        return number.double
    }
}

extension Message {
    /// The typed content of the message.
    public var typedContent: MessageContent { MessageContent(objectName: self.objectName, content: self.content) }
}
