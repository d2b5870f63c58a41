import APNsModel
import Testing
import TidingsModel

@testable import APNsCore

private let topic = "com.example.chat.push-type.liveactivity"

extension Apple {
    fileprivate mutating func register(_ activity: String?, _ drawn: PushToken) -> [APNsService.Effect] {
        self.handle(
            .registrationRequested(Self.courier, id: 2, topic: topic, .sandbox, activity: activity, drawn: drawn))
    }

    fileprivate mutating func push(to token: String) -> [APNsService.Effect] {
        self.send(Apple.request(token: token, topic: topic, extra: [("apns-push-type", "LiveActivity")]))
    }

    fileprivate mutating func acknowledge(_ delivery: Int64) -> [APNsService.Effect] {
        self.handle(.deliveryAcknowledged(Self.courier, delivery: delivery))
    }

    /// A connected phone with two activities and a push-to-start token.
    fileprivate static func withActivities() -> Apple {
        var apple = Apple()
        apple.connectPhone()
        _ = apple.register("home", "0a")
        _ = apple.register("away", "0b")
        _ = apple.register(nil, "0c")
        return apple
    }
}

extension [APNsService.Effect] {
    /// The Live Activities of the pushes handed to phones.
    fileprivate var activities: [String?] {
        self.compactMap { effect -> String?? in
            guard case .push(_, _, let push) = effect else { return nil }
            return .some(push.target.activity)
        }
    }
}

/// APNs reference, sections 13 and 16.
@Suite struct `The token of a Live Activity` {
    @Test func `is its own, and the same as long as the activity lasts`() {
        var apple = Apple.withActivities()
        func confirmed(_ activity: String?, _ token: PushToken) -> [APNsService.Effect] {
            [.confirmRegistration(Apple.courier, id: 2, topic: topic, .sandbox, activity: activity, token)]
        }
        #expect(apple.register("home", "0d") == confirmed("home", "0a"))
        #expect(apple.register("away", "0d") == confirmed("away", "0b"))
        #expect(apple.register(nil, "0d") == confirmed(nil, "0c"))
    }

    @Test func `brings a push to that activity, and push-to-start's to none`() {
        var apple = Apple.withActivities()
        #expect(apple.push(to: "0b").activities == ["away"])
        #expect(apple.push(to: "0a").answer?.status == 200)
        #expect(apple.acknowledge(1).activities == ["home"])
        #expect(apple.push(to: "0c").answer?.status == 200)
        #expect(apple.acknowledge(2).activities == [nil])
    }

    @Test(arguments: [("home", ["0a"]), ("away", ["0b"]), (nil, ["0c"])] as [(String?, [String])])
    func `ends alone`(activity: String?, dead: [String]) {
        var apple = Apple.withActivities()
        _ = apple.handle(.unregistrationRequested(Apple.courier, topic: topic, .sandbox, activity: activity))
        let refused = ["0a", "0b", "0c"].filter { apple.push(to: $0).answer?.reason == .unregistered }
        #expect(refused == dead)
        #expect(apple.answer()?.status == 200)
    }

    @Test func `is another one for an activity that begins under an old name`() {
        var apple = Apple.withActivities()
        _ = apple.handle(.unregistrationRequested(Apple.courier, topic: topic, .sandbox, activity: "home"))
        _ = apple.register("home", "0d")
        #expect(apple.push(to: "0d").activities == ["home"])
        #expect(apple.push(to: "0a").answer?.reason == .unregistered)
    }

    @Test func `ends with its app, in the order of the names`() {
        var apple = Apple.withActivities()
        let effects = apple.handle(.unregistrationRequested(Apple.courier, topic: "com.example.chat", .sandbox))
        let ended = effects.compactMap { effect -> String? in
            guard case .save(let record) = effect else { return nil }
            return record.key
        }
        #expect(ended == [Apple.token.rawValue, "0c", "0b", "0a"])
        #expect(apple.push(to: "0a").answer?.reason == .unregistered)
    }

