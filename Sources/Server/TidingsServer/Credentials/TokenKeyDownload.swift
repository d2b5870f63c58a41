import Foundation
import NIOCore
import StoreModel
import TidingsModel

/// Gets a key set from where it is: a file, or an address by HTTP/1.1 over TLS; without TLS from this machine only. Redirects are not followed: the
/// keys come from the address the operator named.
struct TokenKeyDownload: Sendable {
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// For the look-up, connecting and the whole answer.
    static let limit: TimeAmount = .seconds(5)

    /// For addresses that the configuration file does not name.
    let networks: WebhookNetworks
    /// These may lead anywhere.
    let named: Set<AppSettings.KeySource>
    let lookUp = HostLookUp()
    let group: any EventLoopGroup

    init(_ configuration: ServerConfiguration, group: any EventLoopGroup) {
        self.networks = WebhookNetworks(allowing: configuration.webhooks.allowedNetworks)
        self.named = Set(configuration.apps.compactMap(\.settings.tokens.keySource))
        self.group = group
    }

    /// - Returns: nil for anything but `https:` with a host, or `http:` with a host of this machine (RFC 8725 §2.7).
    static func address(_ text: String) -> HTTPAddress? {
        HTTPAddress(text) { ["127.0.0.1", "::1", "localhost"].contains($0) }
    }

    func bytes(of source: AppSettings.KeySource, for app: AppID) async throws(TokenKey.Fault) -> [UInt8] {
        switch source {
        case .file(let path):
            guard let file = FileHandle(forReadingAtPath: path) else {
                throw TokenKey.Fault(rule: "must name a readable file, got \"\(path)\"")
            }
            defer { try? file.close() }
            guard let data = try? file.read(upToCount: TokenKey.setBytesMax + 1) else {
                throw TokenKey.Fault(rule: "must name a file with keys, \"\(path)\" is empty or cannot be read")
            }
            return Array(data)
        case .address(let text, let trustRoots):
            let answer = self.group.next().makePromise(of: [UInt8].self)
            answer.completeWithTask {
                try await self.run(
                    text, trustRoots, for: app, within: self.named.contains(source) ? nil : self.networks)
            }
            do {
                // A server that stops does not wait for it.
                return try await withTaskCancellationHandler {
                    try await answer.futureResult.get()
                } onCancel: {
                    answer.fail(CancellationError())
                }
            } catch {
                throw TokenKey.Fault(rule: "must name an address that gives a key set, \(text): \(error)")
            }
        }
    }

    /// - Throws: what `HTTPExchange.run` throws, or `Fault`.
    private func run(
        _ text: String, _ trustRootsPath: String?, for app: AppID, within networks: WebhookNetworks?
    ) async throws -> [UInt8] {
        guard let address = Self.address(text) else {
            throw Fault(description: "it must begin with https://, or http:// on this machine")
        }
        let exchange = HTTPExchange(
            address: address, headers: [("accept", "application/jwk-set+json, application/json")],
            tls: try address.isSecure ? HTTPExchange.tls(trustRootsPath: trustRootsPath) : nil,
            answerBytesMax: TokenKey.setBytesMax)
        let answer = try await exchange.run(
            on: self.group.next(), by: self.lookUp, for: app, within: networks, until: .now() + Self.limit)
        guard answer.status == 200 else { throw Fault(description: "status \(answer.status)") }
        guard !answer.isCut else { throw Fault(description: "more than \(TokenKey.setBytesMax) bytes") }
        return answer.bytes
    }
}
