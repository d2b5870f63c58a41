import Testing
import TidingsModel

@testable import APNsModel

@Suite struct `A response` {
    @Test func `of 200 is accepted under the id we sent, with the sandbox's key to the log`() {
        let response = APNsResponse(
            status: 200, headers: [("apns-id", "a"), ("apns-unique-id", "u"), ("apns-id", "b")], body: [UInt8]())
        #expect(response == APNsResponse(status: 200, apnsID: "a", uniqueID: "u"))
        #expect(response.outcome(sentID: "x") == .accepted(apnsID: "a", uniqueID: "u"))
        #expect(APNsResponse(status: 200).outcome(sentID: "x") == .accepted(apnsID: "x", uniqueID: nil))
    }

    @Test func `of 410 carries the time the token ended`() {
        let body = Array(#"{"reason":"Unregistered","timestamp":1700000000123}"#.utf8)
        let response = APNsResponse(status: 410, headers: [("apns-id", "a")], body: body)
        #expect(
            response.outcome(sentID: nil)
                == .refused(
                    APNsRefusal(
                        .unregistered, status: 410, apnsID: "a",
                        invalidSince: .init(milliseconds: 1_700_000_000_123))))
    }

    @Test func `takes a timestamp from 410 alone`() {
        let body = Array(#"{"reason":"BadDeviceToken","timestamp":5}"#.utf8)
        #expect(APNsResponse(status: 400, headers: [], body: body).invalidSince == nil)
    }

    @Test func `without Apple's JSON keeps what came as an unknown reason`() {
        #expect(APNsResponse(status: 502, headers: [], body: Array("<html>".utf8)).reason == .unknown("<html>"))
        #expect(APNsResponse(status: 502, headers: [], body: [UInt8]()).reason == .unknown("HTTP 502"))
        #expect(
            APNsResponse(status: 400, headers: [], body: Array(#"{"reason":5}"#.utf8)).reason
                == .unknown(#"{"reason":5}"#))
    }

    @Test func `honours retry-after in whole seconds, and nothing else`() {
        #expect(APNsResponse(status: 429, headers: [("retry-after", "7")], body: [UInt8]()).retryAfter == 7)
        #expect(APNsResponse(status: 429, headers: [("retry-after", "-7")], body: [UInt8]()).retryAfter == nil)
        #expect(APNsResponse(status: 429, headers: [("retry-after", "+7")], body: [UInt8]()).retryAfter == nil)
        #expect(APNsResponse(status: 429, headers: [("retry-after", "")], body: [UInt8]()).retryAfter == nil)
        #expect(APNsResponse(status: 429, headers: [("retry-after", "soon")], body: [UInt8]()).retryAfter == nil)
        let long = String(repeating: "9", count: 30)
        #expect(APNsResponse(status: 429, headers: [("retry-after", long)], body: [UInt8]()).retryAfter == nil)
    }

    @Test func `to a broadcast carries the request's id, and a new channel's`() {
        let headers = [("apns-request-id", "r"), ("apns-unique-id", "u"), ("apns-channel-id", "dGVzdA==")]
        #expect(
            APNsResponse(status: 201, headers: headers, body: [UInt8]())
                == APNsResponse(status: 201, uniqueID: "u", requestID: "r", channelID: "dGVzdA=="))
        let refused = APNsResponse(
            status: 400, headers: headers, body: Array(#"{"reason":"BadChannelId"}"#.utf8))
        #expect(refused.refusal == APNsRefusal(.badChannelID, status: 400, uniqueID: "u", requestID: "r"))
    }

    @Test func `of any success is no refusal, of anything else is one`() {
        for status in [200, 201, 204, 299] { #expect(APNsResponse(status: status).refusal == nil) }
        for status in [0, 199, 300, 400, 500, -1] {
            #expect(APNsResponse(status: status).refusal?.reason == .unknown("HTTP \(status)"))
        }
    }

    @Test func `with an endless reason keeps its beginning`() {
        let long = String(repeating: "\u{e9}", count: 5_000)
        let json = Array(#"{"reason":"\#(long)"}"#.utf8)
        #expect(
            APNsResponse(status: 400, headers: [], body: json).reason
                == .unknown(String(repeating: "\u{e9}", count: 100)))
        let endless = Array(#"{"reason":"BadPath","more":"\#(String(repeating: "x", count: 70_000))"}"#.utf8)
        #expect(APNsResponse(status: 404, headers: [], body: endless).reason?.name.utf8.count == 200)
    }
}

@Suite struct `A refusal` {
    private func unregistered(_ since: Int64?, status: Int = 410) -> APNsRefusal {
        APNsRefusal(
            .unregistered, status: status, invalidSince: since.map { APNsInvalidSince(milliseconds: $0) })
    }

    @Test func `drops a token that ended after it was registered`() {
        #expect(self.unregistered(1_001).drops(registeredAt: 1_000))
        #expect(!self.unregistered(1_000).drops(registeredAt: 1_000))
        #expect(!self.unregistered(999).drops(registeredAt: 1_000))
    }

    @Test func `drops nothing without a time, and nothing but with 410`() {
        #expect(!self.unregistered(nil).drops(registeredAt: 0))
        #expect(!self.unregistered(1_001, status: 400).drops(registeredAt: 1_000))
    }

    @Test func `asks for the reaction of its reason, or of its status if nobody knows the reason`() {
        #expect(APNsRefusal(.shutdown, status: 503).reaction == .connection)
        #expect(APNsRefusal(.unknown("New"), status: 503).reaction == .backoff)
        #expect(APNsRefusal(.unknown("New"), status: 503).description == "503 New")
    }
}
