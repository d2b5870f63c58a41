import APNsCore
import APNsModel
import ClientCore
import PhoneCore
import ServerCore
import TidingsModel

// Connections between phones and the server: in order, late, and sometimes dead without a word.
extension World {
    mutating func openConnection(_ number: ConnectionNumber, in process: ProcessID, on phone: Int) {
        let wait = 2 * self.latency(of: phone)
        guard self.phones[phone].isOnline, !self.phones[phone].isCutOff, self.server != nil else {
            return self.plan(.client(phone, process, .connectionClosed(number, reason: "unreachable")), after: wait)
        }
        self.lastSession += 1
        let chance = SplitMix64(
            seed: self.options.seed, stream: .network(phone), draw: self.phones[phone].connectionCount)
        self.phones[phone].connectionCount += 1
        self.phones[phone].openConnections.removeAll { index in
            let other = self.connections[index]
            return !other.clientIsOpen && !(other.serverIsOpen && other.life == self.life)
        }
        self.phones[phone].openConnections.append(self.connections.count)
        self.connections.append(
            WorldConnection(
                phone: phone, process: process, number: number, session: SessionID(self.lastSession), life: self.life,
                chance: chance))
        self.drawSlowness(self.connections.count - 1, of: phone)
        self.drawPause(self.connections.count - 1, of: phone)
        self.plan(.client(phone, process, .connectionOpened(number)), after: wait)
    }

    private func index(_ number: ConnectionNumber, _ process: ProcessID, _ phone: Int) -> Int? {
        self.phones[phone].openConnections.last {
            self.connections[$0].number == number && self.connections[$0].process == process
        }
    }

    /// Some links are slow, so that a later connection overtakes what was written on them.
    private mutating func drawSlowness(_ index: Int, of phone: Int) {
        guard var chance = self.injectFault(.link(phone), perMille: self.options.faults.slowLinks) else { return }
        let slowness = chance.number(1_000...12_000)
        self.connections[index].slowness = slowness
        self.appendTrace("connection \(index) is \(slowness) ms slow")
        self.emit(.reached(.slowLinks))
    }

    /// Some phones read nothing for a while, with the socket open: what is written to them piles up, and what they write goes on.
    private mutating func drawPause(_ index: Int, of phone: Int) {
        guard var chance = self.injectFault(.reader(phone), perMille: self.options.faults.slowLinks) else { return }
        let from = self.time + chance.number(0...20_000)
        self.connections[index].pause = from..<(from + chance.number(5_000...60_000))
    }

    /// Frames that wait for a reader: of more the shell cuts the connection off (its bound is one of bytes).
    static let backlogMax = 12

    /// The pause in which the phone reads nothing now.
    func pause(on index: Int) -> Range<Int64>? {
        self.connections[index].pause.flatMap { $0.contains(self.time) && !self.hasHealed ? $0 : nil }
    }

    /// When the reader goes on; nil if the connection is cut off instead.
    private mutating func pauseEnd(_ pause: Range<Int64>, on index: Int) -> Int64? {
        self.emit(.reached(.pausedReaders))
        self.connections[index].unread += 1
        guard self.connections[index].unread > Self.backlogMax else { return pause.upperBound }
        self.appendTrace("connection \(index) is cut off: its reader does not read")
        self.emit(.reached(.cutReaders))
        self.connections[index].isDead = true
        self.plan(.server(life: self.life, .backlogExceeded(self.connections[index].session)), after: 0)
        self.agenda.plan(.clientHangUp(index), at: pause.upperBound)
        return nil
    }

    mutating func write(
        _ frame: consuming ClientFrame, on number: ConnectionNumber, in process: ProcessID, on phone: Int
    ) {
        guard let index = self.index(number, process, phone), self.connections[index].clientIsOpen else { return }
        guard !self.breaksConnection(index) else { return }
        let arrival = max(self.connections[index].serverArrival, self.time + self.latency(on: index))
        self.connections[index].serverArrival = arrival
        self.agenda.plan(.toServer(index, frame), at: arrival)
    }

    mutating func write(_ frame: consuming ServerFrame, on index: Int) {
        guard !self.breaksConnection(index) else { return }
        var arrival = max(self.connections[index].clientArrival, self.time + self.latency(on: index))
        if let pause = self.pause(on: index) {
            guard let end = self.pauseEnd(pause, on: index) else { return }
            arrival = max(arrival, end)
        }
        self.connections[index].clientArrival = arrival
        self.agenda.plan(.toClient(index, frame), at: arrival)
    }

    /// Returns true if the connection is dead, or dies now.
    private mutating func breaksConnection(_ index: Int) -> Bool {
        if self.connections[index].isDead { return true }
        guard !self.hasHealed else { return false }
        if self.connections[index].chance.chance(perMille: self.options.faults.silentDeath), self.breaksNow(index) {
            self.report.broken += 1
            // Every third one goes on in one direction.
            switch self.connections[index].chance.number(0...5) {
            case 0: self.connections[index].isDeafServer = true
            case 1: self.connections[index].isDeafClient = true
            default: self.connections[index].isDead = true
            }
            if !self.connections[index].isDead { self.emit(.reached(.oneWay)) }
            self.appendTrace("connection \(index) dies without a word")
            return self.connections[index].isDead
        }
        if self.connections[index].chance.chance(perMille: self.options.faults.reset), self.breaksNow(index) {
            self.appendTrace("connection \(index) is reset")
            self.report.broken += 1
            self.connections[index].isDead = true
            self.plan(.serverHangUp(index), after: self.latency(on: index))
            self.plan(.clientHangUp(index), after: self.latency(on: index))
            return true
        }
        return false
    }

