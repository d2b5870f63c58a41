import Foundation
import HTTPTypes
import Testing
import TidingsModel

@testable import ServerCore
@testable import TidingsServer

@Suite struct `A call by the HTTP API` {
    private static let call: CallID = "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01"

    @Test func `rings for a call`() async throws {
        let api = try await APIDouble(answering: .ringing(at: 5))
        let answer = try await api.request(
            .post, "calls",
            #"""
            {"id":"0B9F1C9E-3A54-4B8E-9F57-0D6A1C6B7E01","from":"alice","to":"bob","video":true,"lifetime_ms":10000,
             "data":{"room":7}}
            """#)
        #expect(answer.status == 202)
        #expect(answer.json == ["id": .string(Self.call.rawValue), "sent_at": 5, "expires_at": 10_005])
        #expect(
            api.commands == [
                .ring(
                    "demo",
                    Call(
                        id: Self.call, caller: "alice", callee: "bob", hasVideo: true, lifetimeMilliseconds: 10_000,
                        data: JSONObject([("room", 7)])))
            ])
        let plain = try await api.request(.post, "calls", #"{"id":"\#(Self.call)","from":"alice","to":"bob"}"#)
        #expect(plain.json["expires_at"] == 30_005)
    }

    @Test(arguments: [
        (#"{"id":"7","from":"alice","to":"bob"}"#, "id"), (#"{"id":"ID","to":"bob"}"#, "from"),
        (#"{"id":"ID","from":"a b","to":"bob"}"#, "from"), (#"{"id":"ID","from":"bob","to":"bob"}"#, "to"),
        (#"{"id":"ID","from":"alice","to":"bob","lifetime_ms":30001}"#, "lifetime_ms"),
        (#"{"id":"ID","from":"alice","to":"bob","sound":"x"}"#, "sound"),
    ])
    func `refuses a call that breaks a rule, and rings for nobody`(body: String, field: String) async throws {
        let api = try await APIDouble(answering: .ringing(at: 5))
        let answer = try await api.request(
            .post, "calls", body.replacingOccurrences(of: "ID", with: Self.call.rawValue))
        #expect(answer.status == 400)
        #expect(answer.json["field"] == .string(field))
        #expect(api.commands == [])
    }

    @Test func `tells of a call what APNs said to each device`() async throws {
        let states: [(DeviceID, CallPushState)] = [
            ("a", .noToken), ("b", .pushing), ("c", .accepted(apnsID: "A")),
            ("d", .refused(reason: "Unregistered", status: 410)), ("e", .notSent(reason: "provider_down")),
            ("f", .unanswered),
        ]
        let trace = CallTrace(
            call: Call(id: Self.call, caller: "alice", callee: "bob"), sentAt: 5,
            devices: states.map { CallTrace.Device(id: $0.0, state: $0.1) })
        let api = try await APIDouble(answering: .call(trace))
        let answer = try await api.request(.get, "calls/\(Self.call)")
        #expect(api.commands == [.call("demo", Self.call)])
        #expect(
            answer.json == [
                "id": .string(Self.call.rawValue), "from": "alice", "to": "bob", "video": false, "sent_at": 5,
                "expires_at": 30_005,
                "devices": [
                    ["device": "a", "state": "no_token"], ["device": "b", "state": "pushing"],
                    ["device": "c", "state": "accepted", "apns_id": "A"],
                    ["device": "d", "state": "refused", "reason": "Unregistered", "status": 410],
                    ["device": "e", "state": "not_sent", "reason": "provider_down"],
                    ["device": "f", "state": "unanswered"],
                ],
            ])
        let unknown = try await APIDouble(answering: .call(nil)).request(.get, "calls/\(Self.call)")
        #expect(unknown.status == 404)
        #expect(unknown.json["code"] == "unknown_call")
    }
}
