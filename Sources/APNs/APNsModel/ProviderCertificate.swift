package import TidingsModel

/// The contents of a provider certificate (APNs reference, section 5; RFC 5280, section 4.1). Nothing is verified: only APNs decides if it
/// takes the certificate.
package struct ProviderCertificate: Hashable, Sendable {
    /// A topic as the certificate lists it.
    package struct Topic: Hashable, Sendable {
        /// The bundle identifier with the suffix of a push type.
        package var name: String
        /// In Apple's words, such as `app`, `voip` and `complication`.
        package var kinds: [String]
    }

    /// The subject's common name.
    package private(set) var name = ""
    /// The subject's UID: the app's bundle identifier, or the topic of device management; empty without one.
    package private(set) var userID = ""
    /// The subject's organizational unit.
    package private(set) var teamID: String?
    /// The issuer's common name.
    package private(set) var issuer = ""
    /// The topics that it lists, in its order.
    package private(set) var listed: [Topic] = []
    /// Apple's sides it is marked for, as `PushEnvironment` has them in order; both if it has no mark.
    package private(set) var environments = PushEnvironment.allCases
    /// Milliseconds since 1970.
    package private(set) var validFrom: Int64 = 0
    /// Milliseconds since 1970.
    package private(set) var expiresAt: Int64 = 0
    /// True if it has any of the extensions of Apple's that make a certificate one for pushes.
    package private(set) var isMarked = false
    private var hasVoIPMark = false

    /// Reads a certificate.
    ///
    /// - Parameter der: the certificate in DER form.
    /// - Throws: `InvalidField` naming `certificate`.
    package init(der: [UInt8]) throws(InvalidField) {
        do throws(BER.Fault) {
            try self.read(der)
        } catch {
            throw InvalidField(field: "certificate", rule: "must be an X.509 certificate")
        }
    }

    // MARK: Topics

    /// True if it is for calls alone: VoIP certificates are of one topic and send nothing else.
    package var isVoIP: Bool {
        let suffix = APNsPushType.voip.topicSuffix
        return self.listed.isEmpty ? self.hasVoIPMark : self.listed.allSatisfy { $0.name.hasSuffix(suffix) }
    }

    /// The listed ones, then the app's own if it is not among them.
    package var topics: [Topic] {
        if self.isVoIP, self.listed.isEmpty { return [Topic(name: self.voIPTopic, kinds: ["voip"])] }
        guard !self.isVoIP, !self.userID.isEmpty, !self.listed.contains(where: { $0.name == self.userID }) else {
            return self.listed
        }
        return self.listed + [Topic(name: self.userID, kinds: self.isManagement ? ["mdm"] : ["app"])]
    }

    private var voIPTopic: String {
        let suffix = APNsPushType.voip.topicSuffix
        return self.userID.hasSuffix(suffix) ? self.userID : self.userID + suffix
    }

    private var isManagement: Bool { APNsPushType.types(ofTopic: self.userID) == [.mdm] }

    /// How it authenticates a push.
    package var authentication: APNsAuthentication {
        let names = self.topics.map(\.name)
        return .certificate(
            APNsCertificateTopics(subject: self.isVoIP ? names.first ?? "" : self.userID, listed: names))
    }

    /// The types of push it may send to a topic.
    package func pushTypes(to topic: String) -> [APNsPushType] {
        let authentication = self.authentication
        return APNsPushType.types(ofTopic: topic).filter { $0.maySend(to: topic, with: authentication) }
    }

    // MARK: Faults

    /// Returns its fault at a time, as far as that can be seen without APNs; nil for none.
    ///
    /// - Parameter wall: milliseconds since 1970.
    package func fault(at wall: Int64) -> InvalidField? {
        guard self.isMarked || self.isManagement else {
            return InvalidField(
                field: "certificate",
                rule: "must be one for pushes, made in Apple's developer account; this one is \"\(self.name)\"")
        }
        if self.topics.isEmpty { return InvalidField(field: "certificate", rule: "must name a topic") }
        if wall >= self.expiresAt {
            return InvalidField(
                field: "certificate", rule: "must not have expired; it did on \(CertificateDate.text(self.expiresAt))")
        }
        if wall < self.validFrom {
            return InvalidField(
                field: "certificate",
                rule: "must be good by now; it is from \(CertificateDate.text(self.validFrom)) on")
        }
        return nil
    }
}

