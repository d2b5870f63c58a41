import StoreModel
import TidingsModel

/// Counts what apps and the addresses of their clients have used up, and knows their requests under idempotency keys that are not answered.
struct AppShares: Sendable {
    struct Load: Sendable {
        var buckets = RateBuckets()
        var backlog = 0
    }

    var apps: [AppID: Load] = [:]
    var addresses = AddressBuckets()
    var keysUnderWay = KeysUnderWay()
}

enum Asker: Hashable, Sendable {
    case person(UserKey)
    case backend(AppID)

    var app: AppID {
        switch self {
        case .person(let user): user.app
        case .backend(let app): app
        }
    }
}

extension StoreCommand {
    var isReading: Bool {
        switch self {
        case .readLog, .readHistory, .readReceipts, .readProfiles, .readFollowing, .countAudience, .readLegs: true
        default: false  // tidy: every other command writes, or reads a record or two
        }
    }
}

extension ClientRequest {
    var isReading: Bool {
        switch self {
        case .history, .enterRoom, .receipts, .profiles, .following: true
        default: false  // tidy: every other request writes, or reads a record or two
        }
    }
}
