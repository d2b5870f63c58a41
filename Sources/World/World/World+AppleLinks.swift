import APNsClientCore
import APNsCore
import APNsModel
import OrderedCollections
import TidingsModel

/// A connection between the server's APNs client and Apple, or an attempt at one. Frames keep their order in each
/// direction.
struct AppleLink {
    enum Phase {
        case connecting
        case open
        case over
    }

    /// ```text
    /// connecting ──finished──▶ open ──goAway──▶ leaving ──last answer──▶ over
    ///     │                     └──silence──▶ silent                      ▲
    ///     └──refused, TLS alert── (open, leaving, silent) ──cut───────────┘
    /// ```
    enum ApplePhase {
        case connecting
        case open
        /// It has said GOAWAY: what is open is answered, then it is closed.
        case leaving
        /// It reads and writes nothing more, not even the end of TCP.
        case silent
        case over
    }

    /// The client's number, and its name for the connection.
    let pool: UInt64
    let connection: APNsDispatcher.ConnectionID
    /// The certificate that the client has shown in TLS.
    let certificate: ClientCertificateFacts?
    var phase = Phase.connecting
    var applePhase = ApplePhase.connecting
    var streams: Set<Int64> = []
    /// Body bytes Apple has read without opening the window again.
    var unreturned: Int64 = 0
    /// When the last frame arrives at Apple, and at the client.
    var toApple: Int64 = 0
    var toClient: Int64 = 0
}

enum ToApple {
    /// TCP's first word, and the last word of TLS.
    case hello
    case finished
    indirect case request(stream: Int64, number: UInt64, APNsRequest, ProviderTokenFacts)
    case reset(stream: Int64)
    case ping
    case end
}

enum FromApple {
    case connected
    case failed(APNsDispatcher.ConnectFault)
    case streamLimit(Int)
    /// WINDOW_UPDATE of the connection.
    case windowOpened(Int64)
    indirect case response(stream: Int64, APNsResponse)
    /// RST_STREAM.
    case reset(stream: Int64, code: UInt32)
    case goAway(lastStream: Int64, debug: [UInt8])
    case pong
    case end
}

// Connections to Apple: what the client's shell does at its end, and what Apple's does at the other.
extension World {
    static let teamID = "WORLDTEAM1"
    /// The bytes that a peer reads before it opens the window again: half of the window (RFC 9113, section 6.9.2; `SessionCore`).
    private static let windowHalf: Int64 = 65_535 / 2

    // MARK: The client's end

    mutating func connect(_ id: APNsDispatcher.ConnectionID, of pool: WorldPool) {
        self.lastLink += 1
        let number = self.lastLink
        self.links[number] = AppleLink(pool: pool.number, connection: id, certificate: pool.identity.certificate)
        pool.links[id] = number
        self.write(.hello, to: number)
        self.plan(.connectTimeout(number), after: Self.connectTimeout)
    }

    mutating func giveUpConnecting(_ number: UInt64) {
        guard let link = self.links[number], link.phase == .connecting else { return }
        self.emit(.reached(.connectTimeouts))
        self.hangUp(number)
        self.releaseLink(number, link)
        self.failConnecting(link, .unreachable("no connection in time"))
    }

    private mutating func failLink(_ number: UInt64, _ fault: APNsDispatcher.ConnectFault) {
        guard let link = self.links[number] else { return }
        self.forgetLink(number, link)
        self.failConnecting(link, fault)
    }

    private mutating func failConnecting(_ link: AppleLink, _ fault: APNsDispatcher.ConnectFault) {
        let jitter = self.jitter(of: link.pool)
        self.handle(APNsDispatcher.Event.connectFailed(link.connection, fault, jitter: jitter), of: link.pool)
    }

    private mutating func forgetLink(_ number: UInt64, _ link: AppleLink) {
        self.links[number] = nil
        self.releaseLink(number, link)
    }

    /// Unless the client has made another attempt at the connection.
    private func releaseLink(_ number: UInt64, _ link: AppleLink) {
        guard let pool = self.senders?.pools[link.pool], pool.links[link.connection] == number else { return }
        pool.links[link.connection] = nil
    }

    /// Hangs up; Apple's further frames on the link find nobody.
    mutating func hangUp(_ number: UInt64) {
        self.links[number]?.phase = .over
        self.write(.end, to: number)
    }