extension ProviderCertificate {
    private enum Name {
        /// RFC 4519, section 2.39.
        static let userID: [UInt8] = [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 0x01, 0x01]
        static let commonName: [UInt8] = [0x55, 0x04, 0x03]
        static let organizationalUnit: [UInt8] = [0x55, 0x04, 0x0b]
        /// 1.2.840.113635.100.6.3, whose next number is the extension's (APNs reference, section 5).
        static let pushes: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x06, 0x03]
    }

    private mutating func read(_ der: [UInt8]) throws(BER.Fault) {
        var outer = BER(der[...])
        var certificate = try outer.next(0x30).inside()
        var body = try certificate.next(0x30).inside()
        // The version may be left out, the serial number not.
        if try body.next().tag == 0xa0 { _ = try body.next(0x02) }
        _ = try body.next(0x30)
        self.issuer = try Self.attributes(try body.next(0x30))[Name.commonName] ?? ""
        var validity = try body.next(0x30).inside()
        self.validFrom = try CertificateDate.milliseconds(try validity.next())
        self.expiresAt = try CertificateDate.milliseconds(try validity.next())
        let subject = try Self.attributes(try body.next(0x30))
        self.name = subject[Name.commonName] ?? ""
        self.userID = subject[Name.userID] ?? ""
        self.teamID = subject[Name.organizationalUnit]
        // The public key, then unique identifiers that nobody writes, then the extensions.
        _ = try body.next(0x30)
        while !body.isAtEnd {
            let element = try body.next()
            guard element.tag == 0xa3 else { continue }
            var explicit = try element.inside()
            try self.readExtensions(try explicit.next(0x30))
        }
    }

    private mutating func readExtensions(_ list: BER.Element) throws(BER.Fault) {
        var marked: [PushEnvironment] = []
        var extensions = try list.inside()
        while !extensions.isAtEnd {
            var members = try extensions.next(0x30).inside()
            let type = try members.next(0x06).content
            var value = try members.next()
            // Whether it is critical, which may be left out.
            if value.tag == 0x01 { value = try members.next() }
            guard type.starts(with: Name.pushes), type.count == Name.pushes.count + 1 else { continue }
            switch type.last {
            case 1: marked.append(.sandbox)
            case 2: marked.append(.production)
            case 4:
                self.hasVoIPMark = true
                if self.listed.isEmpty { self.listed = Self.topics(try value.octets()) }
            case 6: self.listed = Self.topics(try value.octets())
            default: continue
            }
            self.isMarked = true
        }
        if !marked.isEmpty { self.environments = PushEnvironment.allCases.filter { marked.contains($0) } }
    }

    /// A topic and a sequence of its kinds in turn; what cannot be read lists nothing.
    private static func topics(_ value: [UInt8]) -> [Topic] {
        var found: [Topic] = []
        var outer = BER(value[...])
        guard var list = try? outer.next(0x30).inside() else { return [] }
        while !list.isAtEnd {
            guard let element = try? list.next() else { return found }
            if let name = Self.text(element) {
                found.append(Topic(name: name, kinds: []))
            } else if element.tag == 0x30, !found.isEmpty, var kinds = try? element.inside() {
                while !kinds.isAtEnd, let kind = try? kinds.next() {
                    if let word = Self.text(kind) { found[found.count - 1].kinds.append(word) }
                }
            }
        }
        return found
    }

    /// The first of each kind in a name (RFC 5280, section 4.1.2.4).
    private static func attributes(_ name: BER.Element) throws(BER.Fault) -> [[UInt8]: String] {
        var found: [[UInt8]: String] = [:]
        var sets = try name.inside()
        while !sets.isAtEnd {
            var pairs = try sets.next(0x31).inside()
            while !pairs.isAtEnd {
                var pair = try pairs.next(0x30).inside()
                let type = Array(try pair.next(0x06).content)
                if found[type] == nil { found[type] = Self.text(try pair.next()) }
            }
        }
        return found
    }

    /// UTF8String, PrintableString, T61String or IA5String; characters that would steer a terminal are replaced.
    private static func text(_ element: BER.Element) -> String? {
        guard [0x0c, 0x13, 0x14, 0x16].contains(element.tag) else { return nil }
        let scalars = String(decoding: element.content, as: UTF8.self).unicodeScalars.map { scalar in
            scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) ? "\u{fffd}" : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

extension APNsPushType {
    /// The types of push a topic is for, by its form alone.
    package static func types(ofTopic topic: String) -> [APNsPushType] {
        if topic.hasPrefix(Self.managementPrefix) { return [.mdm] }
        let suffixed = Self.allCases.filter { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
        return suffixed.isEmpty ? [.alert, .background] : suffixed
    }

    /// A topic without the suffix of its push type.
    package static func bundleID(ofTopic topic: String) -> String {
        String(topic.dropLast(Self.types(ofTopic: topic).first?.topicSuffix.count ?? 0))
    }

    /// The prefix of every topic of device management (APNs reference, section 5).
    private static let managementPrefix = "com.apple.mgmt."
}
