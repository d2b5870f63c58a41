import HTTPUpgrades
import Hummingbird
import Logging
import NIOCore

/// The port of `tidings phones`, on loopback.
struct PhonesServer {
    let port: Int
    private let running: Task<Void, any Error>

    /// - Parameter port: 0 takes a free one.
    /// - Throws: `ToolFailure` if it cannot be listened on.
    static func start(_ api: PhonesAPI, port: Int) async throws -> PhonesServer {
        let (ports, announce) = AsyncThrowingStream.makeStream(of: Int.self)
        let application = Application(
            router: api.router,
            server: .http1(
                configuration: .init(additionalChannelHandlers: [
                    RequestRules(contentMax: PhonesAPI.bodyBytesMax), UpgradeOffers(),
                ])),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: port), serverName: "tidings-phones"),
            onServerRunning: { channel in
                announce.yield(channel.localAddress?.port ?? port)
                announce.finish()
            },
            // Not one that is shut down: Hummingbird's server is freed some time after it has ended, and then still uses its event loop.
            eventLoopGroupProvider: .singleton,
            logger: Logger(label: "tidings.phones") { _ in SwiftLogNoOpLogHandler() })
        let task = Task<Void, any Error> {
            do { try await application.run() } catch {
                announce.finish(throwing: error)
                throw error
            }
        }
        do {
            for try await port in ports { return PhonesServer(port: port, running: task) }
        } catch {
            throw ToolFailure("--port must be free to listen on: 127.0.0.1:\(port): \(error)")
        }
        throw ToolFailure("--port could not be opened: \(port)")
    }

    func stop() async {
        self.running.cancel()
        _ = await self.running.result
    }
}