    /// Apple keeps one notification of an app, whichever of its activities it is for (APNs reference, section 14).
    @Test func `has no place of its own in the store for a phone that is away`() {
        var apple = Apple.withActivities()
        _ = apple.handle(.courierClosed(Apple.courier))
        #expect(apple.push(to: "0a").logged == ["id-1 accepted", "id-1 stored"])
        #expect(apple.push(to: "0b").logged == ["id-2 accepted", "id-1 overwritten id-2", "id-2 stored"])
        #expect(apple.handle(.phoneConnected("phone", APNsService.CourierID(8))).activities == ["away"])
    }

    @Test func `and what is stored for it are found again after a restart`() throws {
        var apple = Apple.withActivities()
        _ = apple.handle(.courierClosed(Apple.courier))
        _ = apple.push(to: "0b")
        apple.service = try APNsService(
            configuration: apple.service.configuration, restoring: apple.service.records)
        apple.open(1)
        #expect(apple.handle(.phoneConnected("phone", Apple.courier)).activities == ["away"])
        #expect(
            apple.register("home", "0d")
                == [.confirmRegistration(Apple.courier, id: 2, topic: topic, .sandbox, activity: "home", "0a")])
        #expect(apple.service.devices.map(\.target.activity) == ["home", "away", nil, nil])
        _ = apple.handle(.unregistrationRequested(Apple.courier, topic: "com.example.chat", .sandbox))
        #expect(apple.push(to: "0a").answer?.reason == .unregistered)
    }

    @Test func `is none in a record that was written before there were any`() throws {
        let json: JSONValue = [
            "token": "0a", "phone": "phone", "topic": .string(topic), "environment": "sandbox", "since_ms": 1,
            "retired_ms": .null,
        ]
        let device = try #require(RegisteredDevice(record: json))
        #expect(device.target == DeviceTopic(phone: "phone", topic: topic, environment: .sandbox))
        #expect(device.json == json)
    }

    @Test func `is asked for and ended by name`() throws {
        func read(_ type: String, _ members: String) throws -> CourierRequest {
            let text = #"{"type":"\#(type)","id":3,"topic":"\#(topic)","environment":"sandbox"\#(members)}"#
            return try CourierRequest(line: Array(text.utf8))
        }
        let named = #","activity":"home""#
        #expect(try read("register", named) == .register(id: 3, topic: topic, .sandbox, activity: "home"))
        #expect(try read("unregister", named) == .unregister(topic: topic, .sandbox, activity: "home"))
        #expect(try read("register", #","activity":null"#) == .register(id: 3, topic: topic, .sandbox))
        let longest = String(repeating: "a", count: 256)
        #expect(
            try read("register", #","activity":"\#(longest)""#)
                == .register(id: 3, topic: topic, .sandbox, activity: longest))
        for wrong in [#""""#, "\"a\(longest)\""] {
            #expect(throws: InvalidField(field: "activity", rule: "must be text of 1 to 256 bytes")) {
                try read("register", #","activity":\#(wrong)"#)
            }
        }
        let line = #"{"type":"register","id":1,"topic":"com.example.chat","environment":"sandbox","activity":"a"}"#
        #expect(
            throws: InvalidField(
                field: "activity", rule: "must come with a topic that ends in .push-type.liveactivity")
        ) { try CourierRequest(line: Array(line.utf8)) }
    }

    @Test func `and a push to it are told with the name`() {
        let registered = CourierReply.registered(id: 3, topic: "t", .sandbox, token: "ab", activity: "home").line
        #expect(
            String(decoding: registered, as: UTF8.self)
                == #"{"type":"registered","id":3,"topic":"t","environment":"sandbox","token":"ab","activity":"home"}"#
                + "\n")
        var apple = Apple.withActivities()
        for case .push(_, let delivery, let push) in apple.push(to: "0a") {
            let line = try? JSONValue(parsing: CourierReply.push(delivery: delivery, push).line)
            #expect(line?["activity"] == "home")
        }
    }
}
