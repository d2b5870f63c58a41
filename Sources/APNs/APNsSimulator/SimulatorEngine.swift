import APNsCore
import APNsModel
import Foundation
import Logging
import NIOCore
import TidingsModel

/// The shell around Apple's side: every connection reports to it, and it performs what the core decides.
///
/// `@unchecked Sendable`: every variable is touched on `eventLoop` only.
final class SimulatorEngine: @unchecked Sendable {
    typealias ConnectionID = APNsService.ConnectionID
    typealias CourierID = APNsService.CourierID

    let eventLoop: any EventLoop
    let verifier: TokenVerifier
    private let logger: Logger
    private let logEntriesMax: Int
    private var core: APNsService
    private var log: [DeliveryLogEntry] = []
    private var connections: [ConnectionID: ProviderHandler] = [:]
    private var couriers: [CourierID: CourierHandler] = [:]
    private var lastNumber: UInt64 = 0
    private var isStopping = false

    init(
        core: APNsService, verifier: TokenVerifier, logEntriesMax: Int, logger: Logger, eventLoop: any EventLoop
    ) {
        self.core = core
        self.verifier = verifier
        self.logEntriesMax = logEntriesMax
        self.logger = logger
        self.eventLoop = eventLoop
    }

    private static func now() -> Now {
        Now(
            monotonic: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000),
            wall: Int64(Date().timeIntervalSince1970 * 1_000))
    }

    private func number() -> UInt64 {
        self.lastNumber += 1
        return self.lastNumber
    }

    // MARK: Providers

    /// The stream limit a new connection is greeted with.
    var initialStreamLimit: Int { self.core.initialStreamLimit }

    func opened(_ handler: ProviderHandler, environment: PushEnvironment) -> ConnectionID {
        let id = ConnectionID(self.number())
        self.connections[id] = handler
        self.handle(.connectionOpened(id, environment))
        return id
    }

    func closed(_ id: ConnectionID) {
        self.connections[id] = nil
        self.handle(.connectionClosed(id))
    }

    func received(_ request: WireRequest, stream: Int64, on id: ConnectionID, token: ProviderTokenFacts) {
        let drawn = APNsService.DrawnIDs(apnsID: Self.uuid(), uniqueID: Self.uuid())
        self.handle(
            .requestReceived(
                APNsService.RequestID(connection: id, stream: stream), request, token: token, drawn: drawn))
    }

    private static func uuid() -> String { UUID().uuidString.lowercased() }

    // MARK: Phones

    func opened(_ handler: CourierHandler) -> CourierID {
        let id = CourierID(self.number())
        self.couriers[id] = handler
        return id
    }

    func closed(_ id: CourierID) {
        self.couriers[id] = nil
        self.handle(.courierClosed(id))
    }

    func received(_ request: CourierRequest, from id: CourierID) {
        switch request {
        case .hello(let phone): self.handle(.phoneConnected(phone, id))
        case .register(let number, let topic, let environment):
            self.handle(
                .registrationRequested(id, id: number, topic: topic, environment, drawn: Self.deviceToken()))
        case .unregister(let topic, let environment):
            self.handle(.unregistrationRequested(id, topic: topic, environment))
        case .acknowledge(let delivery): self.handle(.deliveryAcknowledged(id, delivery: delivery))
        }
    }

    /// 32 random bytes, 64 digits (apns.md §6).
    private static func deviceToken() -> PushToken {
        let digits = Array("0123456789abcdef")
        return PushToken(String((0..<64).map { _ in digits[Int.random(in: 0..<16)] }))
    }

    // MARK: The operator

    func setFaults(_ plan: FaultPlan) { self.handle(.faultsChanged(plan)) }

    /// Ends a token; false if it is unknown or has ended already.
    func retire(_ token: PushToken) -> Bool {
        guard self.core.devices.contains(where: { $0.token == token && $0.retiredAt == nil }) else { return false }
        self.handle(.tokenRetired(token))
        return true
    }

    /// Every device with its token, and whether its phone is connected.
    var devices: JSONValue {
        .array(
            self.core.devices.map { device in
                guard case .object(var object) = device.json else { return device.json }
                object["connected"] = .bool(self.core.isConnected(device.target.phone))
                return .object(object)
            })
    }

    /// The delivery log, oldest line first.
    func entries(where matches: (DeliveryLogEntry) -> Bool) -> JSONValue {
        .array(self.log.suffix(self.logEntriesMax).filter(matches).map(\.json))
    }

    /// Cuts every connection.
    func stop() {
        self.isStopping = true
        for handler in self.connections.values { handler.cut() }
        for handler in self.couriers.values { handler.close() }
    }

    // MARK: Effects

    private func handle(_ event: APNsService.Event) {
        self.eventLoop.preconditionInEventLoop()
        var effects: [APNsService.Effect] = []
        self.core.handle(event, at: Self.now(), into: &effects)
        for effect in effects { self.perform(effect) }
    }

    private func perform(_ effect: APNsService.Effect) {
        switch effect {
        case .respond(let request, let response, let delay):
            guard delay > 0 else {
                self.connections[request.connection]?.respond(response, on: request.stream)
                return
            }
            self.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(delay)) {
                guard !self.isStopping else { return }
                self.connections[request.connection]?.respond(response, on: request.stream)
                self.connections[request.connection]?.flush()
            }
        case .announceStreamLimit(let id, let limit): self.connections[id]?.announce(streamLimit: limit)
        case .cutConnection(let id): self.connections[id]?.cut()
        case .welcome(let id): self.couriers[id]?.write(CourierLine.welcome)
        case .confirmRegistration(let id, let number, let topic, let environment, let token):
            self.couriers[id]?.write(CourierLine.registered(id: number, topic: topic, environment, token))
        case .push(let id, let delivery, let push): self.couriers[id]?.write(CourierLine.push(delivery: delivery, push))
        case .reject(let id, let fault): self.couriers[id]?.write(CourierLine.error(fault))
        case .closeCourier(let id): self.couriers[id]?.close()
        case .log(let entry):
            self.log.append(entry)
            // In steps of an eighth, so that the cost of moving the rest is spread.
            if self.log.count > self.logEntriesMax + self.logEntriesMax / 8 {
                self.log.removeFirst(self.log.count - self.logEntriesMax)
            }
            self.logger.debug("\(entry.json.text)")
        }
    }
}
