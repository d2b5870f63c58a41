import StoreModel
import TidingsModel

/// The wall clock decides; a timer looks again after ten minutes at the latest, so that a clock that was set is
/// followed.
struct SessionToken: Hashable, Sendable {
    let expiresAt: Int64
    let issuedAt: Int64?
    /// Wall milliseconds; nil once the client was told.
    private(set) var warnAt: Int64?
    private(set) var checkAt: Int64 = 0

    init(_ token: CheckedToken, at now: Now, _ settings: ServerSettings) {
        self.expiresAt = token.expiresAt
        self.issuedAt = token.issuedAt
        // Of a token that lives only minutes, a fifth is enough time to ask for another.
        let left = max(0, token.expiresAt.subtractingReportingOverflow(now.wall).partialValue)
        self.warnAt = token.expiresAt - min(settings.tokenWarningTime, left / 5)
        self.scheduleCheck(at: now, settings)
    }

    /// Wall milliseconds.
    private func endsAt(_ settings: ServerSettings) -> Int64 {
        let (end, overflow) = self.expiresAt.addingReportingOverflow(settings.tokenGraceTime)
        return overflow ? .max : end
    }

    private mutating func scheduleCheck(at now: Now, _ settings: ServerSettings) {
        let next = self.warnAt ?? self.endsAt(settings)
        self.checkAt = now.monotonic + min(max(1, next - now.wall), ServerCore.clockCheckInterval)
    }

    enum Due { case nothing, warning, end }

    mutating func check(at now: Now, _ settings: ServerSettings) -> Due {
        defer { self.scheduleCheck(at: now, settings) }
        if now.wall >= self.endsAt(settings) { return .end }
        guard let warnAt = self.warnAt, now.wall >= warnAt else { return .nothing }
        self.warnAt = nil
        return .warning
    }
}

extension Person {
    /// The client is told before its token expires, and may renew it without hanging up.
    mutating func checkToken(at index: Int, _ turn: inout Turn) {
        guard let session = self.devices[index].session, let token = self.devices[index].userToken,
            turn.now.monotonic >= token.checkAt
        else { return }
        switch self.devices[index].userToken?.check(at: turn.now, turn.settings) {
        case .warning: turn.write(.tokenExpiring(at: token.expiresAt), to: session)
        case .end:
            let problem = ServerFrame.Problem(
                code: .expiredToken, field: "token", rule: "has expired; ask for a new one")
            turn.emit(.write(session, .problem(problem, isFatal: true)))
            turn.emit(.close(session))
            self.loseSession(session, of: self.devices[index].id, &turn)
        case .nothing, nil: break
        }
    }

    fileprivate mutating func renew(
        _ token: CheckedToken, at index: Int, _ turn: inout Turn
    ) throws(ServerFrame.Problem) {
        guard token.user == self.state.key else {
            throw .init(code: .invalidToken, field: "token", rule: "must name the app and the person of the session")
        }
        if let fault = self.state.account.fault(inTokenIssuedAt: token.issuedAt, at: turn.now.wall) { throw fault }
        guard token.expiresAt > self.devices[index].userToken?.expiresAt ?? 0 else {
            throw .init(code: .invalidField, field: "token", rule: "must expire later than the one in use")
        }
        self.devices[index].userToken = SessionToken(token, at: turn.now, turn.settings)
        self.arm(&turn)
    }
}

extension ServerCore {
    mutating func finishRenewal(_ session: SessionID, _ number: RequestNumber, _ verdict: TokenVerdict) {
        guard let known = self.turn.sessions[session],
            let index = self.people[known.slot].devices.index(of: known.device.device)
        else { return }
        let user = known.device.user
        let asked = Asked(requester: .session(session, number), app: user.app, actor: user.user)
        do throws(ServerFrame.Problem) {
            try self.people[known.slot].renew(try verdict.good().token, at: index, &self.turn)
            self.answer(asked, .done(0))
        } catch {
            self.answer(asked, .refused(error))
        }
    }
}
