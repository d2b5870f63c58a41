import Testing
import TidingsModel

@testable import APNsModel

private func request(_ change: (inout APNsRequest) -> Void = { _ in }) -> APNsRequest {
    var request = APNsRequest(
        token: "00ff", topic: "com.example.chat", collapseID: "m1", apnsID: "123e4567-e89b-12d3-a456-426614174000",
        payload: Array("{}".utf8), environment: .sandbox)
    change(&request)
    return request
}

private func fault(_ change: (inout APNsRequest) -> Void) -> String? {
    do throws(InvalidField) {
        try request(change).validate()
        return nil
    } catch {
        return error.field
    }
}

@Suite struct `A request` {
    @Test func `in good form passes`() throws {
        try request().validate()
    }

    @Test func `is refused with the field's name`() {
        #expect(fault { $0.token = "" } == "token")
        #expect(fault { $0.token = "0" } == "token")
        #expect(fault { $0.token = "0g" } == "token")
        #expect(fault { $0.token = PushToken(String(repeating: "0", count: 202)) } == "token")
        #expect(fault { $0.topic = "" } == "topic")
        #expect(fault { $0.topic = "com.example chat" } == "topic")
        #expect(fault { $0.expiration = -1 } == "expiration")
        #expect(fault { $0.payload = [] } == "payload")
        for id in ["", "123E4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"] {
            #expect(fault { $0.apnsID = id } == "apns_id")
        }
    }

    @Test func `counts the collapse id in bytes`() {
        #expect(fault { $0.collapseID = String(repeating: "a", count: 64) } == nil)
        #expect(fault { $0.collapseID = String(repeating: "a", count: 65) } == "collapse_id")
        #expect(fault { $0.collapseID = String(repeating: "\u{e9}", count: 33) } == "collapse_id")
        #expect(fault { $0.collapseID = "" } == "collapse_id")
    }

    @Test func `has 4,096 bytes of payload, and a call 5,120`() {
        #expect(fault { $0.payload = Array(repeating: 0x20, count: 4_096) } == nil)
        #expect(fault { $0.payload = Array(repeating: 0x20, count: 4_097) } == "payload")
        func call(_ count: Int) -> String? {
            fault {
                $0.pushType = .voip
                $0.topic += ".voip"
                $0.payload = Array(repeating: 0x20, count: count)
            }
        }
        #expect(call(5_120) == nil)
        #expect(call(5_121) == "payload")
    }

    @Test(arguments: APNsPushType.allCases) func `needs the topic suffix of its push type`(type: APNsPushType) {
        func topic(_ topic: String) -> String? {
            fault {
                $0.pushType = type
                $0.priority = .powerAware
                $0.topic = topic
            }
        }
        #expect(topic("com.example.chat\(type.topicSuffix)") == nil)
        #expect(topic("com.example.chat") == (type.topicSuffix.isEmpty ? nil : "topic"))
    }

    @Test func `in the background is never immediate`() {
        #expect(fault { $0.pushType = .background } == "priority")
    }

    @Test func `of a Live Activity is at once or minds the power`() {
        func priority(_ priority: APNsPriority) -> String? {
            fault {
                $0.pushType = .liveactivity
                $0.topic = APNsPushType.liveactivity.topic(forBundle: "com.example.chat")
                $0.priority = priority
            }
        }
        #expect(priority(.immediate) == nil)
        #expect(priority(.powerAware) == nil)
        #expect(priority(.powerFirst) == "priority")
    }

    @Test func `names its headers in lowercase and leaves out what is not set`() {
        let full = request { $0.expiration = 0 }
        #expect(
            full.headerFields.map { "\($0.name)=\($0.value)" } == [
                "apns-topic=com.example.chat", "apns-push-type=alert", "apns-priority=10", "apns-expiration=0",
                "apns-collapse-id=m1", "apns-id=123e4567-e89b-12d3-a456-426614174000",
            ])
        #expect(full.method == "POST")
        #expect(full.path == "/3/device/00ff")
        let bare = APNsRequest(token: "00", topic: "t", payload: [1], environment: .sandbox)
        #expect(bare.headerFields.map(\.name) == ["apns-topic", "apns-push-type", "apns-priority"])
    }
}
