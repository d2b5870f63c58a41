import Crypto

extension PKCS12 {
    /// The code that says whether a password is the file's and the file is whole (RFC 7292, section 4 and appendix B).
    struct MAC {
        var hash: [UInt8]
        var digest: [UInt8]
        var salt: [UInt8]
        var rounds: Int

        static let sha1: [UInt8] = [0x2b, 0x0e, 0x03, 0x02, 0x1a]
        static let sha256: [UInt8] = Self.sha2 + [0x01]
        private static let sha2: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02]
    }
}

extension PKCS12.MAC {
    init(_ element: BER.Element) throws(BER.Fault) {
        var members = try element.inside()
        var info = try members.next(0x30).inside()
        var algorithm = try info.next(0x30).inside()
        self.hash = Array(try algorithm.next(0x06).content)
        self.digest = try info.next().octets()
        self.salt = try members.next().octets()
        self.rounds = members.isAtEnd ? 1 : try members.next(0x02).number
        guard self.rounds > 0 else { throw BER.Fault() }
    }

    func written(_ code: [UInt8]) -> [UInt8] {
        let algorithm = BER.write(0x30, BER.write(0x06, self.hash) + [0x05, 0])
        return BER.write(
            0x30,
            BER.write(0x30, algorithm + BER.write(0x04, code)) + BER.write(0x04, self.salt)
                + BER.write(0x02, [UInt8(clamping: self.rounds)]))
    }

    /// Nil for a hash nobody uses here.
    func code(of content: [UInt8], _ password: String) -> [UInt8]? {
        switch self.hash {
        case Self.sha1: self.code(Insecure.SHA1.self, content, password)
        case Self.sha256: self.code(SHA256.self, content, password)
        case Self.sha2 + [0x02]: self.code(SHA384.self, content, password)
        case Self.sha2 + [0x03]: self.code(SHA512.self, content, password)
        default: nil
        }
    }

    private func code<Hash: HashFunction>(_: Hash.Type, _ content: [UInt8], _ password: String) -> [UInt8] {
        // UTF-16, the most significant byte first, with a zero at its end.
        let text = (Array(password.utf16) + [0]).flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        func filled(_ bytes: [UInt8]) -> [UInt8] {
            guard !bytes.isEmpty else { return [] }
            let blocks = (bytes.count + Hash.blockByteCount - 1) / Hash.blockByteCount
            return (0..<blocks * Hash.blockByteCount).map { bytes[$0 % bytes.count] }
        }
        // 3 stands for the key of a MAC. It is as long as one hash, so that the steps for more are not needed.
        let input = [UInt8](repeating: 3, count: Hash.blockByteCount) + filled(self.salt) + filled(text)
        var key = Array(Hash.hash(data: input))
        for _ in 1..<self.rounds { key = Array(Hash.hash(data: key)) }
        return Array(HMAC<Hash>.authenticationCode(for: content, using: SymmetricKey(data: key)))
    }
}

/// Reads elements of ASN.1 in BER (X.690, section 8), as older exporters write them, and writes them in DER.
struct BER {
    private var rest: ArraySlice<UInt8>
    private let depth: Int

    struct Fault: Error {}

    struct Element {
        let tag: UInt8
        let whole: ArraySlice<UInt8>
        let content: ArraySlice<UInt8>
        fileprivate let depth: Int

        var isConstructed: Bool { self.tag & 0x20 != 0 }

        /// A whole number; the largest there is for one that is negative or has more than four bytes.
        var number: Int {
            let bytes = self.content.drop { $0 == 0 }
            guard bytes.count <= 4, self.content.first ?? 0x80 < 0x80 else { return .max }
            return bytes.reduce(0) { $0 << 8 | Int($1) }
        }

        func inside() throws(Fault) -> BER {
            guard self.isConstructed, self.depth < 16 else { throw Fault() }
            return BER(self.content, depth: self.depth + 1)
        }

        /// The bytes of an octet string, which may be in parts, and may have the tag of its place.
        func octets() throws(Fault) -> [UInt8] {
            guard self.isConstructed else { return Array(self.content) }
            var parts = try self.inside()
            var bytes: [UInt8] = []
            while !parts.isAtEnd { bytes += try parts.next().octets() }
            return bytes
        }
    }

    init(_ bytes: ArraySlice<UInt8>, depth: Int = 0) {
        self.rest = bytes
        self.depth = depth
    }

    var isAtEnd: Bool { self.rest.isEmpty }

    /// The next element, which must have this tag.
    mutating func next(_ tag: UInt8) throws(Fault) -> Element {
        let element = try self.next()
        guard element.tag == tag else { throw Fault() }
        return element
    }

    mutating func next() throws(Fault) -> Element {
        let start = self.rest
        let tag = try self.byte()
        // No tag of these files takes more than one byte.
        guard tag & 0x1f != 0x1f else { throw Fault() }
        let first = try self.byte()
        if first == 0x80 { return try self.untilEnd(tag, start) }
        var count = Int(first)
        if first > 0x80 {
            guard first <= 0x84 else { throw Fault() }
            count = 0
            for _ in 0..<(first & 0x7f) { count = count << 8 | Int(try self.byte()) }
        }
        guard count <= self.rest.count else { throw Fault() }
        let content = self.rest.prefix(count)
        self.rest = self.rest.dropFirst(count)
        return Element(
            tag: tag, whole: start.prefix(content.endIndex - start.startIndex), content: content, depth: self.depth)
    }

    private mutating func untilEnd(_ tag: UInt8, _ start: ArraySlice<UInt8>) throws(Fault) -> Element {
        guard tag & 0x20 != 0, self.depth < 16 else { throw Fault() }
        var inner = BER(self.rest, depth: self.depth + 1)
        while true {
            guard inner.rest.count >= 2 else { throw Fault() }
            if inner.rest.starts(with: [0, 0]) { break }
            _ = try inner.next()
        }
        let content = self.rest.prefix(inner.rest.startIndex - self.rest.startIndex)
        self.rest = inner.rest.dropFirst(2)
        return Element(
            tag: tag, whole: start.prefix(content.endIndex + 2 - start.startIndex), content: content, depth: self.depth)
    }

    private mutating func byte() throws(Fault) -> UInt8 {
        guard let byte = self.rest.popFirst() else { throw Fault() }
        return byte
    }

    static func write(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var count = content.count
        if count < 0x80 {
            length = [UInt8(count)]
        } else {
            while count > 0 {
                length.insert(UInt8(count & 0xff), at: 0)
                count >>= 8
            }
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        return [tag] + length + content
    }
}
