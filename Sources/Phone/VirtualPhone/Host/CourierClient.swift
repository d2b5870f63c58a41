import APNsModel
import NIOCore
import NIOPosix
import PhoneCore
import TidingsModel

/// The phone's connection to APNs: kept open and built again while the phone is online. Bound to one event loop.
final class CourierClient {
    /// What the phone hears.
    enum Event {
        case connected
        case disconnected
        case tokenIssued(TokenRegistration, PushToken)
        case registrationFailed(TokenRegistration, reason: String)
        case pushArrived(Push, apnsID: String?)
        /// The courier refused something, or sent what cannot be read.
        case refused(InvalidField)
    }

    private struct Wanted {
        var id: Int64
        var registration: TokenRegistration
        var isAnswered: Bool
    }

    private let phone: String
    private let address: PhoneHost.Endpoint
    private let loop: any EventLoop
    private let onEvent: (Event) -> Void
    private var isWanted = false
    private var isConnecting = false
    private var channel: (any Channel)?
    private var isWelcome = false
    private var backoff = CourierBackoff()
    private var retry: Scheduled<Void>?
    private var wanted: [Wanted] = []
    /// What ended while the courier could not be told.
    private var ended: [TokenRegistration] = []
    private var channels: [ChannelSubscription] = []
    private var lastID: Int64 = 0

    init(
        phone: String, address: PhoneHost.Endpoint, loop: any EventLoop, onEvent: @escaping (Event) -> Void
    ) {
        self.phone = phone
        self.address = address
        self.loop = loop
        self.onEvent = onEvent
    }

    /// Connects, and again whenever the connection is lost.
    func open() {
        self.isWanted = true
        self.connect()
    }

    /// Cuts the connection and leaves it.
    func close() {
        self.isWanted = false
        self.retry?.cancel()
        self.retry = nil
        self.channel?.close(promise: nil)
    }

    /// Asks for a token: now, and again on each new connection until it is answered.
    func register(_ registration: TokenRegistration) {
        self.lastID += 1
        self.wanted.removeAll { $0.registration == registration }
        let wanted = Wanted(id: self.lastID, registration: registration, isAnswered: false)
        self.wanted.append(wanted)
        self.send(wanted)
    }

    /// Ends a token: now, or first of all on the next connection.
    func unregister(_ registration: TokenRegistration) {
        self.wanted.removeAll { $0.registration == registration }
        guard self.isWelcome else { return self.ended.append(registration) }
        self.end(registration)
    }

    /// Wants a channel's broadcasts: now, and on each new connection.
    func subscribe(_ registration: ChannelSubscription) {
        self.channels.append(registration)
        self.write(registration.request(isOn: true))
    }

    /// No longer wants them.
    func unsubscribe(_ registration: ChannelSubscription) {
        self.channels.removeAll { $0 == registration }
        self.write(registration.request(isOn: false))
    }

    /// A push has arrived.
    func acknowledge(delivery: UInt64) { self.write(.acknowledge(delivery: Int64(clamping: delivery))) }

    private func send(_ wanted: Wanted) {
        self.write(
            .register(
                id: wanted.id, topic: wanted.registration.topic, wanted.registration.environment,
                activity: wanted.registration.activity))
    }

    private func end(_ registration: TokenRegistration) {
        self.write(.unregister(topic: registration.topic, registration.environment, activity: registration.activity))
    }

    private func write(_ request: CourierRequest) {
        guard self.isWelcome else { return }
        self.channel?.writeLine(request.json)
    }

    private func connect() {
        guard self.isWanted, self.channel == nil, !self.isConnecting else { return }
        self.isConnecting = true
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        ClientBootstrap(group: self.loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = LineHandler(
                        onLine: { _, line in bound.value.take(line) },
                        onClose: { _ in bound.value.lost() })
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .connectTimeout(.seconds(5))
            .connect(host: self.address.host, port: self.address.port)
            .hop(to: self.loop)
            .assumeIsolated()
            .whenComplete { result in
                self.isConnecting = false
                switch result {
                case .success(let channel):
                    self.channel = channel
                    guard self.isWanted else { return channel.close(promise: nil) }
                    channel.writeLine(CourierRequest.hello(PhoneID(self.phone)).json)
                case .failure: self.scheduleRetry()
                }
            }
    }

    private func lost() {
        let wasWelcome = self.isWelcome
        self.channel = nil
        self.isWelcome = false
        if wasWelcome { self.onEvent(.disconnected) }
        self.scheduleRetry()
    }

    private func scheduleRetry() {
        guard self.isWanted else { return }
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.retry?.cancel()
        self.retry = self.loop.scheduleTask(in: .milliseconds(self.backoff.next())) { bound.value.connect() }
    }

    private func take(_ line: [UInt8]) {
        do throws(InvalidField) {
            self.take(try CourierReply(line: line))
        } catch {
            self.onEvent(.refused(error))
        }
    }

    private func take(_ reply: CourierReply) {
        switch reply {
        case .welcome:
            self.isWelcome = true
            self.backoff.reset()
            self.onEvent(.connected)
            for registration in self.ended { self.end(registration) }
            self.ended = []
            // The courier may have forgotten; a topic asked for again keeps its token.
            for wanted in self.wanted { self.send(wanted) }
            for registration in self.channels { self.write(registration.request(isOn: true)) }
        case .registered(let id, _, _, let token, _):
            guard let index = self.wanted.firstIndex(where: { $0.id == id }) else { return }
            guard !self.wanted[index].isAnswered else { return }
            self.wanted[index].isAnswered = true
            self.onEvent(.tokenIssued(self.wanted[index].registration, token))
        case .push(let push): self.onEvent(.pushArrived(Push(push), apnsID: push.apnsID))
        case .error(let field, let rule):
            self.onEvent(.refused(InvalidField(field: field, rule: rule)))
            guard field == "topic" || field == "environment" || field == "activity" || field == "id",
                let index = self.wanted.firstIndex(where: { !$0.isAnswered })
            else { return }
            let refused = self.wanted.remove(at: index)
            self.onEvent(.registrationFailed(refused.registration, reason: "\(field) \(rule)"))
        }
    }
}
