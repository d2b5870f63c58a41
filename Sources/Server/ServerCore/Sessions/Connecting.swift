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
            self.people[slot].buckets.consume(.connects, 1, limits[.person, .connects], at: self.turn.now.monotonic)
            self.people[slot].signingIn.append(opening.device.device)
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
        if self.loadings[slot] != nil {
            self.loadings[slot]?.queue.append(.signedIn(session, record))
        } else {
            self.openSession(session, record, in: slot)
        }
    }

    mutating func refuseSignIn(_ session: SessionID, _ device: DeviceKey, _ problem: ServerFrame.Problem) {
        if let slot = self.slots[device.user] {
            if let place = self.people[slot].signingIn.firstIndex(of: device.device) {
                self.people[slot].signingIn.remove(at: place)
            }
            if self.people[slot].isReady { self.arm(slot) }
        }
        guard self.turn.sessions.openings.removeValue(forKey: session) != nil else { return }
        self.turn.emit(.write(session, .problem(problem, isFatal: true)))
        self.turn.emit(.close(session))
    }

    mutating func openSession(_ session: SessionID?, _ record: DeviceRecord, in slot: Int) {
        let now = self.turn.now
        if let place = self.people[slot].signingIn.firstIndex(of: record.key.device) {
            self.people[slot].signingIn.remove(at: place)
        }
        self.people[slot].busyAt = now.monotonic
        self.people[slot].leavesSoon = false
        let index = self.deviceIndex(of: record, in: slot)
        // The app's backend has registered it, and keeps no other device from being there.
        guard let session else { return self.people[slot].devices[index].push = record.push }
        guard let opening = self.turn.sessions.openings.removeValue(forKey: session) else {
            // The connection was closed meanwhile: the device is signed in all the same.
            self.people[slot].devices[index].signedInAt = record.signedInAt
            self.people[slot].devices[index].platform = record.platform
            self.kickOthers(slot, than: record.key)
            self.arm(slot)
            return
        }
        if let older = self.people[slot].devices[index].session {
            let problem = ServerFrame.Problem(code: .superseded, rule: "the same device has connected again")
            self.turn.emit(.write(older, .problem(problem, isFatal: true)))
            self.close(older)
        }
        self.turn.sessions[session] = Session(device: opening.device, slot: slot)
        self.report(.connected, slot: slot, index: index)
        self.people[slot].devices[index].session = session
        self.people[slot].devices[index].userToken = SessionToken(opening.token, at: now, self.turn.settings)
        self.people[slot].devices[index].signedInAt = record.signedInAt
        self.people[slot].devices[index].heardAt = now.monotonic
        if opening.run == .foreground { self.people[slot].devices[index].activeAt = now.monotonic }
        // It holds nothing of this log.
        self.people[slot].devices[index].stored = opening.isOtherLog ? 0 : min(opening.after, self.people[slot].head)
        self.people[slot].devices[index].skippedUpTo = 0
        self.turn.emit(
            .write(
                session,
                .welcome(
                    .init(
                        version: opening.version, serverTime: now.wall, head: self.people[slot].head,
                        unread: UInt32(clamping: self.people[slot].unread),
                        heartbeatMilliseconds: UInt32(clamping: self.turn.settings.heartbeat),
                        frameBytesMax: self.turn.settings.frameBytesMax,
                        recipientTag: recipientTag(of: opening.device, salt: self.turn.settings.recipientTagSalt),
                        extensionToken: opening.extensionToken, storeID: self.turn.identity.id,
                        generation: self.turn.identity.generation,
                        serverFrameBytesMax: ServerSettings.serverFrameBytesMax, opening: self.turn.identity.opening,
                        isOtherLog: opening.isOtherLog))))
        self.people[slot].devices[index].platform = record.platform
        self.changeLease(slot, index, .connected(opening.run))
        if opening.run == .foreground { self.settleStored(slot, index) }
        self.kickOthers(slot, than: opening.device)
        self.arm(slot)
    }

    private mutating func deviceIndex(of record: DeviceRecord, in slot: Int) -> Int {
        if let index = self.people[slot].devices.index(of: record.key.device) { return index }
        let index = self.people[slot].devices.place(of: record.key.device)
        self.people[slot].devices.insert(Device(record: record), at: index)
        self.report(.signedIn(platform: record.platform), slot: slot, index: index)
        return index
    }
}