    mutating func write(_ frame: ToApple, to number: UInt64) {
        guard self.links[number] != nil else { return }
        let arrival = max(self.time + self.latencyToApple(), self.links[number]?.toApple ?? 0)
        self.links[number]?.toApple = arrival
        self.agenda.plan(.toApple(number, frame), at: arrival)
    }

    mutating func deliverFromApple(_ frame: FromApple, on number: UInt64) {
        guard let link = self.links[number], link.phase != .over else { return }
        let (id, pool) = (link.connection, link.pool)
        switch frame {
        case .connected:
            self.links[number]?.phase = .open
            self.write(.finished, to: number)
            self.handle(APNsDispatcher.Event.connected(id), of: pool)
        case .failed(let fault): self.failLink(number, fault)
        case .streamLimit(let limit): self.handle(APNsDispatcher.Event.streamLimitAnnounced(id, limit), of: pool)
        case .windowOpened(let bytes): self.handle(APNsDispatcher.Event.windowOpened(id, by: bytes), of: pool)
        case .response(let stream, let response):
            let jitter = response.isSuccess ? 0 : self.jitter(of: pool)
            self.handle(APNsDispatcher.Event.responded(id, stream: stream, response, jitter: jitter), of: pool)
        case .reset(let stream, code: HTTP2Code.refusedStream):
            self.handle(APNsDispatcher.Event.streamRefused(id, stream: stream), of: pool)
        case .reset(let stream, let code):
            self.handle(APNsDispatcher.Event.streamReset(id, stream: stream, code: "code \(code)"), of: pool)
        case .goAway(let lastStream, let debug):
            let jitter = self.jitter(of: pool)
            self.handle(
                APNsDispatcher.Event.goAwayReceived(id, lastStream: lastStream, debugData: debug, jitter: jitter),
                of: pool)
        case .pong: self.handle(APNsDispatcher.Event.pingAnswered(id), of: pool)
        case .end:
            guard link.phase == .open else { return self.failLink(number, .unreachable("closed by the server")) }
            self.forgetLink(number, link)
            let jitter = self.jitter(of: pool)
            self.handle(
                APNsDispatcher.Event.connectionClosed(id, cause: "closed by the server", jitter: jitter), of: pool)
        }
    }

    // MARK: Apple's end

    mutating func deliverToApple(_ frame: ToApple, on number: UInt64) {
        guard let link = self.links[number] else { return }
        let connection = APNsService.ConnectionID(number)
        if case .end = frame {
            self.links[number] = nil
            return self.handle(APNsService.Event.connectionClosed(connection))
        }
        guard link.applePhase != .silent, link.applePhase != .over else { return }
        switch frame {
        case .hello:
            guard self.apnsFault != .noAnswer else { return }
            self.handle(APNsService.Event.connectionArrived(connection, .push(.sandbox)))
            // What the client says first in TLS, and the answer.
            guard self.links[number]?.applePhase == .connecting else { return }
            self.sendFromApple(.connected, on: number, trips: 3)
        case .finished:
            self.links[number]?.applePhase = .open
            self.handle(APNsService.Event.connectionOpened(connection, .push(.sandbox), certificate: link.certificate))
            guard self.links[number]?.applePhase == .open else { return }
            self.sendFromApple(
                .streamLimit(self.apns.initialStreamLimit(hasCertificate: link.certificate != nil)), on: number)
        case .request(let stream, let request, let sent, let token):
            self.readBody(sent.payload.count, on: number)
            // After GOAWAY nothing is processed any more, as that has said.
            guard link.applePhase == .open else { return }
            self.links[number]?.streams.insert(stream)
            self.receiveRequest(sent, stream: stream, on: number, as: request, token: token)
        case .reset(let stream):
            self.links[number]?.streams.remove(stream)
            self.closeIfAnswered(number)
        case .ping: self.sendFromApple(.pong, on: number)
        case .end: break
        }
    }

    private mutating func readBody(_ bytes: Int, on number: UInt64) {
        let used = (self.links[number]?.unreturned ?? 0) + Int64(bytes)
        let isHalf = used > Self.windowHalf
        self.links[number]?.unreturned = isHalf ? 0 : used
        if isHalf { self.sendFromApple(.windowOpened(used), on: number) }
    }

