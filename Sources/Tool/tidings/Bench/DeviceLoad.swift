import NIOCore
import NIOPosix
import TidingsModel
import TidingsWire

/// Signs in devices, so many at a time, each until its registration for pushes is answered.
final class DeviceLoad {
    private struct Device: Sendable {
        var id: DeviceID
        var userToken: String
        var pushToken: PushToken
    }

    /// Tokens asked for at once.
    private static let batchMax = 2_000

    struct Plan {
        var gatewayPort: Int
        /// The control port of the local APNs.
        var controlPort: Int
        var topic: String
        var people: Int
        /// Devices of each of them.
        var each: Int
        var inFlight: Int
    }

    private let plan: Plan
    private let token: (String) throws -> String
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let driver: NIOLoopBound<Driver>

    /// - Parameter token: makes the user token of a person.
    init(_ plan: Plan, token: @escaping (String) throws -> String) async throws {
        self.plan = plan
        self.token = token
        let loop = self.group.any()
        let (port, topic, inFlight) = (plan.gatewayPort, plan.topic, plan.inFlight)
        self.driver = try await loop.submit {
            NIOLoopBound(Driver(loop: loop, port: port, topic: topic, inFlight: inFlight), eventLoop: loop)
        }.get()
    }

    func shutDown() async { try? await self.group.shutdownGracefully() }

    /// One person's devices after another's.
    ///
    /// - Throws: `ToolFailure` for the first device that fails.
    func run() async throws {
        let people = max(1, Self.batchMax / self.plan.each)
        for first in stride(from: 0, to: self.plan.people, by: people) {
            let batch = try await self.devices(of: first..<min(self.plan.people, first + people))
            let driver = self.driver
            try await self.group.any().flatSubmit { driver.value.signIn(batch) }.get()
        }
    }

    private func devices(of people: Range<Int>) async throws -> [Device] {
        var devices: [Device] = []
        for person in people {
            let token = try self.token("user\(person)")
            for number in 0..<self.plan.each {
                devices.append(Device(id: DeviceID("user\(person)-\(number)"), userToken: token, pushToken: ""))
            }
        }
        let answer = try await HTTP.json(
            "POST", "http://127.0.0.1:\(self.plan.controlPort)/devices",
            body: [
                "phones": .array(devices.map { .string($0.id.rawValue) }), "topic": .string(self.plan.topic),
                "environment": .string(PushEnvironment.sandbox.rawValue),
            ])
        let texts = answer["tokens"]?.arrayValue?.compactMap(\.stringValue) ?? []
        guard texts.count == devices.count else {
            throw ToolFailure("the local APNs gave \(texts.count) tokens for \(devices.count) devices")
        }
        for index in devices.indices { devices[index].pushToken = PushToken(texts[index]) }
        return devices
    }
}

extension DeviceLoad {
    /// Lives on one event loop.
    private final class Driver {
        private let loop: any EventLoop
        private let port: Int
        private let topic: String
        private let inFlight: Int
        private var devices: [Device] = []
        private var started = 0
        private var ended = 0
        private var done: EventLoopPromise<Void>?

        init(loop: any EventLoop, port: Int, topic: String, inFlight: Int) {
            self.loop = loop
            self.port = port
            self.topic = topic
            self.inFlight = inFlight
        }

        func signIn(_ devices: [Device]) -> EventLoopFuture<Void> {
            let done = self.loop.makePromise(of: Void.self)
            self.devices = devices
            self.started = 0
            self.ended = 0
            self.done = done
            self.startMore()
            return done.futureResult
        }

        private func startMore() {
            while self.started < self.devices.count, self.started - self.ended < self.inFlight {
                self.start(self.started)
                self.started += 1
            }
        }

        private func start(_ index: Int) {
            let device = self.devices[index]
            let opening = BenchConnection.Opening(
                user: "", token: device.userToken, device: device.id.rawValue, port: self.port)
            BenchConnection(index: index, opening) { self.handle($1, of: $0) }.open(on: self.loop)
        }

        private func handle(_ signal: BenchConnection.Signal, of connection: BenchConnection) {
            switch signal {
            case .welcomed:
                let registration = PushRegistration(
                    token: self.devices[connection.index].pushToken, environment: .sandbox, topic: self.topic)
                connection.write(FrameCodec.encode(.registerPush(registration, number: 1), as: .protobuf))
                connection.flush()
            case .told(let other):
                guard case .answer(_, .done) = other.frame else {
                    return self.finish("\(self.devices[connection.index].id): \(other.frame)")
                }
                connection.close()
                self.ended += 1
                if self.ended == self.devices.count { self.finish(nil) } else { self.startMore() }
            case .failed(let why): self.finish("\(self.devices[connection.index].id): \(why)")
            // Nobody writes to them but a push that is under way.
            case .accepted, .delivered: break
            }
        }

        private func finish(_ failure: String?) {
            let done = self.done
            self.done = nil
            if let failure { done?.fail(ToolFailure(failure)) } else { done?.succeed() }
        }
    }
}
