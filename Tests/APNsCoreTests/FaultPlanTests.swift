import APNsModel
import Testing
import TidingsModel

@testable import APNsCore

private func plan(_ text: String) throws -> FaultPlan { try FaultPlan(json: JSONValue(parsing: text)) }

private func rule(_ members: String) throws -> FaultPlan { try plan(#"{"rules":[{\#(members)}]}"#) }

@Suite struct `A fault plan` {
    @Test func `is read from JSON, rule by rule`() throws {
        #expect(try plan("{}") == FaultPlan())
        #expect(
            try plan(
                """
                {"seed":7,"rules":[
                {"fault":"respond","status":503,"retry_after":9,"per_mille":500,"after":2,"count":3,
                "topic":"t","token":"AB"},
                {"fault":"respond","reason":"TooManyRequests"},{"fault":"delay","ms":5},{"fault":"lose_answer"},
                {"fault":"black_hole"},{"fault":"reset_stream","code":8},{"fault":"refuse_stream"},
                {"fault":"goaway","reason":"Shutdown","last_stream":"previous"},{"fault":"goaway","text":"bye"},
                {"fault":"goaway"},{"fault":"cut"},
                {"fault":"tls_alert","alert":"unknown_ca"},{"fault":"refuse_connect"},
                {"fault":"stream_limit","limit":1,"for":4},
                {"fault":"clock_skew","seconds":-60},{"fault":"outage","count":2}]}
                """)
                == FaultPlan(
                    seed: 7,
                    rules: [
                        FaultRule(
                            .respond(status: 503, .serviceUnavailable, retryAfter: 9), perMille: 500, after: 2,
                            count: 3, topic: "t", token: "ab"),
                        FaultRule(.respond(status: 429, .tooManyRequests, retryAfter: nil)),
                        FaultRule(.delay(milliseconds: 5)), FaultRule(.loseAnswer), FaultRule(.blackHole),
                        FaultRule(.resetStream(code: 8)), FaultRule(.refuseStream),
                        FaultRule(.goAway(debug: .reason(.shutdown), lastStream: .previous)),
                        FaultRule(.goAway(debug: .text("bye"), lastStream: .current)),
                        FaultRule(.goAway(debug: .empty, lastStream: .current)), FaultRule(.cut),
                        FaultRule(.tlsAlert(.unknownCA)), FaultRule(.refuseConnect),
                        FaultRule(.streamLimit(1, requests: 4)), FaultRule(.clockSkew(seconds: -60)),
                        FaultRule(.outage, count: 2),
                    ]))
    }

    @Test(arguments: [
        ("[]", "body"), (#"{"rule":[]}"#, "rule"), (#"{"rules":{}}"#, "rules"), (#"{"seed":-1}"#, "seed"),
        (#"{"rules":[1]}"#, "rules[0]"), (#"{"rules":[{"fault":"cut"},{"fault":"x"}]}"#, "rules[1].fault"),
        (#"{"rules":[{}]}"#, "rules[0].fault"), (#"{"rules":[{"fault":"cut","ms":1}]}"#, "rules[0].ms"),
        (#"{"rules":[{"fault":"delay"}]}"#, "rules[0].ms"),
        (#"{"rules":[{"fault":"cut","per_mille":0}]}"#, "rules[0].per_mille"),
        (#"{"rules":[{"fault":"cut","count":0}]}"#, "rules[0].count"),
        (#"{"rules":[{"fault":"cut","after":-1}]}"#, "rules[0].after"),
        (#"{"rules":[{"fault":"cut","topic":5}]}"#, "rules[0].topic"),
        (#"{"rules":[{"fault":"respond"}]}"#, "rules[0].status"),
        (#"{"rules":[{"fault":"respond","status":200}]}"#, "rules[0].status"),
        (#"{"rules":[{"fault":"respond","reason":"New"}]}"#, "rules[0].status"),
        (#"{"rules":[{"fault":"respond","status":418}]}"#, "rules[0].reason"),
        (#"{"rules":[{"fault":"respond","status":502,"retry_after":1}]}"#, "rules[0].reason"),
        (#"{"rules":[{"fault":"goaway","reason":"A","text":"b"}]}"#, "rules[0].text"),
        (#"{"rules":[{"fault":"goaway","last_stream":"next"}]}"#, "rules[0].last_stream"),
        (#"{"rules":[{"fault":"tls_alert","alert":"loud"}]}"#, "rules[0].alert"),
        (#"{"rules":[{"fault":"outage","topic":"t"}]}"#, "rules[0].topic"),
        (#"{"rules":[{"fault":"refuse_connect","token":"ab"}]}"#, "rules[0].token"),
    ])
    func `that is malformed is refused with the rule's index and the member's name`(text: String, field: String) throws
    {
        let error = #expect(throws: InvalidField.self) { try plan(text) }
        #expect(error?.field == field)
    }

    @Test func `spares the first, hits as many as it says, and only good ones, and counts both`() throws {
        var apple = Apple.connected()
        _ = apple.handle(.faultsChanged(try rule(#""fault":"respond","status":503,"after":1,"count":2"#)))
        #expect(apple.answer(Apple.request(token: "00"))?.reason == .badDeviceToken)
        #expect((0..<5).map { _ in apple.answer()?.status } == [200, 503, 503, 200, 200])
        #expect(apple.service.faultCounts == [FaultCount(matched: 3, taken: 2)])
    }

    @Test func `can be for one topic and one token`() throws {
        var apple = Apple.connected()
        _ = apple.handle(.registrationRequested(Apple.courier, id: 2, topic: "com.b", .sandbox, drawn: "cd"))
        func statuses(_ members: String) throws -> [Int?] {
            _ = apple.handle(.faultsChanged(try rule(#""fault":"respond","status":500,\#(members)"#)))
            return [apple.answer()?.status, apple.answer(Apple.request(token: "cd", topic: "com.b"))?.status]
        }
        #expect(try statuses(#""topic":"com.b""#) == [200, 500])
        #expect(try statuses(#""token":"\#(Apple.token.rawValue)""#) == [500, 200])
    }

    @Test func `with the same seed breaks the same requests, with another seed others`() {
        func injected(seed: UInt64, more: [FaultRule] = []) -> [Int?] {
            var apple = Apple.connected()
            let half = FaultRule(.respond(status: 500, .internalServerError, retryAfter: nil), perMille: 500)
            _ = apple.handle(.faultsChanged(FaultPlan(seed: seed, rules: [half] + more)))
            return (0..<64).map { _ in apple.answer()?.status }
        }
        #expect(injected(seed: 1) == injected(seed: 1))
        #expect(injected(seed: 1) != injected(seed: 2))
        // What another rule does moves nothing.
        #expect(injected(seed: 1) == injected(seed: 1, more: [FaultRule(.delay(milliseconds: 1), perMille: 300)]))
        #expect(Set(injected(seed: 1)) == [200, 500])
    }

    private func effects(_ members: String, requests: Int = 1) throws -> [APNsService.Effect] {
        var apple = Apple.connected()
        _ = apple.send()
        _ = apple.handle(.deliveryAcknowledged(Apple.courier, delivery: 1))
        _ = apple.handle(.faultsChanged(try rule(members)))
        return (0..<requests).flatMap { _ in apple.send().unlogged.filter { if case .push = $0 { false } else { true } }
        }
    }

    /// The second request of the connection, which would have been accepted.
    @Test func `ends a request or its connection as it says`() throws {
        let request = APNsService.RequestID(connection: Apple.provider, stream: 2)
        let accepted = APNsService.Effect.respond(
            request, APNsResponse(status: 200, apnsID: "id-2", uniqueID: "unique-2"), body: [], delayMilliseconds: 0)
        func goAway(_ last: Int64, _ code: UInt32, _ debug: String) -> APNsService.Effect {
            .goAway(Apple.provider, lastStream: last, code: code, debug: Array(debug.utf8))
        }
        #expect(
            try self.effects(#""fault":"delay","ms":5"#) == [
                .respond(
                    request, APNsResponse(status: 200, apnsID: "id-2", uniqueID: "unique-2"), body: [],
                    delayMilliseconds: 5)
            ])
        #expect(
            try self.effects(#""fault":"respond","status":503,"retry_after":3"#) == [
                .respond(
                    request,
                    APNsResponse(
                        status: 503, apnsID: "id-2", uniqueID: "unique-2", reason: .serviceUnavailable, retryAfter: 3),
                    body: Array(#"{"reason":"ServiceUnavailable"}"#.utf8), delayMilliseconds: 0)
            ])
        #expect(try self.effects(#""fault":"lose_answer""#, requests: 2) == [.cutConnection(Apple.provider)])
        #expect(try self.effects(#""fault":"cut""#, requests: 2) == [.cutConnection(Apple.provider)])
        #expect(try self.effects(#""fault":"black_hole""#, requests: 2) == [.silenceConnection(Apple.provider)])
        #expect(try self.effects(#""fault":"reset_stream","code":2"#) == [.resetStream(request, code: 2)])
        #expect(try self.effects(#""fault":"refuse_stream""#) == [.resetStream(request, code: 7)])
        #expect(
            try self.effects(#""fault":"goaway","reason":"Shutdown""#, requests: 2) == [
                goAway(2, 0, #"{"reason":"Shutdown"}"#), accepted,
            ])
        #expect(
            try self.effects(#""fault":"goaway","text":"bye","last_stream":"previous""#, requests: 2) == [
                goAway(1, 7, "bye")
            ])
        #expect(try self.effects(#""fault":"goaway""#) == [goAway(2, 0, ""), accepted])
    }

    @Test func `can lose the answer of a push that was delivered`() {
        var apple = Apple.connected()
        _ = apple.handle(.faultsChanged(FaultPlan(.loseAnswer)))
        #expect(apple.send().logged == ["id-1 accepted", "id-1 answer_lost", "id-1 sent"])
    }

    @Test func `can change the stream limit for some requests, and gives it back with the plan`() throws {
        func limits(_ effects: [APNsService.Effect]) -> [Int] {
            effects.compactMap { if case .announceStreamLimit(_, let limit) = $0 { limit } else { nil } }
        }
        #expect(
            limits(try self.effects(#""fault":"stream_limit","limit":2,"for":2,"count":1"#, requests: 4)) == [2, 1_000])
        var apple = Apple.connected()
        _ = apple.handle(.faultsChanged(FaultPlan(.streamLimit(0, requests: nil))))
        #expect(limits(apple.send()) == [0])
        #expect(apple.handle(.faultsChanged(FaultPlan())) == [.announceStreamLimit(Apple.provider, 1_000)])
    }

    @Test func `can judge provider tokens by a wrong clock`() {
        var apple = Apple.connected()
        _ = apple.handle(.faultsChanged(FaultPlan(.clockSkew(seconds: 3_601))))
        #expect(apple.answer()?.reason == .expiredProviderToken)
        #expect(apple.answer(token: apple.token(age: -3_601))?.status == 200)
    }

    @Test func `can keep providers out before TLS, in TLS, and altogether`() {
        var apple = Apple()
        let second = APNsService.ConnectionID(2)
        apple.open(2)
        #expect(apple.handle(.connectionArrived(second, .push(.sandbox))) == [])
        _ = apple.handle(
            .faultsChanged(FaultPlan(rules: [FaultRule(.refuseConnect, count: 1), FaultRule(.tlsAlert(.unknownCA))])))
        #expect(apple.handle(.connectionArrived(second, .push(.sandbox))) == [.refuseConnection(second)])
        #expect(apple.handle(.connectionArrived(second, .push(.sandbox))) == [.alertTLS(second, .unknownCA)])
        let outage = apple.handle(.faultsChanged(FaultPlan(rules: [FaultRule(.outage, count: 2)])))
        #expect(outage == [.cutConnection(Apple.provider), .cutConnection(second)])
        // Its handshake was under way when the outage began.
        #expect(apple.open(2) == [.cutConnection(second)])
        #expect(apple.handle(.connectionArrived(second, .push(.sandbox))) == [.refuseConnection(second)])
        #expect(apple.handle(.connectionArrived(second, .push(.sandbox))) == [])
        #expect(apple.open(2) == [])
    }
}