    private mutating func breaksNow(_ index: Int) -> Bool {
        let phone = self.connections[index].phone
        self.phones[phone].breakCount += 1
        return self.happens(OutsideEvent(.network(phone), draw: self.phones[phone].breakCount - 1))
    }

    mutating func deliverToServer(_ frame: ClientFrame, on index: Int) {
        let connection = self.connections[index]
        guard connection.serverIsOpen, connection.life == self.life, !connection.isDead, !connection.isDeafServer else {
            return
        }
        if case .hello(let hello) = frame {
            let isOvertaking = self.phones[connection.phone].openConnections.contains {
                $0 < index && !self.connections[$0].isDead && self.connections[$0].serverIsOpen
                    && self.connections[$0].life == self.life && self.connections[$0].serverArrival > self.time
            }
            if isOvertaking { self.emit(.reached(.overtaken)) }
            let key = UserKey(app: Self.app, user: UserID(hello.token))
            self.appendTrace("\(connection.session) is \(key)")
            let verdict = self.verdict(on: hello.token, of: connection.phone)
            return self.handle(ServerEvent.connected(connection.session, hello, verdict))
        }
        let isPing = if case .ping = frame { true } else { false }
        self.appendTrace("\(connection.session) says \(Self.kind(of: frame))", isRoutine: isPing)
        self.handle(ServerEvent.frame(connection.session, frame))
    }

    mutating func deliverToClient(_ frame: ServerFrame, on index: Int) {
        let connection = self.connections[index]
        guard connection.clientIsOpen, !connection.isDead, !connection.isDeafClient else { return }
        let isPong = if case .pong = frame { true } else { false }
        self.appendTrace("\(connection.session) hears \(Self.kind(of: frame))", isRoutine: isPong)
        self.handle(
            ClientEvent.frameReceived(connection.number, frame), in: connection.process, on: connection.phone)
    }

    mutating func closeConnection(_ number: ConnectionNumber, in process: ProcessID, on phone: Int) {
        guard let index = self.index(number, process, phone), self.connections[index].clientIsOpen else { return }
        self.hangUpClient(index)
        guard !self.connections[index].isDead else { return }
        self.agenda.plan(.serverHangUp(index), at: max(self.time, self.connections[index].serverArrival) + 1)
    }

    mutating func hangUpServer(_ index: Int) {
        guard self.connections[index].serverIsOpen, self.connections[index].life == self.life else { return }
        self.connections[index].serverIsOpen = false
        self.handle(ServerEvent.disconnected(self.connections[index].session))
    }

    mutating func hangUpClient(_ index: Int) {
        guard self.connections[index].clientIsOpen else { return }
        self.connections[index].clientIsOpen = false
        let connection = self.connections[index]
        self.handle(
            .connectionClosed(connection.number, reason: "closed"), in: connection.process, on: connection.phone)
    }

    mutating func dropConnections(of process: ProcessID, on phone: Int) {
        for index in self.phones[phone].openConnections where self.connections[index].process == process {
            guard self.connections[index].clientIsOpen else { continue }
            self.connections[index].clientIsOpen = false
            guard !self.connections[index].isDead else { continue }
            self.plan(.serverHangUp(index), after: self.latency(on: index))
        }
    }

    mutating func goOnline(_ phone: Int) {
        self.phones[phone].isOnline = true
        guard self.phones[phone].courier == nil else { return }
        self.lastCourier += 1
        self.phones[phone].courier = self.lastCourier
        self.phoneOfCourier[self.lastCourier] = phone
        self.tellCourier(
            .phoneConnected(.init("phone-\(phone).\(self.phones[phone].tokenGeneration)"), .init(self.lastCourier)),
            phone)
        if self.phones[phone].awaitsToken { self.askForToken(phone) }
    }

    mutating func tellCourier(_ event: APNsService.Event, _ phone: Int) {
        let arrival = max(self.phones[phone].courierArrival, self.time + self.latency(of: phone))
        self.phones[phone].courierArrival = arrival
        self.agenda.plan(.apns(event), at: arrival)
    }

    mutating func askForToken(_ phone: Int) {
        self.phones[phone].awaitsToken = true
        guard let courier = self.phones[phone].courier else { return }
        self.tellCourier(
            .registrationRequested(
                .init(courier), id: 1, topic: Self.bundle.rawValue, .sandbox, drawn: self.token(of: phone)), phone)
    }

