import Foundation
import NIOCore
import NIOPosix

/// Gets a key set by HTTP/1.1 over TLS; without TLS from this machine only. Redirects are not followed: the keys come from the
/// address the operator named.
struct TokenKeyDownload {
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// For connecting and the whole answer.
    static let limit: TimeAmount = .seconds(5)

    private let address: HTTPAddress
    private let trustRootsPath: String?
    private let group: any EventLoopGroup

    /// - Returns: nil for anything but `https:` with a host, or `http:` with a host of this machine (RFC 8725 §2.7).
    static func address(_ text: String) -> HTTPAddress? {
        HTTPAddress(text) { ["127.0.0.1", "::1", "localhost"].contains($0) }
    }

    init(_ address: String, trustRootsPath: String?, group: any EventLoopGroup) throws {
        guard let address = Self.address(address) else {
            throw Fault(description: "it must begin with https://, or http:// on this machine")
        }
        self.address = address
        self.trustRootsPath = trustRootsPath
        self.group = group
    }

    /// - Throws: what NIO threw, or `Fault`.
    func run() async throws -> [UInt8] {
        let exchange = HTTPExchange(
            address: self.address, headers: [("accept", "application/jwk-set+json, application/json")],
            tls: try self.address.isSecure ? HTTPExchange.tls(trustRootsPath: self.trustRootsPath) : nil,
            answerBytesMax: TokenKey.setBytesMax)
        let answer = try await exchange.run(on: self.group.next(), until: .now() + Self.limit)
        guard answer.status == 200 else { throw Fault(description: "status \(answer.status)") }
        guard !answer.isCut else { throw Fault(description: "more than \(TokenKey.setBytesMax) bytes") }
        return answer.bytes
    }
}
