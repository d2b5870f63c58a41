package import NIOHTTP1

/// Why a request is refused by its head, whatever it asks for.
package enum RequestFault: Error, CaseIterable, Sendable {
    case target, path, host, transferCoding, contentCoding, expectation, tooLarge

    /// The answer's status, its code as of the HTTP API, and the header or the part that breaks the rule.
    package var row: (status: HTTPResponseStatus, code: String, field: String, rule: String) {
        switch self {
        case .target: (.badRequest, "bad_request", "request", "must ask for a path without #, which is %23 in one")
        case .path: (.notFound, "unknown_route", "path", "must not have an empty segment")
        case .host:
            (.badRequest, "bad_request", "Host", "must be there once, and the host that is asked (RFC 9112 §3.2)")
        case .transferCoding:
            (.notImplemented, "unknown_transfer_coding", "Transfer-Encoding", "must be chunked, in HTTP/1.1")
        case .contentCoding:
            (
                .unsupportedMediaType, "unknown_content_coding", "Content-Encoding",
                "must be identity: nothing is decoded"
            )
        case .expectation: (.expectationFailed, "unknown_expectation", "Expect", "must be 100-continue")
        case .tooLarge: (.payloadTooLarge, "body_too_large", "body", "must be smaller")
        }
    }

    /// The answer as application/problem+json (RFC 9457); the words above need no escapes.
    package var problem: (headers: HTTPHeaders, body: String) {
        let row = self.row
        let members = [
            ("title", row.status.reasonPhrase), ("code", row.code), ("field", row.field),
            ("detail", "\(row.field) \(row.rule)"),
        ].map { "\"\($0)\":\"\($1)\"" }
        return (
            ["content-type": "application/problem+json"],
            "{\"status\":\(row.status.code),\(members.joined(separator: ","))}\n"
        )
    }

    /// - Parameter contentMax: as of `RequestRules`.
    static func check(_ head: HTTPRequestHead, contentMax: Int?) throws(RequestFault) {
        let isOld = head.version != .http1_1
        let target = head.uri.lowercased()
        guard !target.contains("#") else { throw .target }
        let hosts = head.headers["host"].map { $0.lowercased() }
        guard hosts.count == 1 || (isOld && hosts.isEmpty), hosts.allSatisfy({ RequestTarget.host(in: $0) != nil }),
            target.hasPrefix("/") || !target.contains("://") || hosts.allSatisfy({ RequestTarget.isOf($0, target) })
        else { throw .host }
        let codings = head.headers[canonicalForm: "transfer-encoding"].map { $0.lowercased() }
        guard codings.isEmpty || (codings == ["chunked"] && !isOld) else { throw .transferCoding }
        let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        let contentCodings = length > 0 || !codings.isEmpty ? head.headers[canonicalForm: "content-encoding"] : []
        guard contentCodings.allSatisfy({ $0.lowercased() == "identity" }) else { throw .contentCoding }
        let expectations = isOld ? [] : head.headers[canonicalForm: "expect"]
        guard expectations.allSatisfy({ $0.lowercased() == "100-continue" }) else { throw .expectation }
        guard let contentMax else { return }
        let path = String(head.uri.prefix { $0 != "?" })
        guard !RequestTarget.hasEmptySegment(path) else { throw .path }
        guard length <= contentMax else { throw .tooLarge }
    }
}

/// The target of a request (RFC 9112 §3.2).
package enum RequestTarget {
    /// Returns true if a path other than `/` has an empty segment, as of an id that was left empty: it is another path than the one without (RFC 3986
    /// §3.3), though routers pass over it.
    package static func hasEmptySegment(_ path: String) -> Bool {
        path != "/" && (path.hasSuffix("/") || path.contains("//"))
    }

    /// The name in a `Host` without its port, an address of IPv6 without its brackets; nil if it breaks the grammar (RFC 3986 §3.2.2).
    package static func host(in authority: String) -> Substring? {
        // What surrounds a value is no part of it (RFC 9110 §5.5), and NIO leaves tabs.
        let words = authority.split { $0 == " " || $0 == "\t" }
        guard words.count < 2 else { return nil }
        let authority = words.first ?? ""
        let isBracketed = authority.hasPrefix("[")
        let name = authority.dropFirst(isBracketed ? 1 : 0).prefix { $0 != (isBracketed ? "]" : ":") }
        var port = authority[name.endIndex...]
        if isBracketed, port.popFirst() != "]" { return nil }
        let marks = isBracketed ? ":.%" : "-._~%!$&'()*+,;="
        guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || marks.contains($0)) }),
            port.isEmpty || (port.first == ":" && port.dropFirst().allSatisfy { $0.isASCII && $0.isNumber })
        else { return nil }
        return name
    }

    fileprivate static func isOf(_ host: String, _ target: String) -> Bool {
        ["http", "https"].contains { target == "\($0)://\(host)" || target.hasPrefix("\($0)://\(host)/") }
    }
}
