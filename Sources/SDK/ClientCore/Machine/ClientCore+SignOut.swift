import OrderedCollections
import TidingsModel

// Signing out: everything of the person goes at once here; the server is told until it has certainly heard (design.md P7).
extension ClientCore {
    enum PendingSignOut: Hashable, Sendable {
        case none
        case requested
        case said(ConnectionNumber, deadline: Int64)
        /// The server has read it, and closes once it is stored (`docs/server/protocol.md`).
        case heard(ConnectionNumber, deadline: Int64)

        var deadline: Int64? {
            switch self {
            case .none, .requested: nil
            case .said(_, let deadline), .heard(_, let deadline): deadline
            }
        }

        func isHeard(on number: ConnectionNumber) -> Bool {
            if case .heard(number, _) = self { true } else { false }
        }
    }

    /// After that it is said on another connection.
    package static let signOutMilliseconds: Int64 = 10_000
    /// Frames are read in order, so the pong of this nonce proves that the sign-out was read. Heartbeats count up
    /// from 1.
    package static let signOutPing: UInt64 = .max

    var isLeaving: Bool { self.pendingSignOut != .none }

    /// Signs out. The pending sign-out is always stored first, because the connection may not work any more.
    mutating func signOut(at now: Now, into effects: inout [ClientEffect]) {
        effects += [.keepPendingSignOut, .finishConnect(.cancelled)]
        if let number = self.connection.online {
            self.sendSignOut(on: number, at: now, into: &effects)
        } else {
            self.pendingSignOut = .requested
            self.step(.requested(self.settings.person), at: now, into: &effects)
        }
        effects += self.decisions.abandon()
        self.unnamedSent = [:]
        for id in self.outbox.forget() { effects.append(.finishSend(id, .abandoned(reason: "signed out"))) }
        self.sync.forget()
        self.settlements.forget()
        self.opened = OpenedReceipts()
        self.leftovers = []
        self.reads = [:]
        self.preferences = Preferences()
        self.rooms = [:]
        self.watched = []
        self.wanted = []
        self.endRequests(into: &effects)
        self.renewal.reset()
        self.recipient = nil
        self.registration = nil
        self.isUnregistered = false
        self.voIP = nil
        self.unread = 0
        self.hasCustomMessages = false
        self.customMessagesAwaitClock = false
        effects.append(.forgetPerson)
    }

    /// The server hangs up, not this end: only that proves that it is stored.
    mutating func sendSignOut(on number: ConnectionNumber, at now: Now, into effects: inout [ClientEffect]) {
        self.pendingSignOut = .said(number, deadline: now.monotonic + Self.signOutMilliseconds)
        effects += [.sendFrame(number, .signOut), .sendFrame(number, .ping(Self.signOutPing))]
    }

    /// Only its pong and the end of the connection are of interest now.
    mutating func isBeyondSignOut(_ frame: ServerFrame, on number: ConnectionNumber) -> Bool {
        guard case .said(number, let deadline) = self.pendingSignOut else {
            guard self.pendingSignOut.isHeard(on: number) else { return false }
            return !Self.endsConnection(frame)
        }
        if frame == .pong(Self.signOutPing) { self.pendingSignOut = .heard(number, deadline: deadline) }
        return !Self.endsConnection(frame)
    }

    private static func endsConnection(_ frame: ServerFrame) -> Bool {
        switch frame {
        case .problem, .reconnect: true
        case .welcome, .sendAccepted, .sendRefused, .entry, .page, .pong, .answer, .signal, .tokenExpiring: false
        }
    }

    /// It is said again on the next connection.
    mutating func signOutLost() { if self.isLeaving { self.pendingSignOut = .requested } }

    /// The connection may be dead, or the server could not store it.
    mutating func signOutDeadlineReached(at now: Now, into effects: inout [ClientEffect]) {
        guard let deadline = self.pendingSignOut.deadline, now.monotonic >= deadline else { return }
        self.step(.broken(reason: "the sign-out was not confirmed in time"), at: now, into: &effects)
    }

    mutating func endPendingSignOut(at now: Now, into effects: inout [ClientEffect]) {
        self.pendingSignOut = .none
        self.step(.disconnectRequested, at: now, into: &effects)
        self.signOutEnded(at: now, into: &effects)
    }

    /// The server has forgotten the person, or the token.
    mutating func giveUpSignOut(at now: Now, into effects: inout [ClientEffect]) {
        guard self.isLeaving else { return }
        self.pendingSignOut = .none
        self.signOutEnded(at: now, into: &effects)
    }

    /// This core hears nothing any more, so what it holds until the connection has closed is given back now.
    private mutating func signOutEnded(at now: Now, into effects: inout [ClientEffect]) {
        effects.append(.pendingSignOutEnded)
        guard self.run.state != .foreground else { return }
        self.step(RunStateMachine.Event.timeExpired, at: now, into: &effects)
    }
}
