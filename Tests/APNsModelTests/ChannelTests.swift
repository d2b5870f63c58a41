import Testing
import TidingsModel

@testable import APNsModel

private let id = "123E4567-e89b-12d3-a456-426614174000"

private func fields(_ fields: [(name: String, value: String)]) -> [String] { fields.map { "\($0.name)=\($0.value)" } }

@Suite struct `A request about channels` {
    private func request(_ operation: APNsChannelRequest.Operation, requestID: String? = nil) -> APNsChannelRequest {
        APNsChannelRequest(operation, bundleID: "com.example.chat", requestID: requestID, environment: .sandbox)
    }

    /// The table of the APNs reference, section 17.
    @Test(arguments: [
        (
            APNsChannelRequest.Operation.create(.noStorage), "POST /1/apps/com.example.chat/channels", [],
            #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
        ),
        (
            .create(.mostRecentMessage), "POST /1/apps/com.example.chat/channels", [],
            #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        ),
        (.read("dGVzdA=="), "GET /1/apps/com.example.chat/channels", ["apns-channel-id=dGVzdA=="], ""),
        (.delete("dGVzdA=="), "DELETE /1/apps/com.example.chat/channels", ["apns-channel-id=dGVzdA=="], ""),
        (.list, "GET /1/apps/com.example.chat/all-channels", [], ""),
    ])
    func `has method, path, headers and body of its operation`(
        operation: APNsChannelRequest.Operation, line: String, headers: [String], body: String
    ) throws {
        let plain = self.request(operation)
        try plain.validate()
        #expect("\(plain.method) \(plain.path)" == line)
        #expect(fields(plain.headerFields) == headers)
        #expect(String(decoding: plain.payload, as: UTF8.self) == body)
        #expect(fields(self.request(operation, requestID: id).headerFields) == headers + ["apns-request-id=\(id)"])
    }

    @Test func `is refused with the field's name`() {
        func fault(_ operation: APNsChannelRequest.Operation, _ bundleID: String, _ requestID: String? = nil) -> String?
        {
            broken { () throws(InvalidField) in
                try APNsChannelRequest(operation, bundleID: bundleID, requestID: requestID, environment: .sandbox)
                    .validate()
            }?.field
        }
        #expect(fault(.list, "com.example.chat", id) == nil)
        #expect(fault(.list, "") == "bundle_id")
        #expect(fault(.list, "com/example") == "bundle_id")
        #expect(fault(.list, "com.example.chat.push-type.liveactivity") == "bundle_id")
        #expect(fault(.list, "com.example.chat", "1") == "request_id")
        #expect(fault(.read("no"), "com.example.chat") == "channel_id")
        #expect(fault(.delete(""), "com.example.chat") == "channel_id")
    }
}

@Suite struct `An answer about channels` {
    private func answer(
        _ operation: APNsChannelRequest.Operation, _ status: Int, _ body: String = "", channel: String? = nil
    ) -> APNsChannelAnswer {
        APNsChannelAnswer(
            to: operation, status: status, headers: channel.map { [("apns-channel-id", $0)] } ?? [],
            body: Array(body.utf8))
    }

    @Test func `is what was asked for`() {
        #expect(self.answer(.create(.noStorage), 201, channel: "dGVzdA==") == .created("dGVzdA=="))
        #expect(
            self.answer(.read("dGVzdA=="), 200, #"{"message-storage-policy":1,"push-type":"LIVEACTIVITY"}"#)
                == .channel(APNsChannel(id: "dGVzdA==", storagePolicy: .mostRecentMessage)))
        #expect(self.answer(.delete("dGVzdA=="), 204) == .deleted)
        #expect(self.answer(.list, 200, #"{"channels":["dGVzdA==","YQ=="]}"#) == .list(["dGVzdA==", "YQ=="]))
        #expect(self.answer(.list, 200, #"{"channels":[]}"#) == .list([]))
    }

    @Test func `is a refusal with its reason`() {
        #expect(
            self.answer(.read("dGVzdA=="), 400, #"{"reason":"ChannelNotRegistered"}"#)
                == .refused(APNsRefusal(.channelNotRegistered, status: 400)))
    }

    @Test func `that lacks what was asked for says what`() {
        #expect(self.answer(.create(.noStorage), 201) == .malformed("no header apns-channel-id"))
        for body in ["", "{}", #"{"message-storage-policy":2}"#, #"{"message-storage-policy":"1"}"#] {
            #expect(self.answer(.read("dGVzdA=="), 200, body) == .malformed("no storage policy in the body"))
        }
        for body in ["", "{}", #"{"channels":7}"#, #"{"channels":["YQ==",7]}"#] {
            #expect(self.answer(.list, 200, body) == .malformed("no list of channels in the body"))
        }
    }
}

@Suite struct `A broadcast` {
    private func broadcast(_ change: (inout APNsBroadcast) -> Void = { _ in }) -> APNsBroadcast {
        var broadcast = APNsBroadcast(
            bundleID: "com.example.chat", channelID: "dGVzdA==", expiration: 60, priority: .powerFirst,
            payload: Array("{}".utf8), environment: .production)
        change(&broadcast)
        return broadcast
    }

    private func fault(_ policy: APNsStoragePolicy? = nil, _ change: (inout APNsBroadcast) -> Void) -> String? {
        broken { () throws(InvalidField) in try self.broadcast(change).validate(policy: policy) }?.field
    }

    @Test func `goes to the app's path with channel, type, expiration and priority, and without a topic`() throws {
        let broadcast = self.broadcast()
        try broadcast.validate()
        #expect("\(broadcast.method) \(broadcast.path)" == "POST /4/broadcasts/apps/com.example.chat")
        let plain = [
            "apns-channel-id=dGVzdA==", "apns-push-type=liveactivity", "apns-expiration=60", "apns-priority=1",
        ]
        #expect(fields(broadcast.headerFields) == plain)
        #expect(
            fields(self.broadcast { $0.requestID = id }.headerFields) == plain + ["apns-request-id=\(id)"])
    }

    @Test func `is refused with the field's name`() {
        #expect(self.fault { $0.bundleID = "com.example.chat.voip" } == "bundle_id")
        #expect(self.fault { $0.channelID = "dGVzdA" } == "channel_id")
        #expect(self.fault { $0.expiration = -1 } == "expiration")
        #expect(self.fault { $0.requestID = "" } == "request_id")
        #expect(self.fault { $0.payload = [] } == "payload")
        #expect(self.fault { $0.payload = Array(repeating: 0x20, count: 5_120) } == nil)
        #expect(self.fault { $0.payload = Array(repeating: 0x20, count: 5_121) } == "payload")
    }

    @Test(arguments: APNsPriority.allCases) func `may have every priority`(priority: APNsPriority) {
        #expect(self.fault { $0.priority = priority } == nil)
    }

    @Test func `has no expiration on a channel that stores nothing`() {
        #expect(self.fault(.noStorage) { $0.expiration = 1 } == "expiration")
        #expect(self.fault(.noStorage) { $0.expiration = 0 } == nil)
        #expect(self.fault(.mostRecentMessage) { $0.expiration = 1 } == nil)
    }
}
