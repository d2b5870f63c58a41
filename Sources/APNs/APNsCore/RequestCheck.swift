import APNsModel
import TidingsModel

enum ProviderRoute: Hashable, Sendable {
    /// A push to the device token with this text, in lowercase.
    case push(token: String)
    case channels(ChannelTask, bundleID: String)

    enum ChannelTask: Hashable, Sendable { case broadcast, create, read, delete, list }

    /// Step 2 of APNs reference, section 20.
    ///
    /// - Throws: `MethodNotAllowed`, `BadPath`, `MissingDeviceToken`.
    init(_ request: WireRequest, host: ProviderHost) throws(Refusal) {
        switch host.service {
        case .push: self = try Self.pushing(request)
        case .channels: self = try Self.managing(request)
        }
    }

    private static func pushing(_ request: WireRequest) throws(Refusal) -> ProviderRoute {
        guard request.method == "POST" else { throw Refusal(.methodNotAllowed, detail: request.method) }
        let prefix = "/3/device"
        guard request.path.hasPrefix(prefix) else {
            return .channels(.broadcast, bundleID: try Self.bundleID(request.path, after: "/4/broadcasts/apps/"))
        }
        let rest = request.path.dropFirst(prefix.count)
        guard !rest.isEmpty, rest != "/" else { throw Refusal(.missingDeviceToken) }
        let token = rest.dropFirst()
        var isUpper = false
        var isPlain = rest.utf8.first == UInt8(ascii: "/")
        for byte in token.utf8 {
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") { isPlain = false }
            if byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") { isUpper = true }
        }
        guard isPlain else { throw Refusal(.badPath, detail: request.path) }
        return .push(token: isUpper ? token.lowercased() : String(token))
    }

    private static func managing(_ request: WireRequest) throws(Refusal) -> ProviderRoute {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "1", parts[2] == "apps", !parts[3].isEmpty else {
            throw Refusal(.badPath, detail: request.path)
        }
        let bundleID = String(parts[3])
        switch (parts[4], request.method) {
        case ("channels", "POST"): return .channels(.create, bundleID: bundleID)
        case ("channels", "GET"): return .channels(.read, bundleID: bundleID)
        case ("channels", "DELETE"): return .channels(.delete, bundleID: bundleID)
        case ("all-channels", "GET"): return .channels(.list, bundleID: bundleID)
        case ("channels", _), ("all-channels", _): throw Refusal(.methodNotAllowed, detail: request.method)
        case (_, _): throw Refusal(.badPath, detail: request.path)
        }
    }

    private static func bundleID(_ path: String, after prefix: String) throws(Refusal) -> String {
        guard path.hasPrefix(prefix) else { throw Refusal(.badPath, detail: path) }
        let rest = path.dropFirst(prefix.count)
        guard !rest.isEmpty, !rest.contains("/") else { throw Refusal(.badPath, detail: path) }
        return String(rest)
    }
}

/// The checks of a push to a device, in the order of APNs reference, section 20: steps 4 and 5.
enum RequestCheck {
    struct Headers {
        var topic: String
        var pushType: APNsPushType
        var priority: APNsPriority
        var expiration: Int64?
        var collapseID: String?
    }

    /// Step 4: the headers.
    static func headers(_ fields: RequestFields, connection: inout ProviderConnection) throws(Refusal) -> Headers {
        if let id = fields.apnsID, !APNsFormat.isCanonicalUUID(id.utf8) {
            throw Refusal(.badMessageID, detail: id)
        }
        let expiration = try Self.expiration(fields.expiration)
        let stated = fields.pushType.map { APNsPushType(rawValue: $0) ?? APNsPushType(wireName: $0) }
        let priority = try Self.priority(fields.priority, isBackground: stated == .background)
        if let collapseID = fields.collapseID, !APNsFormat.isCollapseID(collapseID.utf8) {
            throw Refusal(.badCollapseID, detail: "\(collapseID.utf8.count) bytes")
        }
        // A type is stated, and unknown.
        if case .some(.none) = stated { throw Refusal(.invalidPushType, detail: fields.pushType) }
        let topic: String
        if let given = fields.topic, !given.isEmpty { topic = given } else { topic = try connection.onlyTopic() }
        let pushType: APNsPushType
        if let known = connection.knownTopic, known.topic == topic, known.stated == (stated ?? nil) {
            pushType = known.pushType
        } else {
            let bundleID: String
            (bundleID, pushType) = try Self.bundleID(topic, pushType: stated ?? nil)
            guard connection.maySend(pushType, topic: topic, bundleID: bundleID) else {
                throw Refusal(.topicDisallowed, detail: "key or certificate is not for \(topic)")
            }
            connection.knownTopic = (topic, stated ?? nil, pushType)
        }
        return Headers(
            topic: topic, pushType: pushType, priority: priority, expiration: expiration,
            collapseID: fields.collapseID)
    }

    static func expiration(_ text: String?) throws(Refusal) -> Int64? {
        guard let text else { return nil }
        guard let seconds = Int64(digits: text) else { throw Refusal(.badExpirationDate, detail: text) }
        return seconds
    }

    /// Absent counts as 10; `background` must not say 10 (APNs reference, section 7), but may leave the header out.
    static func priority(_ text: String?, isBackground: Bool) throws(Refusal) -> APNsPriority {
        guard let text else { return isBackground ? .powerAware : .immediate }
        guard let number = Int(digits: text), let priority = APNsPriority(rawValue: number) else {
            throw Refusal(.badPriority, detail: text)
        }
        guard !isBackground || APNsPushType.background.allows(priority) else {
            throw Refusal(.badPriority, detail: "10 with background")
        }
        return priority
    }

    /// The bundle identifier of a topic, and the push type: the stated one, or the one the suffix tells (APNs
    /// reference, section 19, clients that send none).
    private static func bundleID(
        _ topic: String, pushType: APNsPushType?
    ) throws(Refusal) -> (String, APNsPushType) {
        guard APNsFormat.isTopic(topic.utf8) else { throw Refusal(.badTopic, detail: topic) }
        let bySuffix = Self.suffixed.first { topic.hasSuffix($0.suffix) }?.type
        let type = pushType ?? bySuffix ?? .alert
        let suffix = type.topicSuffix
        let bundleID = suffix.isEmpty ? topic[...] : topic.dropLast(suffix.count)
        guard topic.hasSuffix(suffix), !bundleID.isEmpty, type == .mdm || bySuffix == nil || bySuffix == type
        else { throw Refusal(.badTopic, detail: "\(topic) with push type \(type.rawValue)") }
        return (String(bundleID), type)
    }

    private static let suffixed: [(type: APNsPushType, suffix: String)] = APNsPushType.allCases
        .map { (type: $0, suffix: $0.topicSuffix) }.filter { !$0.suffix.isEmpty }

    /// Step 5: the body. One that is not a JSON object is answered like an empty one (APNs reference, section 20).
    static func body(_ body: [UInt8], bytesMax: Int) throws(Refusal) {
        guard !body.isEmpty else { throw Refusal(.payloadEmpty) }
        guard body.count <= bytesMax else { throw Refusal(.payloadTooLarge, detail: "over \(bytesMax) bytes") }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: body)
        } catch {
            throw Refusal(.payloadEmpty, detail: "not JSON: \(error)")
        }
        guard value.objectValue != nil else { throw Refusal(.payloadEmpty, detail: "not a JSON object") }
    }
}