    private mutating func receiveRequest(
        _ sent: APNsRequest, stream: Int64, on number: UInt64, as request: UInt64, token: ProviderTokenFacts
    ) {
        let id = APNsService.RequestID(connection: APNsService.ConnectionID(number), stream: stream)
        self.lastUnique += 1
        let drawn = APNsService.DrawnIDs(
            apnsID: sent.apnsID ?? "00000000-0000-4000-8000-\(Hexadecimal.text(self.lastUnique, digits: 12))",
            uniqueID: "unique-\(self.lastUnique)")
        self.numbersAtAPNs.add(sent, as: drawn.apnsID)
        let event = APNsService.Event.requestReceived(id, WireRequest(sent), token: token, drawn: drawn)
        var effects = self.scratch.apns.borrow()
        defer { self.scratch.apns.giveBack(&effects) }
        self.apns.handle(event, at: self.now, into: &effects)
        for effect in effects {
            if case .log(let entry) = effect, entry.event == .accepted { self.emit(.pool(.taken(request))) }
            self.perform(effect)
        }
    }

    mutating func answerPush(_ id: APNsService.RequestID, _ response: APNsResponse) {
        let number = id.connection.rawValue
        guard let phase = self.links[number]?.applePhase, phase == .open || phase == .leaving,
            self.links[number]?.streams.remove(id.stream) != nil
        else { return }
        self.sendFromApple(.response(stream: id.stream, response), on: number)
        self.closeIfAnswered(number)
    }

    mutating func perform(onLink effect: APNsService.Effect) {
        switch effect {
        case .announceStreamLimit(let id, let limit):
            if limit == 1 { self.emit(.reached(.narrowConnections)) }
            self.sendFromApple(.streamLimit(limit), on: id.rawValue)
        case .resetStream(let id, let code):
            self.emit(.reached(code == HTTP2Code.refusedStream ? .refusedStreams : .resetStreams))
            self.links[id.connection.rawValue]?.streams.remove(id.stream)
            self.sendFromApple(.reset(stream: id.stream, code: code), on: id.connection.rawValue)
            self.closeIfAnswered(id.connection.rawValue)
        case .goAway(let id, let lastStream, _, let debug):
            self.emit(.reached(.goAways))
            let number = id.rawValue
            if let streams = self.links[number]?.streams {
                self.links[number]?.streams = streams.filter { $0 <= lastStream }
            }
            self.links[number]?.applePhase = .leaving
            self.sendFromApple(.goAway(lastStream: lastStream, debug: debug), on: number)
            self.closeIfAnswered(number)
        case .cutConnection(let id):
            self.emit(.reached(.cuts))
            self.closeLink(id.rawValue)
        case .silenceConnection(let id):
            self.emit(.reached(.silences))
            self.links[id.rawValue]?.applePhase = .silent
        case .refuseConnection(let id):
            self.emit(.reached(.refusedConnects))
            self.links[id.rawValue]?.applePhase = .over
            self.sendFromApple(.failed(.unreachable("closed by the server during the TLS handshake")), on: id.rawValue)
        case .alertTLS(let id, let alert):
            self.emit(.reached(.brokenHandshakes))
            self.links[id.rawValue]?.applePhase = .over
            self.sendFromApple(
                .failed(.refused("refuses the connection (\(alert.rawValue))")), on: id.rawValue, trips: 3)
        default: break  // tidy: the other effects are about requests and phones
        }
    }

    /// After GOAWAY the connection goes with its last answer.
    private mutating func closeIfAnswered(_ number: UInt64) {
        guard let link = self.links[number], link.applePhase == .leaving, link.streams.isEmpty else { return }
        self.closeLink(number)
    }

    private mutating func closeLink(_ number: UInt64) {
        guard self.links[number] != nil else { return }
        self.links[number]?.applePhase = .over
        self.sendFromApple(.end, on: number)
    }

    /// - Parameter trips: how often something goes to and fro before it.
    private mutating func sendFromApple(_ frame: FromApple, on number: UInt64, trips: Int = 1) {
        guard let link = self.links[number] else { return }
        var arrival = self.time
        for _ in 0..<trips { arrival += self.latencyToApple() }
        arrival = max(arrival, link.toClient)
        self.links[number]?.toClient = arrival
        self.agenda.plan(.fromApple(number, frame), at: arrival)
    }
}
