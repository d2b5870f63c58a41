import APNsModel
import NIOCore
import NIOPosix
import PhoneCore
import TidingsModel

/// Reconnects while the phone is online. Bound to one event loop.
final class CourierClient {
    enum Event {
        case connected
        case disconnected
        case tokenIssued(TokenRequest, PushToken)
        case registrationFailed(TokenRequest, reason: String)
        case pushArrived(Push, apnsID: String?)
        /// The courier refused something, or sent what cannot be read.
        case refused(InvalidField)
    }

    private struct Wanted {
        var id: Int64
        var request: TokenRequest
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
    /// Not yet told to the courier.
    private var ended: [TokenRequest] = []
    private var channels: [ChannelSubscription] = []
    private var lastID: Int64 = 0

    init(phone: String, address: PhoneHost.Endpoint, loop: any EventLoop, onEvent: @escaping (Event) -> Void) {
        self.phone = phone
        self.address = address
        self.loop = loop
        self.onEvent = onEvent
    }

    func open() {
        self.isWanted = true
        self.connect()
    }

    func close() {
        self.isWanted = false
        self.retry?.cancel()
        self.retry = nil
        self.channel?.close(promise: nil)
    }

    /// Asked again on each new connection until it is answered.
    func register(_ request: TokenRequest) {
        self.lastID += 1
        self.wanted.removeAll { $0.request == request }
        let wanted = Wanted(id: self.lastID, request: request, isAnswered: false)
        self.wanted.append(wanted)
        self.sendRegister(wanted)
    }

    /// Told now, or first of all on the next connection.
    func unregister(_ request: TokenRequest) {
        self.wanted.removeAll { $0.request == request }
        guard self.isWelcome else { return self.ended.append(request) }
        self.sendUnregister(request)
    }

    /// Asked again on each new connection.
    func subscribe(_ subscription: ChannelSubscription) {
        self.channels.append(subscription)
        self.write(subscription.request(isOn: true))
    }

    func unsubscribe(_ subscription: ChannelSubscription) {
        self.channels.removeAll { $0 == subscription }
        self.write(subscription.request(isOn: false))
    }

    func acknowledge(delivery: UInt64) { self.write(.acknowledge(delivery: Int64(clamping: delivery))) }

    private func sendRegister(_ wanted: Wanted) {
        self.write(
            .register(
                id: wanted.id, topic: wanted.request.topic, wanted.request.environment,
                activity: wanted.request.activity))
    }

    private func sendUnregister(_ request: TokenRequest) {
        self.write(.unregister(topic: request.topic, request.environment, activity: request.activity))
    }

    private func write(_ request: CourierRequest) {
        guard self.isWelcome else { return }
        self.channel?.writeLine(request.json)
    }

    private func connect() {
        guard self.isWanted, self.channel == nil, !self.isConnecting else { return }
        self.isConnecting = true
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        let bootstrap = ClientBootstrap(group: self.loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = LineHandler(
                        onLine: { _, line in bound.value.handleLine(line) },
                        onClose: { _ in bound.value.handleClose() })
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .connectTimeout(.seconds(5))
        // An address is not looked up: the answer would come from another thread, perhaps when the loop is shut down.
        let (host, port) = (self.address.host, self.address.port)
        let address = try? SocketAddress(ipAddress: host, port: port)
        let connected = address.map { bootstrap.connect(to: $0) } ?? bootstrap.connect(host: host, port: port)
        connected.hop(to: self.loop)
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

    private func handleClose() {
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

    private func handleLine(_ line: [UInt8]) {
        do throws(InvalidField) {
            self.handleReply(try CourierReply(line: line))
        } catch {
            self.onEvent(.refused(error))
        }
    }

    private func handleReply(_ reply: CourierReply) {
        switch reply {
        case .welcome:
            self.isWelcome = true
            self.backoff.reset()
            self.onEvent(.connected)
            for request in self.ended { self.sendUnregister(request) }
            self.ended = []
            // The courier may have restarted; a topic registered again keeps its token.
            for wanted in self.wanted { self.sendRegister(wanted) }
            for subscription in self.channels { self.write(subscription.request(isOn: true)) }
        case .registered(let id, _, _, let token, _):
            guard let index = self.wanted.firstIndex(where: { $0.id == id }) else { return }
            guard !self.wanted[index].isAnswered else { return }
            self.wanted[index].isAnswered = true
            self.onEvent(.tokenIssued(self.wanted[index].request, token))
        case .push(let push): self.onEvent(.pushArrived(Push(push), apnsID: push.apnsID))
        case .error(let field, let rule):
            self.onEvent(.refused(InvalidField(field: field, rule: rule)))
            guard field == "topic" || field == "environment" || field == "activity" || field == "id",
                let index = self.wanted.firstIndex(where: { !$0.isAnswered })
            else { return }
            let refused = self.wanted.remove(at: index)
            self.onEvent(.registrationFailed(refused.request, reason: "\(field) \(rule)"))
        }
    }
}
