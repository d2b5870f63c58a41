import HTTP2Connection
import Testing
import TidingsModel

@testable import APNsSimulator

@Suite(.timeLimit(testTimeLimit)) struct `A fault on the wire` {
    /// Runs a body with a provider whose client has had its first push accepted.
    private func afterFirst(
        _ body: (Provider, RawClient, String) async throws -> Void
    ) async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            let good = try authorization(addresses)
            let client = try await provider.opened(good)
            try await body(provider, client, good)
            await client.close()
        }
    }

    @Test func `is an answer of the operator's choice, so often as asked`() async throws {
        try await self.afterFirst { provider, client, good in
            try await provider.setFaults(#"{"fault":"respond","status":503,"reason":"Shutdown","count":1}"#)
            #expect(
                try await provider.send(client, stream: 3, good)
                    == .answer(stream: 3, status: 503, reason: "Shutdown"))
        }
        try await self.afterFirst { provider, client, good in
            try await provider.setFaults(#"{"fault":"respond","status":500,"after":1,"count":1}"#)
            var statuses: [RawClient.Heard?] = []
            for stream in [3, 5, 7] { statuses.append(try await provider.send(client, stream: stream, good)) }
            #expect(
                statuses == [
                    .answer(stream: 3, status: 200, reason: nil),
                    .answer(stream: 5, status: 500, reason: "InternalServerError"),
                    .answer(stream: 7, status: 200, reason: nil),
                ])
            let faults = try await provider.control("GET", "/faults").json
            #expect(faults["counts"] == [["matched": 2, "taken": 1]])
            #expect(faults["plan"]?["rules"]?.arrayValue?.first?["status"] == 500)
        }
    }

    @Test func `is a later answer, which a faster one overtakes`() async throws {
        try await self.afterFirst { provider, client, good in
            try await provider.setFaults(#"{"fault":"delay","ms":2000,"count":1}"#)
            try await client.send(stream: 3, provider.push(good), body: #"{"aps":{}}"#)
            try await client.send(stream: 5, provider.push(good), body: #"{"aps":{}}"#)
            #expect(await client.answer() == .answer(stream: 5, status: 200, reason: nil))
            #expect(await client.answer() == .answer(stream: 3, status: 200, reason: nil))
        }
    }

    @Test func `is a lost answer of a push that was accepted`() async throws {
        try await self.afterFirst { provider, client, good in
            try await provider.setFaults(#"{"fault":"lose_answer"}"#)
            #expect(try await provider.send(client, stream: 3, good) == .closed)
            #expect(try await provider.log("?event=accepted").count == 2)
            #expect(try await provider.log("?event=answer_lost") == ["answer_lost"])
        }
    }

    @Test func `is a cut before anything was done`() async throws {
        try await self.afterFirst { provider, client, good in
            try await provider.setFaults(#"{"fault":"cut"}"#)
            #expect(try await provider.send(client, stream: 3, good) == .closed)
            #expect(try await provider.log("?event=accepted").count == 1)
        }
    }

    @Test func `is a black hole, from which no PING comes back`() async throws {
        try await self.afterFirst { provider, client, good in
            try await client.ping()
            #expect(await client.answer() == .pong)
            try await provider.setFaults(#"{"fault":"black_hole","count":1}"#)
            try await client.send(stream: 3, provider.push(good), body: #"{"aps":{}}"#)
            while try await !provider.log().contains("faulted") {}
            try await client.ping()
            // Others are served meanwhile, and nothing has come by then.
            await (try await provider.opened(good)).close()
            await client.close()
            #expect(await client.answer() == .closed)
        }
    }

    @Test func `is a stream that is reset or refused`() async throws {
        try await self.afterFirst { provider, client, good in
            try await provider.setFaults(
                #"{"fault":"reset_stream","code":2,"count":1},{"fault":"refuse_stream","count":1}"#)
            #expect(try await provider.send(client, stream: 3, good) == .reset(stream: 3, .internalError))
            #expect(try await provider.send(client, stream: 5, good) == .reset(stream: 5, .refusedStream))
            #expect(
                try await provider.send(client, stream: 7, good) == .answer(stream: 7, status: 200, reason: nil))
        }
    }

    @Test func `is a GOAWAY after the request, which is answered yet`() async throws {
        try await self.afterFirst { provider, client, good in
            try await provider.setFaults(#"{"fault":"goaway","reason":"Shutdown"}"#)
            #expect(
                try await provider.send(client, stream: 3, good)
                    == .goAway(last: 3, .noError, debug: #"{"reason":"Shutdown"}"#))
            #expect(await client.answer() == .answer(stream: 3, status: 200, reason: nil))
            #expect(await client.answer() == .closed)
        }
    }

    @Test(arguments: [
        ("", HTTP2ErrorCode.noError, ""),
        (
            #","text":"Maximum active streams violated for this endpoint.""#,
            .refusedStream, "Maximum active streams violated for this endpoint."
        ),
    ])
    func `is a GOAWAY before the request, with any words`(
        members: String, code: HTTP2ErrorCode, debug: String
    ) async throws {
        try await self.afterFirst { provider, client, good in
            try await provider.setFaults(#"{"fault":"goaway","last_stream":"previous"\#(members)}"#)
            #expect(try await provider.send(client, stream: 3, good) == .goAway(last: 1, code, debug: debug))
            #expect(await client.answer() == .closed)
            #expect(try await provider.log("?event=accepted").count == 1)
        }
    }

    @Test func `is a stream limit that falls and rises again`() async throws {
        try await self.afterFirst { provider, client, good in
            try await provider.setFaults(#"{"fault":"stream_limit","limit":2,"for":1,"count":1}"#)
            try await client.send(stream: 3, provider.push(good), body: #"{"aps":{}}"#)
            #expect(await client.next() == .settings(streams: 2))
            #expect(await client.next() == .answer(stream: 3, status: 200, reason: nil))
            try await client.send(stream: 5, provider.push(good), body: #"{"aps":{}}"#)
            #expect(await client.next() == .settings(streams: 1_000))
            #expect(await client.next() == .answer(stream: 5, status: 200, reason: nil))
        }
    }

    @Test func `is a clock that is wrong`() async throws {
        try await self.afterFirst { provider, client, good in
            try await provider.setFaults(#"{"fault":"clock_skew","seconds":7200}"#)
            #expect(
                try await provider.send(client, stream: 3, good)
                    == .answer(stream: 3, status: 403, reason: "ExpiredProviderToken"))
        }
    }

    @Test func `is a connection that is refused, before TLS or within`() async throws {
        try await self.afterFirst { provider, client, _ in
            try await provider.setFaults(
                #"{"fault":"refuse_connect","count":1},{"fault":"tls_alert","alert":"internal_error","count":1}"#)
            let refused = try? await provider.connect()
            if let refused {
                while let heard = await refused.next(), heard != .closed { #expect(heard != .settings(streams: 1)) }
            }
            let alerted = try await provider.connect()
            guard case .failed(let text)? = await alerted.next() else {
                Issue.record("no alert")
                return
            }
            #expect(text.contains("INTERNAL_ERROR"))
            let good = try await provider.connect()
            #expect(await good.next() == .settings(streams: 1))
            await good.close()
        }
    }

    @Test func `is an outage, which cuts everybody until it is over`() async throws {
        try await self.afterFirst { provider, client, good in
            try await provider.setFaults(#"{"fault":"outage"}"#)
            #expect(await client.answer() == .closed)
            if let refused = try? await provider.connect() {
                while let heard = await refused.next(), heard != .closed { #expect(heard != .settings(streams: 1)) }
            }
            #expect(try await provider.control("GET", "/faults").json["outage"] == true)
            try await provider.setFaults("")
            await (try await provider.opened(good)).close()
        }
    }
}
