import Synchronization
import TidingsModel

/// The provider tokens of a process: one for each key and team, however many clients send with it. APNs asks for that, and refuses the pushes of
/// a key that it sees with new tokens too often (APNs reference, section 4).
package final class ProviderTokens: Sendable {
    struct Token: Equatable {
        /// The value of the header `authorization`.
        var authorization: String
        var at: Now
    }

    package static let ofProcess = ProviderTokens()

    /// Clients renew it at this age (`ProviderTokenRule`), the first of them for all.
    private static let renewAfter: Int64 = 2_700_000
    /// Nobody uses it any more.
    private static let ageMax: Int64 = 3_600_000

    private let tokens = Mutex<[APNsClient.TokenCredential.Identity: Token]>([:])

    package init() {}

    /// The one that is used already, or one that is signed now.
    ///
    /// - Parameter known: what the client has and does not want any more: it is too old, or APNs has refused it. Nil for none.
    func token(
        of credential: APNsClient.TokenCredential, inPlaceOf known: String?, at now: Now
    ) throws -> Token {
        try self.tokens.withLock { tokens in
            if let token = tokens[credential.identity], token.authorization != known,
                Self.age(of: token, at: now).map({ $0 < Self.renewAfter }) ?? false
            {
                return token
            }
            tokens = tokens.filter { Self.age(of: $0.value, at: now).map { $0 < Self.ageMax } ?? false }
            let token = Token(authorization: try credential.authorization(issuedAt: now.wall / 1_000), at: now)
            tokens[credential.identity] = token
            return token
        }
    }

    /// By the clock that shows more, as clients count it; nil for one that a clock says was signed later than now.
    private static func age(of token: Token, at now: Now) -> Int64? {
        let ages = (now.monotonic - token.at.monotonic, now.wall - token.at.wall)
        return ages.0 < 0 || ages.1 < 0 ? nil : max(ages.0, ages.1)
    }
}
