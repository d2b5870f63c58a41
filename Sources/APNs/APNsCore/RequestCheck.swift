package import APNsModel
import TidingsModel

/// A request as it came over HTTP/2: nothing is believed yet.
package struct WireRequest: Hashable, Sendable {
    /// One header.
    package struct Header: Hashable, Sendable {
        /// In lowercase (RFC 9113 §8.2).
        package var name: String
        /// As it came.
        package var value: String

        /// A header.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The value of `:method`.
    package var method: String
    /// The value of `:path`.
    package var path: String
    /// Every header but the pseudo-headers, in the order they came.
    package var headers: [Header]
    /// The body; a shell may stop reading once it is longer than any limit.
    package var body: [UInt8]

    /// A request from its parts.
    package init(method: String, path: String, headers: [Header], body: [UInt8]) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }

    /// The request a well-behaved client makes of a push, without `authorization`.
    package init(_ request: APNsRequest) {
        self.init(
            method: "POST", path: request.path,
            headers: request.headerFields.map { Header(name: $0.name, value: $0.value) }, body: request.payload)
    }

    /// The value of a header; of a repeated one the first.
    package subscript(name: String) -> String? { self.headers.first { $0.name == name }?.value }
}

/// The checks a request passes, in the order of apns.md §20. Steps 1 (protocol, below HTTP) and 7 (faults) are
/// elsewhere.
enum RequestCheck {
    /// What the headers say once they are believed.
    struct Headers {
        var topic: String
        var pushType: APNsPushType
        var priority: APNsPriority
        var expiration: Int64?
        var collapseID: String?
    }

    /// Step 1, as far as headers go: none may stand twice.
    static func duplicates(_ request: WireRequest) throws(Refusal) {
        for (index, header) in request.headers.enumerated()
        where request.headers[..<index].contains(where: { $0.name == header.name }) {
            // A cookie may be split over several fields (RFC 9113 §8.2.3); nothing else may repeat.
            guard header.name == "cookie" else { throw Refusal(.duplicateHeaders, detail: header.name) }
        }
    }

    /// Step 2: method and path.
    ///
    /// - Returns: the text of the token, in lowercase; empty texts are refused, malformed ones only in step 6.
    static func deviceToken(_ request: WireRequest) throws(Refusal) -> String {
        guard request.method == "POST" else { throw Refusal(.methodNotAllowed, detail: request.method) }
        let prefix = "/3/device"
        guard request.path.hasPrefix(prefix) else { throw Refusal(.badPath, detail: request.path) }
        let rest = request.path.dropFirst(prefix.count)
        guard !rest.isEmpty, rest != "/" else { throw Refusal(.missingDeviceToken) }
        let token = rest.dropFirst()
        guard rest.first == "/", !token.contains("/"), !token.contains("?") else {
            throw Refusal(.badPath, detail: request.path)
        }
        return token.lowercased()
    }

    /// Step 4: the headers, in Apple's alphabet of complaints.
    static func headers(_ request: WireRequest, key: ProviderKey) throws(Refusal) -> Headers {
        if let id = request["apns-id"], !APNsFormat.isCanonicalUUID(id.utf8) {
            throw Refusal(.badMessageID, detail: id)
        }
        let expiration = try Self.expiration(request["apns-expiration"])
        let type = request["apns-push-type"]
        let priority = try Self.priority(request["apns-priority"], isBackground: type?.lowercased() == "background")
        let collapseID = request["apns-collapse-id"]
        if let collapseID, !APNsFormat.isCollapseID(collapseID.utf8) {
            throw Refusal(.badCollapseID, detail: "\(collapseID.utf8.count) bytes")
        }
        var pushType: APNsPushType?
        if let type {
            guard let known = APNsPushType(rawValue: type.lowercased()) else {
                throw Refusal(.invalidPushType, detail: type)
            }
            pushType = known
        }
        guard let topic = request["apns-topic"], !topic.isEmpty else { throw Refusal(.missingTopic) }
        let (bundleID, found) = try Self.bundleID(topic, pushType: pushType)
        if let topics = key.topics, !topics.contains(bundleID) {
            throw Refusal(.topicDisallowed, detail: "key \(key.keyID) is not for \(bundleID)")
        }
        return Headers(
            topic: topic, pushType: found, priority: priority, expiration: expiration, collapseID: collapseID)
    }

    private static func expiration(_ text: String?) throws(Refusal) -> Int64? {
        guard let text else { return nil }
        guard let seconds = Int64(text), seconds >= 0 else { throw Refusal(.badExpirationDate, detail: text) }
        return seconds
    }

    /// Absent counts as 10; `background` must not say 10 (apns.md §7), but may leave the header out.
    private static func priority(_ text: String?, isBackground: Bool) throws(Refusal) -> APNsPriority {
        guard let text else { return isBackground ? .powerAware : .immediate }
        guard let number = Int(text), let priority = APNsPriority(rawValue: number) else {
            throw Refusal(.badPriority, detail: text)
        }
        guard !isBackground || APNsPushType.background.allows(priority) else {
            throw Refusal(.badPriority, detail: "10 with background")
        }
        return priority
    }

    /// The bundle identifier of a topic, and the push type: the stated one, or the one the suffix tells (apns.md §19,
    /// clients that send none).
    private static func bundleID(
        _ topic: String, pushType: APNsPushType?
    ) throws(Refusal) -> (String, APNsPushType) {
        guard APNsFormat.isTopic(topic.utf8) else { throw Refusal(.badTopic, detail: topic) }
        let bySuffix = APNsPushType.allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
        let type = pushType ?? bySuffix ?? .alert
        let bundleID = topic.dropLast(type.topicSuffix.count)
        guard topic.hasSuffix(type.topicSuffix), !bundleID.isEmpty, type == .mdm || bySuffix == nil || bySuffix == type
        else { throw Refusal(.badTopic, detail: "\(topic) with push type \(type.rawValue)") }
        return (String(bundleID), type)
    }

    /// Step 5: the body. One that is not a JSON object is answered like an empty one (apns.md §20).
    static func body(_ request: WireRequest, pushType: APNsPushType) throws(Refusal) {
        guard !request.body.isEmpty else { throw Refusal(.payloadEmpty) }
        guard request.body.count <= pushType.payloadBytesMax else {
            throw Refusal(.payloadTooLarge, detail: "over \(pushType.payloadBytesMax) bytes")
        }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: request.body)
        } catch {
            throw Refusal(.payloadEmpty, detail: "not JSON: \(error)")
        }
        guard value.objectValue != nil else { throw Refusal(.payloadEmpty, detail: "not a JSON object") }
    }
}
