package import TidingsModel

/// The anonymous person of an installation, as the server has made them (docs/inside/decisions/0049-anonymous-people.md). Kept before it is used.
package struct Installation: Hashable, Sendable, JSONCodable {
    package var user: UserID
    package var token: String
    /// Wall milliseconds.
    package var expiresAt: Int64
    /// Brings the next token, and nothing else.
    package var renewal: String
}

/// Decides what an installation asks the server for, and what it does with the answer.
package enum InstallationPlan {
    package enum Step: Hashable, Sendable {
        /// The token that is kept.
        case use(Installation)
        case renew(Installation)
        case make
    }

    /// The outcome of a server's answer for the installation.
    package enum Outcome: Hashable, Sendable {
        /// To be kept before it is used.
        case keep(Installation)
        /// The renewal was revoked, or the server does not know it. The client forgets it and begins a new installation.
        case forget
        case fail(Failure)
    }

    package enum Failure: Hashable, Sendable {
        /// The client key is not good.
        case keyRefused
        /// The person is banned, or the app is suspended: the code of the problem.
        case refused(code: String, rule: String)
        /// Not now; in milliseconds, if the server has said when.
        case later(Int64?)
    }

    /// Shorter, and the connection would have to be renewed as soon as it is there.
    static let remainingMin: Int64 = 3_600_000

    /// - Parameter isRepeated: the token that is kept was given already: it was refused, or is about to end.
    package static func step(_ kept: Installation?, isRepeated: Bool, at wall: Int64) -> Step {
        guard let kept else { return .make }
        return !isRepeated && kept.expiresAt - wall >= Self.remainingMin ? .use(kept) : .renew(kept)
    }

    /// - Parameters: step: what was asked for. status: of HTTP. body: empty for one that is no JSON object. retryAfter: in seconds.
    package static func outcome(
        of step: Step, status: Int, body: JSONValue, retryAfter: Int64?
    ) -> Outcome {
        switch (status, step) {
        case (200..<300, .make):
            guard let made = try? Installation(json: body) else { return .fail(.later(nil)) }
            return .keep(made)
        case (200..<300, .renew(let kept)), (200..<300, .use(let kept)):
            guard let token = Self.token(body) else { return .fail(.later(nil)) }
            return .keep(
                Installation(
                    user: kept.user, token: token.text, expiresAt: token.expiresAt, renewal: kept.renewal))
        case (401, .make): return .fail(.keyRefused)
        case (401, .renew), (401, .use): return .forget
        case (400..<500, _) where status != 429 && status != 408:
            return .fail(
                .refused(code: body["code"]?.stringValue ?? "", rule: body["detail"]?.stringValue ?? "status \(status)")
            )
        case (_, .make), (_, .renew), (_, .use): return .fail(.later(retryAfter.map { $0 * 1_000 }))
        }
    }

    private static func token(_ body: JSONValue) -> (text: String, expiresAt: Int64)? {
        guard let text = body["token"]?.stringValue, let expiresAt = body["expires_at"]?.intValue else { return nil }
        return (text, expiresAt)
    }
}
