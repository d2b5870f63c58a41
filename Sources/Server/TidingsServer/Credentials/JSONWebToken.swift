import Foundation
import TidingsModel

/// A JSON web token in its compact form (RFC 7519 §3, RFC 7515 §7.1). Nothing in it is to be trusted before `isSigned`.
struct JSONWebToken {
    let algorithm: String
    let keyID: String?
    let claims: JSONObject
    private let signed: ArraySlice<UInt8>
    private let signature: [UInt8]

    static let bytesMax = 4_096

    /// Nil for what is no token, or one whose header lists extensions that must be understood (`crit`, RFC 7515 §4.1.11): none is
    /// understood here.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.bytesMax else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64.decode(parts[2], isStrict: true), let algorithm = header["alg"]?.stringValue,
            header["crit"] == nil
        else { return nil }
        switch header["kid"] {
        case nil: self.keyID = nil
        case .string(let id)?: self.keyID = id
        default: return nil
        }
        self.algorithm = algorithm
        self.claims = claims
        self.signature = signature
        self.signed = bytes[..<parts[2].startIndex].dropLast()
    }

    func isSigned(by key: TokenKey.Verifier) -> Bool { key.isSignature(self.signature, of: self.signed) }

    /// With HS256.
    func isSigned(by key: SharedKey) -> Bool { key.hasMade(self.signature, of: self.signed) }

    /// With HS256.
    static func signed(_ claims: JSONMembers, by key: SharedKey) -> String {
        let header: JSONValue = ["alg": "HS256", "typ": "JWT"]
        let plain =
            "\(Base64.encode(header.serialized, .url)).\(Base64.encode(claims.json.serialized, .url))"
        return "\(plain).\(Base64.encode(key.signature(of: Data(plain.utf8)), .url))"
    }

    // MARK: Claims

    /// Nil if the claim is missing or something else.
    func text(_ name: String) -> String? { self.claims[name]?.stringValue }

    func integer(_ name: String) -> Int64? { self.claims[name]?.intValue }

    /// `NumericDate` (RFC 7519 §2): seconds, possibly with a fraction.
    enum Time: Equatable {
        case missing
        /// Wall milliseconds, within ±2^53.
        case at(Int64)
        case malformed
    }

    func time(_ name: String) -> Time {
        switch self.claims[name] {
        case nil: return .missing
        case .number(let number)?:
            let milliseconds = (number.double * 1_000).rounded()
            let most: Double = 9_007_199_254_740_992
            // Behind the year 9999 it is no number of seconds, as RFC 7519 §2 has it, but of milliseconds: such a token would never end.
            guard milliseconds.isFinite, milliseconds < 253_402_300_800_000 else { return .malformed }
            return .at(Int64(min(max(milliseconds, -most), most)))
        default: return .malformed
        }
    }

    /// `aud` (RFC 7519 §4.1.3): one text or several; nil without the claim, empty for anything else.
    var audiences: [String]? {
        switch self.claims["aud"] {
        case nil: return nil
        case .string(let audience)?: return [audience]
        case .array(let list)?:
            let audiences = list.compactMap(\.stringValue)
            return audiences.count == list.count ? audiences : []
        default: return []
        }
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        guard let data = Base64.decode(part, isStrict: true),
            let value = try? JSONValue(parsing: data, depthMax: 16)
        else { return nil }
        return value.objectValue
    }
}
