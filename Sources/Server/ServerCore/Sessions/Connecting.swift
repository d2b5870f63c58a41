import OrderedCollections
import StoreModel
import TidingsModel

struct Opening: Sendable {
    let device: DeviceKey
    let run: ReportedRunState
    let after: LogPosition
    let version: UInt32
    let token: CheckedToken
    let extensionToken: String
    /// True if the device's log is not this store's: an older copy was restored.
    var isOtherLog = false
}

/// A welcomed connection: its device's current one. A newer welcome closes it.
struct Session: Sendable {
    let device: DeviceKey
    let slot: Int
    var sendsInFlight = 0
    var awaited: OrderedDictionary<ConversationID, Awaited> = [:]
    var syncsInFlight = 0
    var requestsInFlight = 0
    var numbersInFlight: OrderedSet<RequestNumber> = []
    var isTypingAsked = false
    var rooms: OrderedSet<ConversationID> = []
    /// Rooms it has asked to hear, each as often as it has asked, until the store answers.
    var entering: [ConversationID] = []
    var watched: OrderedSet<UserID> = []
    /// Push registrations, reads and sign-outs with the store.
    var commandsInFlight = 0
    var openedInFlight = 0
    var buckets = RateBuckets()
    /// When it may be told again that its frames are dropped, in monotonic milliseconds.
    var problemAt: Int64?
    var typed: OrderedDictionary<ConversationID, Typed> = [:]
}

extension ServerCore {
    static let platformBytesMax = 32

    mutating func connect(
        _ session: SessionID, _ hello: ClientFrame.Hello, _ verdict: TokenVerdict, from address: String
    ) {
        guard !self.turn.sessions.contains(session) else {
            self.turn.emit(.flagBug("\(session) connected twice"))
            return
        }
        do throws(ServerFrame.Problem) {
            let opening = try Self.checked(hello, verdict)
            try self.checkSuspension(of: opening.device.user.app)
            try self.admitHello(of: opening.device)
            let slot = self.slot(of: opening.device.user)
            let limits = self.turn.settings.limits(of: opening.device.user.app)
            self.people[slot].state.buckets.consume(
                .connects, 1, limits[.person, .connects], at: self.turn.now.monotonic)
            self.people[slot].state.signingIn.append(opening.device.device)
            self.turn.sessions.openings[session] = opening
            if hello.after > 0, hello.opening > 0, hello.opening != self.turn.identity.opening {
                let held = HeldLog(opening: hello.opening, position: hello.after)
                self.turn.ask(.compareLog(opening.device.user, held), for: .compareLog(session))
            }
            self.turn.ask(
                .signIn(
                    opening.device, platform: hello.platform, tokenIssuedAt: opening.token.issuedAt,
                    at: self.turn.now.wall), for: .signIn(session, opening.device), by: .person(opening.device.user))
        } catch {
            self.countFailure(verdict, from: address)
            self.turn.emit(.write(session, .problem(error, isFatal: true)))
            self.turn.emit(.close(session))
        }
    }

    private static func checked(
        _ hello: ClientFrame.Hello, _ verdict: TokenVerdict
    ) throws(ServerFrame.Problem) -> Opening {
        guard let version = ProtocolVersion.negotiate(hello.versions) else {
            let spoken = ProtocolVersion.supported
            throw .init(
                code: .unsupportedVersion, field: "versions",
                rule: "must include one of \(spoken.lowerBound) to \(spoken.upperBound)")
        }
        let (token, extensionToken) = try verdict.good()
        do throws(InvalidField) {
            _ = try DeviceID.validated(hello.device.rawValue, field: "device")
            try InvalidField.check(hello.platform.utf8.count, atMost: Self.platformBytesMax, "platform", unit: " bytes")
            try InvalidField.check(
                hello.platform.utf8.allSatisfy { (0x20..<0x7f).contains($0) }, "platform", "must be printable ASCII")
            try Self.checkRunState(hello.runState)
            try InvalidField.check(hello.runState != .suspending, "run_state", "must not be suspending in a hello")
        } catch {
            throw ServerFrame.Problem(error)
        }
        return Opening(
            device: DeviceKey(user: token.user, device: hello.device), run: hello.runState, after: hello.after,
            version: version, token: token, extensionToken: extensionToken)
    }

