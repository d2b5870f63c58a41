import APNsCore
import APNsModel
import Foundation
import Logging
import NIOCore
import NIOSSL
import TidingsModel

/// The shell around Apple's side: every connection reports to it, and it performs what the core decides.
///
/// `@unchecked Sendable`: every variable is touched on `eventLoop` only.
final class SimulatorEngine: @unchecked Sendable {
    typealias ConnectionID = APNsService.ConnectionID
    typealias CourierID = APNsService.CourierID

    let eventLoop: any EventLoop
    let folder: StateFolder
    let authority: LocalAuthority
    var core: APNsService
    var random = RandomSource()
    var faultsText: JSONValue = .members([])
    private let logger: Logger
    private let logEntriesMax: Int
    private let store: StateStore?
    private var verifier: TokenVerifier
    private var log = CircularBuffer<DeliveryLogEntry>()
    /// Because newer lines came.
    private var linesDropped = 0
    private var connections: [ConnectionID: ProviderHandler] = [:]
    private var couriers: [CourierID: CourierHandler] = [:]
    private var lastNumber: UInt64 = 0
    private var isStopping = false
    private var effects: [APNsService.Effect] = []
    private var alarm: Scheduled<Void>?
    /// The number of changes of keys; after one, earlier verdicts on tokens may be wrong.
    private(set) var keyChanges = 0

    init(
        core: APNsService, verifier: TokenVerifier, folder: StateFolder, authority: LocalAuthority, store: StateStore?,
        logEntriesMax: Int, logger: Logger, eventLoop: any EventLoop
    ) {
        self.core = core
        self.verifier = verifier
        self.folder = folder
        self.authority = authority
        self.store = store
        self.logEntriesMax = logEntriesMax
        self.logger = logger
        self.eventLoop = eventLoop
    }

