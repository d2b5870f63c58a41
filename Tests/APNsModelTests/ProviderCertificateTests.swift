import Testing
import TidingsModel

@testable import APNsModel

@Suite struct `A provider certificate` {
    private static let chat = "com.example.chat"

    @Test(arguments: [false, true]) func `says whose it is, for what and how long`(isCritical: Bool) throws {
        let certificate = try CertificateBytes(isCritical: isCritical).read()
        #expect(certificate.name == "Apple Push Services: com.example.chat")
        #expect(certificate.userID == Self.chat)
        #expect(certificate.teamID == "DEF123GHIJ")
        #expect(certificate.issuer == "Apple Worldwide Developer Relations")
        #expect(certificate.environments == [.sandbox, .production])
        #expect(certificate.validFrom == 1_767_225_600_000)
        #expect(certificate.expiresAt == 1_798_761_600_000)
        #expect(!certificate.isVoIP)
        #expect(certificate.topics == [.init(name: Self.chat, kinds: ["app"])])
        #expect(certificate.fault(at: 1_767_225_600_000) == nil)
    }

    @Test(arguments: [
        ([UInt8](), PushEnvironment.allCases), ([1], [.sandbox]), ([2], [.production]),
        ([2, 1], PushEnvironment.allCases),
    ])
    func `is for the sides it is marked for, and for both without a mark`(
        marks: [UInt8], environments: [PushEnvironment]
    ) throws {
        let listed = (number: UInt8(6), value: CertificateBytes.list([(Self.chat, "app")]))
        let certificate = try CertificateBytes(marks: marks.map { ($0, [5, 0]) } + [listed]).read()
        #expect(certificate.environments == environments)
    }

    @Test(arguments: [
        (UInt8(0x17), "700101000000Z", Int64(0)), (0x17, "000229120000Z", 951_825_600_000),
        (0x17, "991231235959Z", 946_684_799_000), (0x17, "500101000000Z", -631_152_000_000),
        (0x17, "491231235959Z", 2_524_607_999_000), (0x18, "20500101000000Z", 2_524_608_000_000),
        (0x18, "21000301000000Z", 4_107_542_400_000),
    ])
    func `has dates of either form, in UTC`(tag: UInt8, text: String, milliseconds: Int64) throws {
        let certificate = try CertificateBytes(dates: [(tag, text), (tag, text)]).read()
        #expect(certificate.validFrom == milliseconds)
        #expect(certificate.expiresAt == milliseconds)
    }

