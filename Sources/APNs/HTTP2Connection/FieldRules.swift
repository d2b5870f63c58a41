/// RFC 9113 §8.2, §8.3.
enum FieldRules {
    /// Its stream is reset (RFC 9113 §8.1.1).
    struct Malformed: Error, Hashable {
        var rule: String
        /// A pseudo-header field comes after an ordinary one (§8.3): Apple's service ends the connection then
        /// (apns.md §3.6).
        var isOrder = false
    }

    struct Facts: Hashable {
        /// 0 in a request.
        var status = 0
        var contentLength: Int?
        /// By the count of RFC 9113 §6.5.2.
        var listSize = 0
    }

    // MARK: One field

    /// Lower case, without spaces, controls, or colon but the first of a pseudo-header field (§8.2.1).
    static func faultInName(_ name: String) -> String? {
        Self.bytes(of: name) { bytes in
            if bytes.isEmpty { return "has no name" }
            for (index, byte) in bytes.enumerated() {
                switch byte {
                case 0x41...0x5a: return "has upper case in its name"
                case 0x00...0x20, 0x7f...0xff: return "has a byte in its name that no name has"
                case UInt8(ascii: ":") where index > 0: return "has a colon in its name"
                default: continue
                }
            }
            return nil
        }
    }

    /// No NUL or end of line, and no spaces at the ends (§8.2.1).
    static func faultInValue(_ value: String) -> String? {
        Self.bytes(of: value) { bytes in
            guard let first = bytes.first, let last = bytes.last else { return nil }
            if first == 0x20 || first == 0x09 || last == 0x20 || last == 0x09 { return "has a space at an end" }
            // Values without a control, which are almost all, are looked through many bytes at a time.
            var lowest = UInt8.max
            for byte in bytes { lowest = min(lowest, byte) }
            guard lowest <= 0x0d else { return nil }
            for byte in bytes where byte == 0 || byte == 0x0a || byte == 0x0d {
                return "has a NUL or an end of line in its value"
            }
            return nil
        }
    }

    static func isPlain(_ name: String, _ value: String) -> Bool {
        let means =
            switch name.utf8.count {
            case 2: name == "te"
            case 7: name == "upgrade"
            case 10: name == "connection" || name == "keep-alive"
            case 14: name == "content-length"
            case 16: name == "proxy-connection"
            case 17: name == "transfer-encoding"
            default: false
            }
        if means || name.utf8.first == UInt8(ascii: ":") { return false }
        return Self.faultInName(name) == nil && Self.faultInValue(value) == nil
    }

    private static func bytes(of text: String, _ check: (UnsafeBufferPointer<UInt8>) -> String?) -> String? {
        if let found = text.utf8.withContiguousStorageIfAvailable(check) { return found }
        return Array(text.utf8).withUnsafeBufferPointer(check)
    }

    // MARK: Heads

    /// - Returns: false for a pseudo-header field, which is only counted.
    private static func takeOrdinary(_ field: HeaderList.Field, into facts: inout Facts) throws(Malformed) -> Bool {
        facts.listSize += field.name.utf8.count + field.value.utf8.count + 32
        if field.isPlain { return true }
        if field.name.utf8.first == UInt8(ascii: ":") { return false }
        try Self.ordinary(field.name, field.value, into: &facts)
        return true
    }

    static func request(_ headers: HeaderList) throws(Malformed) -> Facts {
        var facts = Facts()
        var hasOrdinary = false
        var (hasMethod, hasScheme, hasPath, hasAuthority) = (false, false, false, false)
        for field in headers.fields {
            if try Self.takeOrdinary(field, into: &facts) {
                hasOrdinary = true
                continue
            }
            let (name, value) = (field.name, field.value)
            if hasOrdinary { throw Malformed(rule: "\(name) comes after an ordinary field", isOrder: true) }
            switch name {
            case ":method":
                try Self.once(&hasMethod, name)
                if value.isEmpty { throw Malformed(rule: ":method is empty") }
                if value == "CONNECT" { throw Malformed(rule: "CONNECT is not served") }
            case ":scheme":
                try Self.once(&hasScheme, name)
                if value.isEmpty { throw Malformed(rule: ":scheme is empty") }
            case ":path":
                try Self.once(&hasPath, name)
                guard value.utf8.first == UInt8(ascii: "/") || value == "*" else {
                    throw Malformed(rule: ":path does not begin with a slash")
                }
            case ":authority": try Self.once(&hasAuthority, name)
            default: throw Malformed(rule: "\(name) is no pseudo-header field of a request")
            }
            if let rule = Self.faultInValue(value) { throw Malformed(rule: "\(name) \(rule)") }
        }
        guard hasMethod else { throw Malformed(rule: ":method is missing") }
        guard hasScheme else { throw Malformed(rule: ":scheme is missing") }
        guard hasPath else { throw Malformed(rule: ":path is missing") }
        return facts
    }

    static func response(_ headers: HeaderList) throws(Malformed) -> Facts {
        var facts = Facts()
        var hasOrdinary = false
        for field in headers.fields {
            if try Self.takeOrdinary(field, into: &facts) {
                hasOrdinary = true
                continue
            }
            let (name, value) = (field.name, field.value)
            if hasOrdinary { throw Malformed(rule: "\(name) comes after an ordinary field") }
            guard name == ":status" else {
                throw Malformed(rule: "\(name) is no pseudo-header field of a response")
            }
            if facts.status != 0 { throw Malformed(rule: ":status comes twice") }
            guard value.utf8.count == 3, let status = Self.number(value), (100...999).contains(status) else {
                throw Malformed(rule: ":status is not 100…999")
            }
            facts.status = status
        }
        if facts.status == 0 { throw Malformed(rule: ":status is missing") }
        // RFC 9113 §8.6 takes the upgrade away.
        if facts.status == 101 { throw Malformed(rule: ":status is 101") }
        return facts
    }

    static func trailers(_ headers: HeaderList) throws(Malformed) {
        var facts = Facts()
        for field in headers.fields where !field.isPlain {
            let (name, value) = (field.name, field.value)
            if name.utf8.first == UInt8(ascii: ":") { throw Malformed(rule: "\(name) stands in trailers") }
            try Self.ordinary(name, value, into: &facts)
        }
    }

    private static func once(_ isThere: inout Bool, _ name: String) throws(Malformed) {
        if isThere { throw Malformed(rule: "\(name) comes twice") }
        isThere = true
    }

    private static func ordinary(_ name: String, _ value: String, into facts: inout Facts) throws(Malformed) {
        if let rule = Self.faultInName(name) ?? Self.faultInValue(value) {
            throw Malformed(rule: "a field (\(name.prefix(40))) \(rule)")
        }
        switch name {
        case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
            throw Malformed(rule: "\(name) is for HTTP/1.1 (RFC 9113 section 8.2.2)")
        case "te" where value != "trailers":
            throw Malformed(rule: "te is not “trailers”")
        case "content-length":
            guard let length = Self.number(value) else { throw Malformed(rule: "content-length is no number") }
            guard facts.contentLength == nil || facts.contentLength == length else {
                throw Malformed(rule: "content-length comes twice")
            }
            facts.contentLength = length
        default: break
        }
    }

    /// Digits alone, without a sign, and not more than fit.
    private static func number(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}
