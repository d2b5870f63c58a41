/// The number of a stream: odd when the client opened it; 0 is the connection itself (RFC 9113 §5.1.1).
package typealias StreamID = UInt32

package struct HeaderField: Hashable, Sendable {
    /// Says if the header tables may remember a field (RFC 7541 §6.2).
    package enum Indexing: Hashable, Sendable {
        /// Kept in the table: the next one with this value costs one or two bytes.
        case incremental
        /// Written out each time and never kept, here or by anyone in between: it differs with each message.
        case never
    }

    package var name: String
    /// The value, without spaces at its ends.
    package var value: String
    package var indexing: Indexing

    /// A field; `indexing` follows the name unless given (APNs reference, section 3.6).
    package init(_ name: String, _ value: String, _ indexing: Indexing? = nil) {
        self.name = name
        self.value = value
        self.indexing = indexing ?? Self.usualIndexing(of: name)
    }

    /// Its part of a header list's size (RFC 9113 §6.5.2).
    var size: Int { self.name.utf8.count + self.value.utf8.count + 32 }

    /// Fields that differ with each push would only drive the constant ones out of the table.
    private static func usualIndexing(of name: String) -> Indexing {
        switch name {
        case "apns-id", "apns-collapse-id", "apns-expiration", "apns-unique-id", "apns-request-id", ":path",
            "content-length":
            .never
        default: .incremental
        }
    }
}

package struct RequestHead: Hashable, Sendable {
    /// `POST`, `GET` or `DELETE`.
    package var method: String
    /// `https`, unless a test speaks in the clear.
    package var scheme: String
    package var authority: String
    /// Path and query, beginning with `/`.
    package var path: String
    /// The ordinary fields in the order they are sent.
    package var fields: [HeaderField]

    package init(
        method: String = "POST", scheme: String = "https", authority: String, path: String, fields: [HeaderField] = []
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.fields = fields
    }

    /// The header list's size by the count of RFC 9113 §6.5.2.
    package var listSize: Int {
        var size = 4 * 32 + 7 + 7 + 10 + 5
        size += self.method.utf8.count + self.scheme.utf8.count + self.authority.utf8.count + self.path.utf8.count
        for field in self.fields { size += field.size }
        return size
    }
}

/// The common part of many requests' heads. An encoder that has met it before writes it as it is.
package final class FixedHead: Sendable {
    /// `POST`, `GET` or `DELETE`.
    let method: String
    let authority: String
    let pathPrefix: String
    /// The ordinary fields that come before each request's own.
    let fields: [HeaderField]
    /// The header list's size without the rest of the path and each request's own fields (RFC 9113 §6.5.2).
    let listSize: Int

    package init(method: String = "POST", authority: String, pathPrefix: String, fields: [HeaderField]) {
        self.method = method
        self.authority = authority
        self.pathPrefix = pathPrefix
        self.fields = fields
        self.listSize = RequestHead(method: method, authority: authority, path: pathPrefix, fields: fields).listSize
    }

    package func request(path: String, fields: [HeaderField]) -> RequestHead {
        RequestHead(
            method: self.method, authority: self.authority, path: self.pathPrefix + path, fields: self.fields + fields)
    }
}
