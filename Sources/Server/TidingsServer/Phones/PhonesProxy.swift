import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import TidingsModel

/// Asks `tidings phones` on behalf of operators, and adds the token, which no page learns. There is no code of phones in the server: what
/// comes back goes through.
final class PhonesProxy: Sendable {
    /// A place among those who read events, free again when it is let go of.
    final class Place: Sendable {
        private let proxy: PhonesProxy

        fileprivate init(in proxy: PhonesProxy) { self.proxy = proxy }

        deinit { self.proxy.readers.withLock { $0 -= 1 } }
    }

    /// They hold connections that others could use.
    static let readersMax = 16
    /// A trace of 20,000 lines is some megabytes.
    private static let answerBytesMax = 16 << 20
    /// An app may take ten seconds for a touch.
    private static let answerLimit: TimeAmount = .seconds(20)
    /// The host says something every 15 seconds.
    private static let silenceLimit: TimeAmount = .seconds(60)

    private let address: PhonesAddress
    private let tokenPath: String
    private let readers = Mutex(0)

    /// Nil where the configuration names none.
    init?(_ configuration: ServerConfiguration.Console) {
        guard let address = PhonesAddress(configuration.phones) else { return nil }
        self.address = address
        self.tokenPath = configuration.phonesTokenPath
    }

    /// - Returns: the body of the answer.
    /// - Throws: `APIProblem` for what the host refuses, and where there is none.
    func request(_ method: HTTPMethod, _ path: String, body: [UInt8]? = nil) async throws -> ByteBuffer {
        let answer = try await self.send(method, path, body: body, limit: Self.answerLimit)
        let bytes: ByteBuffer
        do { bytes = try await answer.collect(upTo: Self.answerBytesMax) } catch { throw self.unreachable(error) }
        guard !(200..<300).contains(answer.status) else { return bytes }
        throw self.problem(answer.status, bytes)
    }

    /// A stream of events.
    /// - Throws: as `request`.
    func open(_ path: String, lastEventID: String?) async throws -> PhonesAnswer {
        let headers = lastEventID.map { [("last-event-id", $0)] } ?? []
        let answer = try await self.send(.GET, path, headers: headers, limit: Self.silenceLimit)
        guard answer.status == 200 else {
            let bytes = try? await answer.collect(upTo: Self.answerBytesMax)
            throw self.problem(answer.status, bytes ?? ByteBuffer())
        }
        return answer
    }

    /// Nil if there are as many readers as there may be.
    func enter() -> Place? {
        let hasRoom = self.readers.withLock { readers in
            guard readers < Self.readersMax else { return false }
            readers += 1
            return true
        }
        return hasRoom ? Place(in: self) : nil
    }

    private func send(
        _ method: HTTPMethod, _ path: String, headers: [(String, String)] = [], body: [UInt8]? = nil,
        limit: TimeAmount
    ) async throws -> PhonesAnswer {
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: path)
        head.headers = [
            "host": self.address.authority, "authorization": "Bearer \(try await self.token())", "connection": "close",
        ]
        for (name, value) in headers { head.headers.add(name: name, value: value) }
        if let body {
            head.headers.add(name: "content-type", value: "application/json")
            head.headers.add(name: "content-length", value: "\(body.count)")
        }
        do {
            return try await PhonesAnswer.request(self.address, head, body, limit: limit)
        } catch { throw self.unreachable(error) }
    }

    /// Read anew each time: the host may have been started after the server, with another one.
    private func token() async throws -> String {
        let path = self.tokenPath
        let text = try? await NIOThreadPool.singleton.runIfActive {
            try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        }
        let token = text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw APIProblem(
                .phonesUnreachable, field: "console.phones_token_path",
                rule: "must name the token's file of `tidings phones`, which makes it when it is started: \(path)")
        }
        return token
    }

    private func unreachable(_ error: any Error) -> APIProblem {
        if let problem = error as? APIProblem { return problem }
        let reason = (error as? PhonesAnswer.Fault)?.description ?? "nobody listens"
        return APIProblem(
            .phonesUnreachable, field: "console.phones",
            rule: "must be where `tidings phones` runs: \(self.address.authority) gave no answer (\(reason)); start it "
                + "with --port \(self.address.port)")
    }

    private func problem(_ status: Int, _ body: ByteBuffer) -> APIProblem {
        let json = try? JSONValue(parsing: body.readableBytesView)
        let (field, rule) = (json?["field"]?.stringValue, json?["rule"]?.stringValue)
        switch (status, field, rule) {
        case (400, let field?, let rule?): return APIProblem(InvalidField(field: field, rule: rule))
        case (404, "id", let rule?): return APIProblem(.unknownPhone, field: "id", rule: rule)
        case (401, _, _):
            return APIProblem(
                .phonesUnreachable, field: "console.phones_token_path",
                rule: "must name the file of `tidings phones --token-file`: its token was refused")
        default:
            return APIProblem(
                .phonesUnreachable, field: "console.phones",
                rule: "must be where `tidings phones` runs: \(self.address.authority) answered with status \(status)")
        }
    }
}
