import Benchmark
import PhoneCore
import TidingsModel

/// A phone that a person carries: messages arrive, some are tapped, the app comes and goes. The surroundings answer every
/// call at once, as the World's do.
struct BusyPhone {
    var phone: PhoneCore
    private var time: Int64 = 0
    private var delivery: UInt64 = 0
    private var effects: [PhoneEffect] = []
    private var waiting: [(ProcessID, ProcessEvent)] = []
    /// How many events the phone has taken in.
    private(set) var events = 0

    static let app = BundleID("com.example.chat")

    init(version: OSVersion) {
        self.phone = PhoneCore(
            version: version, apps: [InstalledApp(bundleID: Self.app, appGroup: "group.com.example.chat")])
        self.handle(.person(.appOpened(Self.app)))
        if let process = self.phone.process(of: Self.app) {
            self.handle(.process(process, .delegateChanged(isSet: true)))
            self.handle(.process(process, .query(1, .requestAuthorization([.alert, .sound, .badge]))))
            self.handle(.person(.permissionAnswered(allowed: true)))
            self.handle(.process(process, .remoteRegistrationRequested))
            self.handle(.courier(.tokenIssued(Self.app, PushToken("0a"))))
        }
    }

    /// One round of everyday life: five pushes, a look at the app, a tap.
    mutating func round() {
        for _ in 0..<5 { self.push() }
        self.handle(.person(.appOpened(Self.app)))
        self.push()
        self.handle(.person(.wentHome))
        self.push()
        if let entry = self.phone.screen.list.first { self.handle(.person(.notificationTapped(entry.key))) }
        self.handle(.person(.wentHome))
        self.handle(.system(.appFrozen(Self.app)))
    }

    private mutating func push() {
        self.delivery += 1
        self.handle(
            .courier(
                .pushArrived(
                    Push(
                        delivery: self.delivery, topic: Self.app.rawValue, payload: Self.payload,
                        collapseID: "m\(self.delivery % 16)"))))
    }

    private mutating func handle(_ event: PhoneEvent) {
        self.hand(event)
        while !self.waiting.isEmpty {
            let (process, answer) = self.waiting.removeFirst()
            self.hand(.process(process, answer))
        }
    }

    private mutating func hand(_ event: PhoneEvent) {
        self.time += 50
        self.events += 1
        self.effects.removeAll(keepingCapacity: true)
        self.phone.handle(event, at: Now(monotonic: self.time, wall: self.time), into: &self.effects)
        for effect in self.effects {
            switch effect {
            case .startProcess(let process): self.waiting.append((process, .started))
            case .call(let process, let number, let callback, _):
                self.waiting.append((process, .callbackCompleted(number, Self.result(callback))))
            default: break
            }
        }
    }

    private static func result(_ callback: Callback) -> CallbackResult {
        switch callback {
        case .receiveRemoteFetch: .fetch(.newData)
        case .willPresent: .presentation([.banner, .list, .sound])
        case .serviceExtensionReceive(let request): .content(request.content)
        default: .returned
        }
    }

    private static let payload: JSONObject = {
        let text = """
            {"aps":{"alert":{"title":"Ada","body":"See you at seven?"},"badge":3,"sound":"default","thread-id":"PR:ada",\
            "mutable-content":1},"rc":{"cType":"PR","fId":"ada","oName":"RC:TxtMsg","tId":"ada","id":"abc","mId":""}}
            """
        guard let payload = (try? JSONValue(parsing: text))?.objectValue else { fatalError("the payload is JSON") }
        return payload
    }()
}

let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .throughput], warmupIterations: 2, scalingFactor: .kilo, maxDuration: .seconds(5),
        maxIterations: 1_000)

    for version in [OSVersion(9, 3), OSVersion(12), OSVersion(17)] {
        Benchmark("phone events, iOS \(version)") { benchmark in
            var phone = BusyPhone(version: version)
            let before = phone.events
            benchmark.startMeasurement()
            while phone.events - before < benchmark.scaledIterations.count { phone.round() }
            benchmark.stopMeasurement()
            blackHole(phone.events)
        }
    }

    // The rival in the same run: the same number of JSON payloads parsed, the least work a push could cost any simulator.
    Benchmark("payloads parsed") { benchmark in
        let text = #"{"aps":{"alert":{"title":"Ada","body":"See you at seven?"},"badge":3,"sound":"default"}}"#
        for _ in benchmark.scaledIterations { blackHole(try? JSONValue(parsing: text)) }
    }
}
