import CoreMetrics
import Logging
import ServerCore
import StoreModel
import Synchronization
import TidingsModel

/// Warns of active push credentials that expire soon: at the start and twice a minute, so that one which is activated late is told of at once.
struct CredentialExpiry: Sendable {
    let registry: AppRegistry
    let metrics: ServerMetrics
    let logger: Logger
    let now: @Sendable () -> Int64
    /// To the stream of events.
    let report: @Sendable (ServerReport) -> Void
    /// The warnings given already, by app and credential: the fewest days.
    private let said = Said()

    private final class Said: Sendable {
        let days = Mutex<[String: Int]>([:])
    }

    /// 0 when it has expired.
    static let warningDays = [30, 7, 1, 0]
    private static let day: Int64 = 86_400_000
    /// The metric's value when nothing expires: ten years.
    static let never: Int64 = 315_360_000

    func look() {
        let now = self.now()
        var soonest = Self.never
        for app in self.registry.apps {
            for record in app.pushCredentials where record.state == .active {
                guard let end = record.expiresAt else { continue }
                let left = max(0, end - now)
                soonest = min(soonest, left / 1_000)
                self.warn(of: record, app.id, end, left: left)
            }
        }
        self.metrics.credentialExpiry.set(soonest)
    }

    /// Once for each number of days.
    private func warn(of record: PushCredentialRecord, _ app: AppID, _ end: Int64, left: Int64) {
        guard let days = Self.warningDays.last(where: { left <= Int64($0) * Self.day }) else { return }
        let isNews = self.said.days.withLock { said in
            let key = "\(app)/\(record.id)"
            defer { said[key] = min(days, said[key] ?? days) }
            return said[key].map { days < $0 } ?? true
        }
        guard isNews else { return }
        self.report(.expiringCredential(app, credential: record.id, expiresAt: end, isExpired: left == 0))
        let words = left > 0 ? "it expires within \(days) \(days == 1 ? "day" : "days")" : "it has expired"
        self.logger.log(
            left > 0 ? .warning : .error, "a push credential expires",
            [
                .app: app.rawValue, .credential: record.id, .reason: words,
                .advice: "make a new certificate in Apple's developer account, and upload it",
            ])
    }
}
