package import APNsModel

/// A request as it came over HTTP/2: nothing of it is verified yet.
package struct WireRequest: Hashable, Sendable {
    package struct Header: Hashable, Sendable {
        /// In lowercase (RFC 9113, section 8.2).
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package var method: String
    package var path: String
    /// The value of `:authority`; nil for clients that send `host` instead (APNs reference, section 3.6). Which host
    /// was meant is known from the port, so that neither is needed.
    package var authority: String?
    /// Without pseudo-headers, in the order they came.
    package var headers: [Header]
    /// A shell may stop reading once it is longer than any limit.
    package var body: [UInt8]

    package init(method: String, path: String, authority: String? = nil, headers: [Header], body: [UInt8]) {
        self.method = method
        self.path = path
        self.authority = authority
        self.headers = headers
        self.body = body
    }

    /// Makes the request of a well-behaved client, without `authorization`.
    package init(_ request: APNsRequest) {
        self.init(request.method, request.path, request.headerFields, request.payload)
    }

    package init(_ broadcast: APNsBroadcast) {
        self.init(broadcast.method, broadcast.path, broadcast.headerFields, broadcast.payload)
    }

    package init(_ request: APNsChannelRequest) {
        self.init(request.method, request.path, request.headerFields, request.payload)
    }

    private init(_ method: String, _ path: String, _ fields: [(name: String, value: String)], _ body: [UInt8]) {
        let headers = fields.map { Header(name: $0.name, value: $0.value) }
        self.init(method: method, path: path, headers: headers, body: body)
    }

    /// Returns the value of a header; of a repeated one the first.
    package subscript(name: String) -> String? { self.headers.first { $0.name == name }?.value }

    /// The size of the header list by RFC 9113, section 6.5.2: 32 more than name and value for each field. Of `:scheme`
    /// the longest value counts.
    var headerListBytes: Int {
        var bytes = 4 * 32 + 7 + self.method.utf8.count + 5 + self.path.utf8.count + 7 + 5
        bytes += 10 + (self.authority?.utf8.count ?? 0)
        for header in self.headers { bytes += 32 + header.name.utf8.count + header.value.utf8.count }
        return bytes
    }
}

struct RequestFields: Sendable {
    var apnsID: String?
    var requestID: String?
    var topic: String?
    var pushType: String?
    var priority: String?
    var expiration: String?
    var collapseID: String?
    var channelID: String?
    private var authorization: String?

    /// - Throws: `DuplicateHeaders`.
    init(_ request: WireRequest) throws(Refusal) {
        var others: [String] = []
        for header in request.headers {
            switch header.name {
            case "apns-id": try Self.set(&self.apnsID, header)
            case "apns-request-id": try Self.set(&self.requestID, header)
            case "apns-topic": try Self.set(&self.topic, header)
            case "apns-push-type": try Self.set(&self.pushType, header)
            case "apns-priority": try Self.set(&self.priority, header)
            case "apns-expiration": try Self.set(&self.expiration, header)
            case "apns-collapse-id": try Self.set(&self.collapseID, header)
            case "apns-channel-id": try Self.set(&self.channelID, header)
            case "authorization": try Self.set(&self.authorization, header)
            // A cookie may be split over several fields (RFC 9113, section 8.2.3); nothing else may repeat.
            case "cookie": break
            default:
                guard !others.contains(header.name) else { throw Refusal(.duplicateHeaders, detail: header.name) }
                others.append(header.name)
            }
        }
    }

    private static func set(_ field: inout String?, _ header: WireRequest.Header) throws(Refusal) {
        guard field == nil else { throw Refusal(.duplicateHeaders, detail: header.name) }
        field = header.value
    }
}