    mutating func goOffline(_ phone: Int) {
        self.phones[phone].isOnline = false
        for index in self.phones[phone].openConnections {
            self.connections[index].isDead = true
        }
        guard let courier = self.phones[phone].courier else { return }
        self.phones[phone].courier = nil
        self.phoneOfCourier[courier] = nil
        self.tellCourier(.courierClosed(.init(courier)), phone)
    }

    static func kind(of frame: ClientFrame) -> String {
        switch frame {
        case .hello: "hello"
        case .send(let draft): "send \(draft.clientMessageID)"
        case .ack(let ack): "ack \(ack.stored) \(Self.names(ack.settled.map { "\($0.upTo) \($0.disposition.name)" }))"
        case .runState(let state): "run state \(Self.word(for: state))"
        case .registerPush(let registration, _): registration.map { "register \($0.token)" } ?? "unregister"
        case .sync(let after, _): "sync \(after)"
        case .markRead(let conversation, let upTo): "read \(conversation) \(upTo)"
        case .ping(let nonce): "ping \(nonce)"
        case .signOut: "sign out"
        case .opened(let message): "opened \(message)"
        case .request(let number, let request): "request \(number) \(Self.word(for: request))"
        case .typing(let conversation, let isTyping): "typing \(conversation) \(isTyping)"
        case .deviceStatus(let status): "status \(status.authorization.rawValue) \(status.backgroundRefresh.rawValue)"
        }
    }

    static func kind(of frame: ServerFrame) -> String {
        switch frame {
        case .welcome(let welcome): "welcome \(welcome.head)"
        case .sendAccepted(let accepted): "accepted \(accepted.clientMessageID) \(accepted.messageID)"
        case .sendRefused(let id, let problem): "refused \(id) \(problem.code.rawValue)"
        case .entry(let entry): "entry \(entry.position)"
        case .page(let page): "page \(page.after) \(page.entries.count) \(page.head)"
        case .pong(let nonce): "pong \(nonce)"
        case .problem(let problem, let isFatal): "problem \(problem.code.rawValue) \(isFatal)"
        case .reconnect(let after): "reconnect \(after)"
        case .answer(let number, let answer): "answer \(number) \(Self.word(for: answer))"
        case .signal(let signal): "signal \(signal)"
        case .tokenExpiring(let at): "token ends \(at)"
        }
    }

    static func names(_ all: [some CustomStringConvertible]) -> String {
        all.map(\.description).joined(separator: " ")
    }

    static func word(for request: ClientRequest) -> String {
        switch request {
        case .change(let conversation, let action): "change \(conversation) \(action.name) \(Self.names(action.people))"
        case .recall(let message): "recall \(message)"
        case .edit(let message, let content): "edit \(message) \(content)"
        case .delete(let deletion): "delete \(Self.names(deletion.messages))"
        case .setConversationSettings(let conversation, let settings):
            "set \(conversation) \(settings.level?.rawValue ?? "-") \(settings.levelUntil ?? -1)"
        case .setConversationState(let conversation, let change): "set \(conversation) \(change)"
        case .setPersonSettings: "set"
        case .setBlocked(let user, let isBlocked): "block \(user) \(isBlocked)"
        case .setFollowing(let account, let isFollowing): "follow \(account) \(isFollowing)"
        case .conversation(let conversation): "conversation \(conversation)"
        case .settings: "settings"
        case .history(let conversation, let before, let limit):
            "history \(conversation) \(before?.description ?? "-") \(limit)"
        case .enterRoom(let conversation, let history): "enter \(conversation) \(history)"
        case .exitRoom(let conversation): "exit \(conversation)"
        case .receipts(let message): "receipts \(message)"
        case .watch(let people): "watch \(Self.names(people))"
        case .unwatch(let people): "unwatch \(Self.names(people))"
        case .renewToken: "renew token"
        case .setProfile(let profile): "set profile \(profile.name ?? "")"
        case .profiles(let people): "profiles \(Self.names(people))"
        case .registerVoIP(let registration):
            registration.map { "register for calls \($0.token)" } ?? "unregister for calls"
        case .devices: "devices"
        case .following: "following"
        case .setTags(let tags): "set tags \(Self.names(tags))"
        case .signOutDevice(let device): "sign out \(device)"
        }
    }

    static func word(for state: ReportedRunState) -> String {
        switch state {
        case .foreground: "foreground"
        case .background(let remaining): "background \(remaining)"
        case .suspending: "suspending"
        }
    }

    static func word(for answer: ClientAnswer) -> String {
        switch answer {
        case .done(let position): "done \(position)"
        case .invited(let people, let position): "done \(position), invited \(Self.names(people))"
        case .refused(let problem): "refused \(problem.code.rawValue)"
        case .conversation(let info): "conversation \(info.id) \(info.version) \(info.members.count)"
        case .settings(let all): "settings \(all.conversations.count) \(all.blocked.count)"
        case .history(let messages, let hasMore): "history \(messages.count) \(hasMore)"
        case .receipts: "receipts"
        case .presence(let people): "presence \(people.count)"
        case .profiles(let people): "profiles \(people.count)"
        case .devices(let devices): "devices \(devices.count)"
        case .following(let accounts): "following \(accounts.count)"
        case .tags(let tags): "tags \(Self.names(tags))"
        }
    }
}
