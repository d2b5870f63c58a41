import Requirements
import Testing
import TidingsModel

@testable import APNsModel

/// Answers as a broken server, a proxy or an attacker may send them.
private struct Answers {
    var seeded: Seeded

    private static let refusals = APNsReason.documented.map { #"{"reason":"\#($0.name)"}"# }
    private static let others: [String] = [
        #"{"reason":"Unregistered","timestamp":1700000000123}"#, #"{"reason":"ExpiredToken","timestamp":-1}"#,
        #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#, #"{"channels":["dGVzdA==","YQ=="]}"#,
        #"{"channels":[]}"#, "", "<html>502</html>", "null", "[[[[[[[[[[]]]]]]]]]]", #"{"reason":{"reason":1}}"#,
        #"{"reason":"\ud83d\ude00","timestamp":1e3}"#,
    ]
    private static let statuses = [200, 201, 204, 400, 403, 404, 405, 410, 413, 429, 500, 503]
    private static let names = [
        "apns-id", "apns-unique-id", "apns-request-id", "apns-channel-id", "retry-after", "content-type", ":status", "",
    ]
    private static let values = [
        "123e4567-e89b-12d3-a456-426614174000", "0", "7", "-1", "99999999999999999999", "+5", "", "soon", "dGVzdA==",
    ]

    mutating func status() -> Int {
        self.seeded.chance(80)
            ? self.seeded.pick(Self.statuses)
            : self.seeded.pick([0, -1, 99, 100, 199, 299, 300, 302, 401, 451, 599, 1_000, Int.min, Int.max])
    }

    mutating func headers() -> [(String, String)] {
        (0..<self.seeded.number(0...6)).map { _ in
            let name = self.seeded.chance(90) ? self.seeded.pick(Self.names) : self.seeded.text()
            return (name, self.seeded.chance(70) ? self.seeded.pick(Self.values) : self.seeded.text())
        }
    }

    mutating func body() -> [UInt8] {
        if self.seeded.chance(15) {
            return (0..<self.seeded.number(0...64)).map { _ in UInt8(self.seeded.number(0...255)) }
        }
        var bytes = Array(self.seeded.pick(self.seeded.chance(60) ? Self.refusals : Self.others).utf8)
        for _ in 0..<self.seeded.pick([0, 0, 1, 1, 2, 5]) where !bytes.isEmpty {
            let place = self.seeded.number(0...bytes.count - 1)
            switch self.seeded.number(0...4) {
            case 0: bytes[place] = UInt8(self.seeded.number(0...255))
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(UInt8(self.seeded.number(0...255)), at: place)
            case 3: bytes.removeSubrange(place...)
            default: bytes.insert(contentsOf: bytes[..<place], at: place)
            }
        }
        return bytes
    }
}

@Suite struct `An answer of any bytes` {
    @Test func `is read without fail`() {
        var answers = Answers(seeded: Seeded(1))
        var faults: [String] = []
        var (known, unknown, accepted, lists) = (0, 0, 0, 0)
        func check(_ holds: Bool, _ rule: String, _ status: Int, _ body: [UInt8]) {
            if !holds { faults.append("\(rule): \(status) \(String(decoding: body, as: UTF8.self))") }
        }
        Fuzz.run("response bodies", short: 10_000, long: 150_000) { number in
            let (status, headers, body) = (answers.status(), answers.headers(), answers.body())
            let response = APNsResponse(status: status, headers: headers, body: body)
            let isSuccess = status >= 200 && status < 300
            check((response.reason == nil) == isSuccess, "a reason is there unless it is a success", status, body)
            check(
                response.invalidSince == nil || status == 410, "a time comes with 410 alone", status, body)
            check(response.retryAfter ?? 0 >= 0, "no wait is negative", status, body)
            check(
                response.apnsID == headers.first { $0.0 == "apns-id" }?.1, "the first apns-id counts", status, body)
            switch response.outcome(sentID: "sent") {
            case .accepted(let id, _):
                accepted += 1
                check(isSuccess && id == response.apnsID ?? "sent", "what is accepted has its id", status, body)
            case .refused(let refusal):
                check(refusal == response.refusal && !isSuccess, "what is refused has its refusal", status, body)
                // 200 bytes, each perhaps a replacement character of three.
                check(refusal.reason.name.utf8.count <= 600, "no reason is endless", status, body)
                check(!refusal.reason.name.isEmpty, "no reason is empty", status, body)
                if case .unknown = refusal.reason { unknown += 1 } else { known += 1 }
            case .unknownOutcome, .notSent, .stopped: check(false, "an answer is an answer", status, body)
            }
            let operation: APNsChannelRequest.Operation =
                [.create(.noStorage), .read("dGVzdA=="), .delete("dGVzdA=="), .list][number % 4]
            let answer = APNsChannelAnswer(to: operation, status: status, headers: headers, body: body)
            if case .refused(let refusal) = answer {
                check(refusal == response.refusal, "both readers see the same refusal", status, body)
            } else {
                check(isSuccess, "what is no success is a refusal", status, body)
            }
            if case .list = answer { lists += 1 }
        }
        #expect(faults.prefix(5) == [])
        // The generator reaches what it is to reach.
        #expect(known > Fuzz.enough(long: 12_000, short: 800))
        #expect(unknown > Fuzz.enough(long: 12_000, short: 800))
        #expect(accepted > Fuzz.enough(long: 12_000, short: 800))
        #expect(lists > Fuzz.enough(long: 120, short: 0))
    }
}