    private static func now() -> Now {
        Now(
            monotonic: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000),
            wall: Int64(Date().timeIntervalSince1970 * 1_000))
    }

    func number() -> UInt64 {
        self.lastNumber += 1
        return self.lastNumber
    }

    // MARK: Providers

    func initialStreamLimit(hasCertificate: Bool) -> Int {
        self.core.initialStreamLimit(hasCertificate: hasCertificate)
    }

    var headerListBytesMax: Int { self.core.configuration.headerListBytesMax }

    func arrived(_ handler: ProviderHandler, host: ProviderHost) -> ConnectionID {
        let id = ConnectionID(self.number())
        self.connections[id] = handler
        self.handle(.connectionArrived(id, host))
        return id
    }

    func opened(_ id: ConnectionID, host: ProviderHost, certificate: ClientCertificateFacts?) {
        self.handle(.connectionOpened(id, host, certificate: certificate))
    }

    func closed(_ id: ConnectionID) {
        self.connections[id] = nil
        self.handle(.connectionClosed(id))
    }

    func received(_ request: WireRequest, stream: Int64, on id: ConnectionID, token: ProviderTokenFacts) {
        let request = APNsService.Event.requestReceived(
            APNsService.RequestID(connection: id, stream: stream), request, token: token,
            drawn: self.random.requestIDs())
        self.handle(request)
    }

    func facts(of authorization: String) -> ProviderTokenFacts { self.verifier.facts(authorization) }

    /// Nil for one that cannot be read.
    func facts(of certificate: NIOSSLCertificate?) -> ClientCertificateFacts? {
        certificate.flatMap { try? $0.toDERBytes() }.flatMap { ClientCertificateFacts(der: $0, self.authority) }
    }

    func alert(on certificate: ClientCertificateFacts) -> TLSAlert? {
        self.core.alert(on: certificate, at: Self.now())
    }

    /// Commits the changes that the requests of one read have made, before they are answered.
    func cycleEnded() { self.store?.commit() }

    // MARK: Phones

    func opened(_ handler: CourierHandler) -> CourierID {
        let id = CourierID(self.number())
        self.couriers[id] = handler
        return id
    }

    func closed(_ id: CourierID) {
        self.couriers[id] = nil
        self.handle(.courierClosed(id))
        self.store?.commit()
    }

    func received(_ request: CourierRequest, from id: CourierID) {
        switch request {
        case .hello(let phone): self.handle(.phoneConnected(phone, id))
        case .register(let number, let topic, let environment, let activity):
            let drawn = self.random.deviceToken()
            self.handle(
                .registrationRequested(id, id: number, topic: topic, environment, activity: activity, drawn: drawn))
        case .unregister(let topic, let environment, let activity):
            self.handle(.unregistrationRequested(id, topic: topic, environment, activity: activity))
        case .acknowledge(let delivery): self.handle(.deliveryAcknowledged(id, delivery: delivery))
        case .power(let power): self.handle(.powerReported(id, power))
        case .app(let topic, let environment, let condition):
            self.handle(.appReported(id, topic: topic, environment, condition))
        case .subscribe(let topic, let environment, let channel):
            self.subscribe(id, ChannelName(bundleID: topic, environment: environment, id: channel), isOn: true)
        case .unsubscribe(let topic, let environment, let channel):
            self.subscribe(id, ChannelName(bundleID: topic, environment: environment, id: channel), isOn: false)
        }
        self.store?.commit()
    }

    private func subscribe(_ id: CourierID, _ channel: ChannelName, isOn: Bool) {
        self.handle(.subscriptionChanged(id, channel, isOn: isOn))
    }

    // MARK: The operator

    func change(_ event: APNsService.Event) {
        self.applyEvent(event)
        self.commit()
    }

    /// One of several changes: `commit` ends them.
    func applyEvent(_ event: APNsService.Event) { self.handle(event) }

    func commit() {
        self.store?.commit()
        for handler in self.connections.values { handler.write() }
    }

    func setKey(_ keyID: String, _ key: TokenVerifier.Key?) {
        self.verifier.keys[keyID] = key
        self.keyChanges += 1
    }

    /// Oldest line first.
    func entries(where matches: (DeliveryLogEntry) -> Bool) -> [DeliveryLogEntry] { self.log.filter(matches) }

    /// Oldest line first. - Parameter line: counted from 0 since the start; what has gone from the log is left out.
    func page(from line: Int, limit: Int) -> APNsSimulator.LogPage {
        let first = max(line, self.linesDropped)
        let entries = self.log.dropFirst(first - self.linesDropped).prefix(limit)
        return APNsSimulator.LogPage(first: first, entries: Array(entries))
    }

    func stop() {
        self.isStopping = true
        self.alarm?.cancel()
        for handler in self.connections.values { handler.cut() }
        for handler in self.couriers.values { handler.close() }
        self.store?.close()
    }

    // MARK: Effects

    private func handle(_ event: APNsService.Event) {
        self.eventLoop.preconditionInEventLoop()
        // Effects that lead to further events, such as a connection that closes, find the list free.
        var effects: [APNsService.Effect] = []
        swap(&effects, &self.effects)
        self.core.handle(event, at: Self.now(), into: &effects)
        for effect in effects { self.perform(effect) }
        effects.removeAll(keepingCapacity: true)
        self.effects = effects
    }

    private func perform(_ effect: APNsService.Effect) {
        switch effect {
        case .respond(let request, let response, let body, let delay):
            guard delay > 0 else {
                self.connections[request.connection]?.respond(response, body: body, on: request.stream)
                return
            }
            self.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(delay)) {
                guard !self.isStopping, let handler = self.connections[request.connection] else { return }
                handler.respond(response, body: body, on: request.stream)
                handler.write()
            }
        case .announceStreamLimit(let id, let limit): self.connections[id]?.announce(streamLimit: limit)
        case .resetStream(let request, let code):
            self.connections[request.connection]?.reset(stream: request.stream, code: code)
        case .goAway(let id, let last, let code, let debug):
            self.connections[id]?.goAway(lastStream: last, code: code, debug: debug)
        case .cutConnection(let id), .refuseConnection(let id): self.connections[id]?.cut()
        case .silenceConnection(let id): self.connections[id]?.fallSilent()
        case .alertTLS(let id, let alert): self.connections[id]?.alert(alert)
        case .welcome(let id): self.couriers[id]?.write(.welcome)
        case .confirmRegistration(let id, let number, let topic, let environment, let activity, let token):
            self.couriers[id]?.write(
                .registered(id: number, topic: topic, environment, token: token, activity: activity))
        case .push(let id, let delivery, let push): self.couriers[id]?.write(.push(delivery: delivery, push))
        case .reject(let id, let fault): self.couriers[id]?.write(.error(field: fault.field, rule: fault.rule))
        case .closeCourier(let id): self.couriers[id]?.giveWay()
        case .log(let entry):
            if self.log.count >= self.logEntriesMax {
                self.log.removeFirst()
                self.linesDropped += 1
            }
            self.log.append(entry)
            self.logger.debug("\(entry.json.text)")
        case .save(let record): self.store?.save(record)
        case .forget(let kind, let key): self.store?.forget(kind, key: key)
        case .wake(let at): self.wake(at: at)
        }
    }

    private func wake(at monotonic: Int64) {
        self.alarm?.cancel()
        let deadline = NIODeadline.uptimeNanoseconds(UInt64(max(0, monotonic)) * 1_000_000)
        self.alarm = self.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            guard !self.isStopping else { return }
            self.change(.timeReached)
        }
    }
}
