import TidingsModel

@testable import APNsModel

/// Writes a certificate as Apple's authority would, signed by nobody.
struct CertificateBytes {
    var name: String? = "Apple Push Services: com.example.chat"
    var userID: String? = "com.example.chat"
    var teamID: String? = "DEF123GHIJ"
    /// Tag and text of both dates.
    var dates: [(tag: UInt8, text: String)] = [(0x17, "260101000000Z"), (0x17, "270101000000Z")]
    /// The extensions of Apple's for pushes by their last number, in this order.
    var marks: [(number: UInt8, value: [UInt8])] = [(1, [5, 0]), (2, [5, 0])]
    var isCritical = false

    static let pushes: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x06, 0x03]

    var der: [UInt8] {
        let algorithm = BER.write(0x30, BER.write(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]))
        var extensions = BER.write(0x30, BER.write(0x06, [0x55, 0x1d, 0x0f]) + BER.write(0x04, [3, 2, 7, 128]))
        for mark in self.marks {
            let critical: [UInt8] = self.isCritical ? [1, 1, 255] : []
            extensions += BER.write(
                0x30, BER.write(0x06, Self.pushes + [mark.number]) + critical + BER.write(0x04, mark.value))
        }
        let parts: [[UInt8]] = [
            BER.write(0xa0, [2, 1, 2]), [2, 1, 77], algorithm,
            Self.names([([0x55, 0x04, 0x03], "Apple Worldwide Developer Relations")]),
            BER.write(0x30, self.dates.flatMap { BER.write($0.tag, Array($0.text.utf8)) }), self.subject,
            BER.write(0x30, algorithm + BER.write(0x03, [0, 1, 2, 3])),
            BER.write(0xa3, BER.write(0x30, extensions)),
        ]
        return BER.write(0x30, BER.write(0x30, parts.flatMap { $0 }) + algorithm + BER.write(0x03, [0, 0]))
    }

    private var subject: [UInt8] {
        Self.names([
            ([0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 0x01, 0x01], self.userID),
            ([0x55, 0x04, 0x03], self.name),
            ([0x55, 0x04, 0x0b], self.teamID),
        ])
    }

    private static func names(_ pairs: [(type: [UInt8], text: String?)]) -> [UInt8] {
        BER.write(
            0x30,
            pairs.flatMap { pair in
                pair.text.map {
                    BER.write(
                        0x31, BER.write(0x30, BER.write(0x06, pair.type) + BER.write(0x0c, Array($0.utf8))))
                } ?? []
            })
    }

    /// The value of the extension that lists topics.
    static func list(_ topics: [(name: String, kind: String)]) -> [UInt8] {
        BER.write(
            0x30,
            topics.flatMap {
                BER.write(0x0c, Array($0.name.utf8)) + BER.write(0x30, BER.write(0x0c, Array($0.kind.utf8)))
            })
    }

    func read() throws(InvalidField) -> ProviderCertificate { try ProviderCertificate(der: self.der) }
}