    @Test(arguments: [
        (UInt8(0x17), "7001010000Z"), (0x17, "7001010000000"), (0x17, "701301000000Z"), (0x17, "70010x000000Z"),
        (0x18, "700101000000Z"), (0x0c, "700101000000Z"), (0x17, "700101240000Z"),
    ])
    func `with a date that is none is no certificate`(tag: UInt8, text: String) {
        #expect(throws: InvalidField(field: "certificate", rule: "must be an X.509 certificate")) {
            try CertificateBytes(dates: [(0x17, "260101000000Z"), (tag, text)]).read()
        }
    }

    @Test func `lists topics with their kinds, and says which pushes each may have`() throws {
        let list = CertificateBytes.list([
            (Self.chat, "app"), ("\(Self.chat).voip", "voip"), ("\(Self.chat).complication", "complication"),
        ])
        let certificate = try CertificateBytes(marks: [(1, [5, 0]), (6, list)]).read()
        #expect(
            certificate.topics == [
                .init(name: Self.chat, kinds: ["app"]), .init(name: "\(Self.chat).voip", kinds: ["voip"]),
                .init(name: "\(Self.chat).complication", kinds: ["complication"]),
            ])
        #expect(!certificate.isVoIP)
        #expect(certificate.pushTypes(to: Self.chat) == [.alert, .background])
        #expect(certificate.pushTypes(to: "\(Self.chat).voip") == [.voip])
        #expect(certificate.pushTypes(to: "\(Self.chat).complication") == [.complication])
        // Not listed, and needs to be; needs no list; needs a token; another app's.
        #expect(certificate.pushTypes(to: "\(Self.chat).push-type.liveactivity") == [])
        #expect(certificate.pushTypes(to: "\(Self.chat).pushkit.fileprovider") == [.fileprovider])
        #expect(certificate.pushTypes(to: "\(Self.chat).location-query") == [])
        #expect(certificate.pushTypes(to: "com.example.other") == [])
    }

    @Test func `has its own app as a topic though the list lacks it`() throws {
        let list = CertificateBytes.list([("com.example.other", "app")])
        #expect(
            try CertificateBytes(marks: [(6, list)]).read().topics.map(\.name) == ["com.example.other", Self.chat])
    }

    /// The subject's UID, and the extensions of Apple's.
    private static let forCalls: [(userID: String, marks: [(number: UInt8, value: [UInt8])])] = [
        (Self.chat, [(4, [5, 0])]), ("\(Self.chat).voip", [(4, [5, 0])]),
        (Self.chat, [(6, CertificateBytes.list([("\(Self.chat).voip", "voip")]))]),
        (Self.chat, [(4, CertificateBytes.list([("\(Self.chat).voip", "voip")]))]),
    ]

    @Test(arguments: Self.forCalls)
    func `for calls has one topic, and sends nothing else`(userID: String, marks: [(number: UInt8, value: [UInt8])])
        throws
    {
        let certificate = try CertificateBytes(userID: userID, marks: marks).read()
        #expect(certificate.isVoIP)
        #expect(certificate.topics == [.init(name: "\(Self.chat).voip", kinds: ["voip"])])
        #expect(certificate.pushTypes(to: "\(Self.chat).voip") == [.voip])
        #expect(certificate.pushTypes(to: Self.chat) == [])
        #expect(certificate.fault(at: certificate.validFrom) == nil)
    }

    /// The same extension is in certificates for everything.
    @Test func `for everything is not for calls alone`() throws {
        let list = CertificateBytes.list([(Self.chat, "app"), ("\(Self.chat).voip", "voip")])
        let marks: [(number: UInt8, value: [UInt8])] = [(4, [5, 0]), (6, list)]
        for marks in [marks, marks.reversed()] {
            let certificate = try CertificateBytes(marks: marks).read()
            #expect(!certificate.isVoIP)
            #expect(certificate.topics.count == 2)
        }
    }

    @Test func `of device management has its own topic and its own kind of push`() throws {
        let topic = "com.apple.mgmt.External.123"
        let certificate = try CertificateBytes(userID: topic, marks: []).read()
        #expect(certificate.topics == [.init(name: topic, kinds: ["mdm"])])
        #expect(certificate.pushTypes(to: topic) == [.mdm])
        #expect(certificate.fault(at: certificate.validFrom) == nil)
    }

    @Test func `that is none for pushes, has expired or is of tomorrow says so`() throws {
        let other = try CertificateBytes(name: "Apple Distribution: Example", marks: []).read()
        #expect(
            other.fault(at: other.validFrom)
                == InvalidField(
                    field: "certificate",
                    rule: "must be one for pushes, made in Apple's developer account; this one is "
                        + "\"Apple Distribution: Example\""))
        let nameless = try CertificateBytes(userID: nil).read()
        #expect(nameless.fault(at: nameless.validFrom)?.rule == "must name a topic")
        let certificate = try CertificateBytes().read()
        #expect(certificate.fault(at: certificate.expiresAt - 1) == nil)
        #expect(
            certificate.fault(at: certificate.expiresAt)
                == InvalidField(field: "certificate", rule: "must not have expired; it did on 2027-01-01"))
        #expect(
            certificate.fault(at: certificate.validFrom - 1)
                == InvalidField(field: "certificate", rule: "must be good by now; it is from 2026-01-01 on"))
    }

    @Test func `cannot steer a terminal`() throws {
        #expect(try CertificateBytes(name: "a\u{1b}[2Jb\u{9b}").read().name == "a\u{fffd}[2Jb\u{fffd}")
    }

    @Test func `of any bytes is read or refused`() {
        let good = CertificateBytes(marks: [(1, [5, 0]), (6, CertificateBytes.list([(Self.chat, "app")]))]).der
        var random = Seeded(7)
        var (read, refused) = (0, 0)
        for _ in 0..<2_000 {
            var bytes = good
            for _ in 0..<random.number(1...3) {
                bytes[random.number(0...bytes.count - 1)] = UInt8(random.number(0...255))
            }
            if random.chance(20) { bytes.removeLast(random.number(1...bytes.count)) }
            do throws(InvalidField) {
                let certificate = try ProviderCertificate(der: bytes)
                _ = certificate.topics.map { certificate.pushTypes(to: $0.name) }
                _ = certificate.fault(at: 0)
                read += 1
            } catch {
                #expect(error.field == "certificate")
                refused += 1
            }
        }
        #expect(read > 100)
        #expect(refused > 100)
    }
}