    static func checkRunState(_ run: ReportedRunState) throws(InvalidField) {
        if case .background(let remaining) = run, remaining < 0 {
            throw InvalidField(field: "run_state.remaining_milliseconds", rule: "must be 0 or more, got \(remaining)")
        }
    }

    mutating func finishSignIn(_ session: SessionID?, _ user: UserKey, _ record: DeviceRecord) {
        guard let slot = self.slots[user] else {
            if let session { self.turn.emit(.flagBug("\(session) signed in for a person who is not in memory")) }
            return
        }
        self.tell(.signedIn(session, record), slot: slot)
    }

    mutating func refuseSignIn(_ session: SessionID, _ device: DeviceKey, _ problem: ServerFrame.Problem) {
        if let slot = self.slots[device.user] {
            self.people[slot].state.endSignIn(of: device.device)
            if self.people[slot].state.isReady { self.people[slot].arm(&self.turn) }
        }
        guard self.turn.sessions.openings.removeValue(forKey: session) != nil else { return }
        self.turn.emit(.write(session, .problem(problem, isFatal: true)))
        self.turn.emit(.close(session))
    }
}

extension PersonState {
    mutating func endSignIn(of device: DeviceID) {
        guard let place = self.signingIn.firstIndex(of: device) else { return }
        self.signingIn.remove(at: place)
    }
}

extension Person {
    mutating func openSession(_ session: SessionID?, _ record: DeviceRecord, _ turn: inout Turn) {
        self.state.endSignIn(of: record.key.device)
        self.state.busyAt = turn.now.monotonic
        self.state.leavesSoon = false
        let index = self.place(of: record, &turn)
        // The app's backend has registered it, and keeps no other device from being there.
        guard let session else { return self.devices[index].push = record.push }
        let opening = turn.sessions.openings.removeValue(forKey: session)
        if let opening { self.devices[index].openSession(session, opening, &self.state, &turn) }
        // The connection may have been closed meanwhile: the device is signed in all the same.
        self.devices[index].signedInAt = record.signedInAt
        self.devices[index].platform = record.platform
        if let opening {
            self.changeLease(at: index, .connected(opening.run), &turn)
            if opening.run == .foreground { self.devices[index].settleStored(&self.state, &turn) }
        }
        self.kickOthers(than: record.key.device, &turn)
        self.arm(&turn)
    }

    private mutating func place(of record: DeviceRecord, _ turn: inout Turn) -> Int {
        if let index = self.devices.index(of: record.key.device) { return index }
        let index = self.devices.place(of: record.key.device)
        self.devices.insert(Device(record: record), at: index)
        turn.emit(.report(.device(record.key, .signedIn(platform: record.platform))))
        return index
    }
}

extension Device {
    fileprivate mutating func openSession(
        _ session: SessionID, _ opening: Opening, _ person: inout PersonState, _ turn: inout Turn
    ) {
        let now = turn.now
        self.closeSession(because: .init(code: .superseded, rule: "the same device has connected again"), &turn)
        turn.sessions[session] = Session(device: opening.device, slot: person.slot)
        turn.emit(.report(.device(self.key, .connected)))
        self.session = session
        self.userToken = SessionToken(opening.token, at: now, turn.settings)
        self.heardAt = now.monotonic
        if opening.run == .foreground { self.activeAt = now.monotonic }
        // It holds nothing of this log.
        self.stored = opening.isOtherLog ? 0 : min(opening.after, person.head)
        self.skippedUpTo = 0
        let welcome = ServerFrame.Welcome(
            version: opening.version, serverTime: now.wall, head: person.head, unread: UInt32(clamping: person.unread),
            heartbeatMilliseconds: UInt32(clamping: turn.settings.heartbeat),
            frameBytesMax: turn.settings.frameBytesMax,
            recipientTag: recipientTag(of: self.key, salt: turn.settings.recipientTagSalt),
            extensionToken: opening.extensionToken, storeID: turn.identity.id, generation: turn.identity.generation,
            serverFrameBytesMax: ServerSettings.serverFrameBytesMax, opening: turn.identity.opening,
            isOtherLog: opening.isOtherLog)
        turn.emit(.write(session, .welcome(welcome)))
    }
}
