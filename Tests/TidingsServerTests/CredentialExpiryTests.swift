import Crypto
import Foundation
import Logging
import ServerCore
import StoreModel
import Synchronization
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `A push credential that expires` {
    private final class Clock: Sendable {
        private let value = Mutex<Int64>(0)
        var now: Int64 {
            get { self.value.withLock { $0 } }
            set { self.value.withLock { $0 = newValue } }
        }
    }

    private final class Events: Sendable {
        let all = Mutex<[ServerReport]>([])
    }

    /// One app with a certificate that expires a hundred days from the start of the clock, and what is said of it.
    private struct Bench {
        private static let day: Int64 = 86_400_000
        let clock = Clock()
        let log = LineLog()
        let metrics = PrometheusRegistry()
        let events = Events()
        let watch: CredentialExpiry

        init(_ state: PushCredentialRecord.State, kind: PushCredentialRecord.Kind = .certificate) throws {
            var app = ManagedApp(id: "demo", createdAt: 0)
            let keys = MasterKeys.drawn()
            let secret: JSONValue = [
                "p8": .string(P256.Signing.PrivateKey().pemRepresentation), "key_id": "K", "team_id": "T",
            ]
            let sealed = try keys.seal(secret.text, .pushCredential, of: "demo", id: "p1")
            app.pushCredentials = [
                PushCredentialRecord(
                    id: "p1", kind: kind, sealed: sealed, fingerprint: "f", topics: ["com.example.chat"], createdAt: 0,
                    expiresAt: kind == .certificate ? 100 * Self.day : nil, state: state)
            ]
            var control = ControlState()
            control.put(app)
            let (clock, events) = (self.clock, self.events)
            self.watch = CredentialExpiry(
                registry: try AppRegistry(control, keys: keys), metrics: ServerMetrics(factory: self.metrics),
                logger: self.log.logger, now: { clock.now },
                report: { report in events.all.withLock { $0.append(report) } })
        }

        /// What is said at a time.
        func look(days: Double) -> [String] {
            let before = self.log.lines.count
            self.clock.now = Int64(days * Double(Self.day))
            self.watch.look()
            return Array(self.log.lines[before...])
        }

        var seconds: String? {
            self.metrics.text.split(separator: "\n").first { $0.hasPrefix("tidings_credential_expiry_seconds ") }
                .map { String($0.split(separator: " ")[1]) }
        }
    }

    @Test func `is warned of once at thirty days, at seven and at one, and when it has expired`() throws {
        let bench = try Bench(.active)
        #expect(bench.look(days: 69.9) == [])
        #expect(bench.look(days: 70).count == 1)
        #expect(bench.look(days: 70.5) == [])
        #expect(bench.look(days: 93).count == 1)
        #expect(bench.look(days: 99).count == 1)
        #expect(bench.look(days: 99.5) == [])
        #expect(bench.seconds == "43200")
        #expect(bench.look(days: 101).count == 1)
        #expect(bench.look(days: 102) == [])
        #expect(bench.seconds == "0")
    }

    @Test func `is told in the stream of events, each time that it is warned of`() throws {
        let bench = try Bench(.active)
        for days in [69.9, 70, 71, 93, 101, 102] { _ = bench.look(days: days) }
        let end: Int64 = 100 * 86_400_000
        let expiring = ServerReport.expiringCredential("demo", credential: "p1", expiresAt: end, isExpired: false)
        #expect(
            bench.events.all.withLock { $0 } == [
                expiring, expiring, .expiringCredential("demo", credential: "p1", expiresAt: end, isExpired: true),
            ])
    }

    @Test func `is said at the start what is true then`() throws {
        let bench = try Bench(.active)
        let lines = bench.look(days: 95)
        #expect(lines.count == 1)
        #expect(lines.first?.contains("it expires within 7 days") == true)
        #expect(try Bench(.active).look(days: 200).first?.contains("it has expired") == true)
    }

    @Test(arguments: [
        (PushCredentialRecord.State.uploaded, PushCredentialRecord.Kind.certificate), (.replaced, .certificate),
        (.rolledBack, .certificate), (.active, .tokenKey),
    ])
    func `is nobody's concern if it is not used, or never expires`(
        state: PushCredentialRecord.State, kind: PushCredentialRecord.Kind
    ) throws {
        let bench = try Bench(state, kind: kind)
        #expect(bench.look(days: 99.5) == [])
        #expect(bench.seconds == "\(CredentialExpiry.never)")
    }
}
