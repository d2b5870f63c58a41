import Requirements
import Testing
import TidingsModel

/// What arrives on a phone as a push: from our own server, from other senders, and from whoever holds the key.
@Suite struct `A payload of any bytes` {
    private static let seeds: [[UInt8]] =
        [
            #"{"aps":{"alert":{"title":"a","body":"b"},"badge":3,"mutable-content":1},"rc":{"cType":"PR","fId":"alice","#
                + #""id":"7","mId":"0000000000007","oName":"RC:TxtMsg","tId":"alice"},"tidings":{"mid":"0000000000007","#
                + #""seq":12,"bseq":11,"to":"r-1","recall":true}}"#,
            #"{"aps":{"content-available":1},"tidings":{"badge":3,"bseq":11,"to":"r-1"}}"#,
            #"{"rc":{"cType":"GRP","fId":"a\u00e9\ud83d\ude00","oName":"RC:ImgMsg","tId":"team","mId":null,"id":""}}"#,
        ].map { Array($0.replacing(#""tidings""#, with: "\"\(PushInfo.key)\"").utf8) } + Corpus.inputs(of: "json")

    /// Reads it every way the phone does; what is understood says the same when it is written and read again.
    private func visit(_ bytes: [UInt8], _ what: String) {
        guard let json = try? JSONValue(parsing: bytes) else { return }
        #expect((try? JSONValue(parsing: json.serialized)) == json, "\(what)")
        if let info = PushInfo(userInfo: json) {
            #expect(PushInfo(userInfo: .members([(PushInfo.key, info.dictionary)])) == info, "\(what)")
        }
        if let info = BadgeInfo(userInfo: json) {
            #expect(BadgeInfo(userInfo: .members([(PushInfo.key, info.dictionary)])) == info, "\(what)")
        }
        if let payload = try? NotificationPayload(userInfo: json) {
            #expect((try? NotificationPayload(userInfo: payload.userInfo)) == payload, "\(what)")
        }
    }

    @Test func `is understood or not, and nothing else`() {
        for seed in Self.seeds { self.visit(seed, String(decoding: seed.prefix(80), as: UTF8.self)) }
        Fuzz.run("push payloads on the phone", short: 6_000, long: 300_000) { number in
            var chance = Chance(seed: UInt64(number))
            var bytes = chance.pick(Self.seeds)
            for _ in 0...chance.below(4) { chance.mutate(&bytes) }
            self.visit(bytes, "seed \(number)")
        }
    }
}
