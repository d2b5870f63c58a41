import ClientCore
import Foundation
import TidingsAppGroup
import TidingsModel

// Pushes for people who have not signed in: the installation has a person of its own, whom the server has made.
extension ChatClient {
    /// Connects as this installation's anonymous person, whom the first call makes. They are pushed to like others, and write to nobody.
    ///
    /// The person is this installation's for as long as the app is there: `connect(userID:tokenProvider:)` takes the phone's pushes to who
    /// signs in, and the next call of this method brings the same person back. Tokens are renewed by themselves.
    ///
    /// ```swift
    /// try await client.connectAnonymously(clientKey: "pk_2mB7…")
    /// ```
    ///
    /// - Parameter clientKey: of the app (`tidings app client-key add`); it may stand in the binary.
    /// - Throws: `ChatError.invalid`: the configuration has no `apiURL`; `.unavailable`: the server does not make a person now;
    ///   `.refused`: the key is not good, the app is suspended, or the person is banned; `.store`: the person cannot be kept, and is not
    ///   used; otherwise what `connect(userID:tokenProvider:)` throws.
    public func connectAnonymously(clientKey: String) async throws {
        guard let server = self.configuration.apiURL else {
            throw ChatError.invalid(InvalidField(field: "apiURL", rule: "must be set for people without sign-in"))
        }
        let generation = self.state.withLock { $0.generation }
        let first = try await self.installation(server, clientKey)
        guard self.state.withLock({ $0.generation == generation }) else { throw ChatError.cancelled }
        let wasGiven = Locked(false)
        try await self.connect(userID: first.user) { [weak self] in
            // The token was refused, or is about to end, when it is asked for again.
            guard wasGiven.exchange(\.self, true) else { return first.token }
            guard let self else { throw ChatError.cancelled }
            return try await self.renewed(server, of: first.user)
        }
    }

    /// Signs the person out, and connects as this installation's anonymous person again.
    ///
    /// - Parameter clientKey: as in `connectAnonymously(clientKey:)`.
    /// - Throws: what `connectAnonymously(clientKey:)` throws; the person is signed out in every case.
    public func signOut(returningWith clientKey: String) async throws {
        await self.signOut()
        try await self.connectAnonymously(clientKey: clientKey)
    }

    /// Kept before it is returned.
    private func installation(_ server: URL, _ clientKey: String) async throws -> Installation {
        let app = self.configuration.appKey
        // The keychain outlives an earlier installation: what is kept is this one's from here on.
        do { _ = try self.folders.deviceID(app: app) } catch { throw ChatError.store(reason: "\(error)") }
        while true {
            let kept = self.folders.installation(app: app)
            let step = InstallationPlan.step(kept, isRepeated: false, at: self.clock.now.wall)
            if case .use(let kept) = step { return kept }
            if let installation = try await self.carryOut(step, server, clientKey) { return installation }
        }
    }

    private func renewed(_ server: URL, of user: UserID) async throws -> String {
        guard let kept = self.folders.installation(app: self.configuration.appKey), kept.user == user,
            let renewed = try await self.carryOut(
                InstallationPlan.step(kept, isRepeated: true, at: self.clock.now.wall), server, "")
        else { throw ChatError.noToken(reason: "the person's tokens were revoked: call connectAnonymously again") }
        return renewed.token
    }

    /// - Returns: nil if the person is not this installation's any more.
    private func carryOut(
        _ step: InstallationPlan.Step, _ server: URL, _ clientKey: String
    ) async throws -> Installation? {
        let app = self.configuration.appKey
        let answer: MediaHTTPAnswer
        do {
            answer = try await self.mediaHTTP.send(step.request(server, clientKey))
        } catch {
            throw ChatError.unavailable(reason: "the server did not answer: \(error)")
        }
        let body = (try? JSONValue(parsing: [UInt8](answer.body))) ?? .null
        let retryAfter = answer.headers["retry-after"].flatMap { Int64($0) }
        switch InstallationPlan.outcome(of: step, status: answer.status, body: body, retryAfter: retryAfter) {
        case .keep(let installation):
            do {
                return try self.installations.withLock { _ in
                    // Of two calls at once that make one each, the first is this installation's.
                    if case .make = step, let other = self.folders.installation(app: app) { return other }
                    try self.folders.keepInstallation(installation, app: app)
                    return installation
                }
            } catch {
                throw ChatError.store(reason: "\(error)")
            }
        case .forget:
            self.storing { try $0.keepInstallation(nil, app: app) }
            return nil
        case .fail(let failure): throw ChatError(failure)
        }
    }

    /// Tells the server, also in a later process, that the phone's anonymous person has left, because another person signs in. An earlier
    /// sign-out that the server does not know of yet goes first.
    func leaveAnonymousPerson(for person: UserID) async {
        let app = self.configuration.appKey
        guard let before = self.folders.signedIn(app: app), before != person, before.isAnonymous,
            self.folders.pendingSignOut(app: app) == nil,
            let token = self.folders.token(of: before, app: app) ?? self.folders.installation(app: app)?.token
        else { return }
        self.storing { try $0.write(ClientFolders.PendingSignOut(person: before, token: token), app: app) }
        await self.resumePendingSignOut(unless: person)
    }
}

extension InstallationPlan.Step {
    fileprivate func request(_ server: URL, _ clientKey: String) -> MediaHTTPRequest {
        let all = server.appendingPathComponent("v1/installations")
        switch self {
        case .make: return MediaHTTPRequest(method: "POST", url: all, token: clientKey)
        case .renew(let kept), .use(let kept):
            let url = all.appendingPathComponent(kept.user.rawValue).appendingPathComponent("token")
            return MediaHTTPRequest(method: "POST", url: url, token: kept.renewal)
        }
    }
}

extension ChatError {
    fileprivate init(_ failure: InstallationPlan.Failure) {
        switch failure {
        case .keyRefused:
            self = .refused(
                ServerFrame.Problem(code: .invalidToken, field: "clientKey", rule: "must be a client key of the app"))
        case .refused("disabled", let rule):
            self = .refused(ServerFrame.Problem(code: .disabled, field: "user", rule: rule))
        case .refused("app_suspended", let rule):
            self = .refused(ServerFrame.Problem(code: .wrongApp, field: "app", rule: rule))
        case .refused(let code, let rule): self = .unavailable(reason: code.isEmpty ? rule : "\(code): \(rule)")
        case .later(let wait):
            self = .unavailable(reason: wait.map { "the server says to wait for \($0 / 1_000) s" } ?? "try again later")
        }
    }
}

extension ClientFolders {
    func installation(app: AppID) -> Installation? { self.secret(.installation(app)) }

    func keepInstallation(_ installation: Installation?, app: AppID) throws {
        guard let installation else { return try self.forgetSecret(.installation(app)) }
        try self.keepSecret(installation, .installation(app))
    }
}
