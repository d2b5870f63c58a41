import APNsModel
import APNsSimulator
import APNsTestSupport
import Crypto
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing
import TidingsModel

@testable import APNsClient

private let testTimeLimit = TimeLimitTrait.Duration.minutes(5)

@Suite(.timeLimit(testTimeLimit)) struct `A push` {
    @Test(arguments: ["127.0.0.1", "localhost"])
    func `travels over TLS and HTTP/2 to the phone, and its log says so`(host: String) async throws {
        try await Stage.run { stage in
            let client = try stage.client(stage.configuration(host: host))
            let outcome = await client.outcome(
                of:
                    stage.request {
                        $0.apnsID = sampleID
                        $0.expiration = 4_000_000_000
                    })
            guard case .accepted(sampleID, let uniqueID?) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            let push = try #require(try await stage.phone.next())
            #expect(push["type"] == "push")
            #expect(push["delivery"] == 1)
            #expect(push["topic"] == "com.example.chat")
            #expect(push["token"]?.stringValue == stage.token.rawValue)
            #expect(push["apns_id"]?.stringValue == sampleID)
            #expect(push["unique_id"]?.stringValue == uniqueID)
            #expect(push["collapse_id"] == "m1")
            #expect(push["push_type"] == "alert")
            #expect(push["priority"] == 10)
            #expect(push["expiration"] == 4_000_000_000)
            #expect(push["payload"]?["rc"]?["mId"] == "m1")
            #expect(try await stage.log(of: sampleID) == ["accepted", "sent"])
            try await stage.phone.write(#"{"type":"ack","delivery":1}"# + "\n")
            try await stage.awaitLog(of: sampleID, "delivered")
            await client.shutdown()
        }
    }

    @Test func `for a phone that is away waits there`() async throws {
        try await Stage.run { stage in
            let client = try stage.client()
            await stage.phone.close()
            while try await LineSocket.http("GET", "/devices", port: stage.addresses.controlPort).1.arrayValue?
                .first?["connected"] == true
            { try await Task.sleep(for: .milliseconds(5)) }
            _ = await client.outcome(of: stage.request())
            _ = await client.outcome(of: stage.request { $0.apnsID = sampleID })
            let back = try await LineSocket.connect(port: stage.addresses.courierPort)
            try await back.write(#"{"type":"hello","phone":"alice"}"# + "\n")
            _ = try await back.next()
            #expect(try await back.next()?["apns_id"]?.stringValue == sampleID)
            #expect(try await stage.log().filter { $0 == "overwritten" }.count == 1)
            await client.shutdown()
        }
    }

    /// Three times the bytes that the connection's window holds at once.
    @Test func `of two hundred at once is accepted like each other`() async throws {
        try await Stage.run { stage in
            let client = try stage.patientClient()
            let text = String(repeating: "x", count: 1_000)
            let request = stage.request { $0.payload = Array(#"{"aps":{"alert":{"body":"\#(text)"}}}"#.utf8) }
            let outcomes = await Self.send(Array(repeating: request, count: 200), with: client)
            let ids = outcomes.compactMap { outcome in
                if case .accepted(let id, _) = outcome { return id }
                return nil
            }
            #expect(Set(ids).count == 200)
            #expect(try await stage.log().filter { $0 == "accepted" }.count == 200)
            await client.shutdown()
        }
    }

    /// More bytes of answers, 51 each, than the window the client gives the server.
    @Test func `of many to a dead token is refused like each other`() async throws {
        try await Stage.run { stage in
            let client = try stage.patientClient()
            let path = "/devices/\(stage.token.rawValue)/retire"
            _ = try await LineSocket.http("POST", path, port: stage.addresses.controlPort)
            let outcomes = await Self.send(Array(repeating: stage.request(), count: 1_400), with: client)
            let dead = outcomes.count { outcome in
                if let refusal = outcome.refusal {
                    return refusal.reason == .unregistered && refusal.invalidSince != nil
                }
                return false
            }
            #expect(dead == 1_400)
            await client.shutdown()
        }
    }

    private static func send(_ requests: [APNsRequest], with client: APNsClient) async -> [APNsOutcome] {
        await withTaskGroup(of: APNsOutcome.self) { group in
            for request in requests { group.addTask { await client.outcome(of: request) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `sent with a completion reports once, on the client's loop`() async throws {
        try await Stage.run { stage in
            let client = try stage.client()
            let calls = NIOLockedValueBox(0)
            let outcome: APNsOutcome = await withCheckedContinuation { continuation in
                client.submit(stage.request()) { outcome in
                    client.eventLoop.preconditionInEventLoop()
                    calls.withLockedValue { $0 += 1 }
                    continuation.resume(returning: outcome)
                }
            }
            guard case .accepted = outcome else {
                Issue.record("\(outcome)")
                return
            }
            await client.shutdown()
            #expect(calls.withLockedValue { $0 } == 1)
        }
    }
}

@Suite(.timeLimit(testTimeLimit)) struct `A refusal over the wire` {
    @Test func `of an unknown token is BadDeviceToken`() async throws {
        try await Stage.run { stage in
            let client = try stage.client()
            let outcome = await client.outcome(of: stage.request { $0.token = "00ff" })
            #expect(outcome.refusal?.reason == .badDeviceToken)
            #expect(outcome.refusal?.status == 400)
            await client.shutdown()
        }
    }

    @Test func `of a retired token is 410 with the time it ended`() async throws {
        try await Stage.run { stage in
            let client = try stage.client()
            let before = Int64(Date().timeIntervalSince1970 * 1_000)
            let path = "/devices/\(stage.token.rawValue)/retire"
            _ = try await LineSocket.http("POST", path, port: stage.addresses.controlPort)
            let after = Int64(Date().timeIntervalSince1970 * 1_000)
            let refusal = try #require(await client.outcome(of: stage.request()).refusal)
            #expect(refusal.reason == .unregistered)
            #expect(refusal.status == 410)
            #expect((before...after).contains(try #require(refusal.invalidSince).milliseconds))
            await client.shutdown()
        }
    }

    /// Past the client's own check: a body just too long, and one that takes nearly the whole window.
    @Test(arguments: [4_097, 60_000]) func `of a long payload is PayloadTooLarge`(count: Int) async throws {
        try await Stage.run { stage in
            let client = try stage.client()
            let long = stage.request { $0.payload = Array(repeating: 0x20, count: count) }
            guard case .notSent = await client.outcome(of: long) else {
                Issue.record("the client let it pass")
                return
            }
            let outcome: APNsOutcome = await withCheckedContinuation { continuation in
                let push = PendingPush(
                    long, waits: false, .completion { end, _ in continuation.resume(returning: end) })
                client.engine.submit(push)
            }
            #expect(outcome.refusal?.reason == .payloadTooLarge)
            #expect(outcome.refusal?.status == 413)
            // The connection is still good.
            guard case .accepted = await client.outcome(of: stage.request()) else {
                Issue.record("the next push failed")
                return
            }
            await client.shutdown()
        }
    }

    @Test func `of a foreign key is InvalidProviderToken, and stops the sender`() async throws {
        try await Stage.run { stage in
            let foreign = P256.Signing.PrivateKey().pemRepresentation
            let client = try stage.client(try stage.configuration(privateKey: foreign))
            let reports = NIOLockedValueBox<[LaneState]>([])
            client.reportLanes { _, state in reports.withLockedValue { $0.append(state) } }
            let outcome = await client.outcome(of: stage.request())
            #expect(outcome.refusal?.reason == .invalidProviderToken)
            #expect(outcome.refusal?.status == 403)
            #expect(await client.outcome(of: stage.request()) == .stopped("InvalidProviderToken"))
            let outage = LaneOutage(.credential, reason: "InvalidProviderToken")
            #expect(reports.withLockedValue { $0 } == [.paused(outage)])
            await client.shutdown()
        }
    }

    @Test func `of a wrong team is InvalidProviderToken`() async throws {
        try await Stage.run { stage in
            let client = try stage.client(try stage.configuration(teamID: "OTHERTEAM1"))
            let outcome = await client.outcome(of: stage.request())
            #expect(outcome.refusal?.reason == .invalidProviderToken)
            #expect(outcome.refusal?.status == 403)
            await client.shutdown()
        }
    }

    @Test func `of a clock two hours late is ExpiredProviderToken`() async throws {
        try await Stage.run { stage in
            let client = try APNsClient(
                configuration: try stage.configuration(), logger: Stage.logger,
                .init(
                    eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                    now: {
                        var now = APNsClientEngine.clocks()
                        now.wall -= 7_200_000
                        return now
                    }))
            let outcome = await client.outcome(of: stage.request())
            #expect(outcome.refusal?.reason == .expiredProviderToken)
            #expect(outcome.refusal?.status == 403)
            await client.shutdown()
        }
    }

    @Test func `that asks for a later try is followed by one`() async throws {
        try await Stage.run { stage in
            let client = try stage.client()
            try await stage.setFaults(#"{"rules":[{"fault":"respond","reason":"Shutdown","count":1}]}"#)
            guard case .accepted = await client.outcome(of: stage.request { $0.apnsID = sampleID }) else {
                Issue.record("not accepted")
                return
            }
            #expect(try await stage.log(of: sampleID).prefix(2) == ["refused", "accepted"])
            await client.shutdown()
        }
    }
}

@Suite(.timeLimit(testTimeLimit)) struct `A connection's trouble` {
    @Test func `with an authority that is not trusted ends the push at once and says why`() async throws {
        try await Stage.run { stage in
            try await Stage.run { other in
                var configuration = try stage.configuration()
                configuration.trustRoots = .file(path: other.addresses.authorityPath)
                let client = try stage.client(configuration)
                guard case .stopped(let why) = await client.outcome(of: stage.request()) else {
                    Issue.record("it was sent")
                    return
                }
                let place = "127.0.0.1:\(stage.addresses.port)"
                #expect(why.contains("the certificate of \(place) is not trusted; check the trust roots"))
                await client.shutdown()
            }
        }
    }

    @Test func `with a server that dies leaves the outcome of what was in flight unknown`() async throws {
        try await Stage.run { stage in
            let client = try stage.client()
            try await stage.setFaults(#"{"rules":[{"fault":"delay","ms":60000}]}"#)
            async let outcome = client.outcome(of: stage.request { $0.apnsID = sampleID })
            try await stage.awaitLog(of: sampleID, "accepted")
            await stage.simulator.stop()
            guard case .unknownOutcome(let why) = await outcome else {
                Issue.record("\(await outcome)")
                return
            }
            #expect(why.hasPrefix("connection lost"))
            await client.shutdown()
        }
    }

    @Test func `that swallows an answer leaves the outcome unknown though the phone has the push`() async throws {
        try await Stage.run { stage in
            let client = try stage.client()
            try await stage.setFaults(#"{"rules":[{"fault":"lose_answer","count":1}]}"#)
            guard case .unknownOutcome = await client.outcome(of: stage.request { $0.apnsID = sampleID }) else {
                Issue.record("there was an answer")
                return
            }
            #expect(try await stage.phone.next()?["apns_id"]?.stringValue == sampleID)
            await client.shutdown()
        }
    }

    @Test func `that passes before the deadline costs time only`() async throws {
        try await Stage.run { stage in
            let client = try stage.client()
            try await stage.setFaults(#"{"rules":[{"fault":"outage"}]}"#)
            async let outcome = client.outcome(of: stage.request { $0.apnsID = sampleID })
            try await Task.sleep(for: .milliseconds(50))
            try await stage.setFaults("{}")
            guard case .accepted = await outcome else {
                // Cut with the request on its way: that is the honest answer too.
                guard case .unknownOutcome = await outcome else {
                    Issue.record("\(await outcome)")
                    return
                }
                return
            }
            await client.shutdown()
        }
    }

    @Test func `with nobody listening ends the push at its deadline as not sent`() async throws {
        try await Stage.run { stage in
            var configuration = try stage.configuration()
            configuration.requestDeadline = 200
            let client = try stage.client(configuration)
            await stage.simulator.stop()
            guard case .notSent(let why) = await client.outcome(of: stage.request()) else {
                Issue.record("it was sent")
                return
            }
            #expect(why.hasPrefix("the deadline passed"))
            await client.shutdown()
        }
    }
}

@Suite(.timeLimit(testTimeLimit)) struct `A client` {
    @Test func `that is shut down says so`() async throws {
        try await Stage.run { stage in
            let client = try stage.client()
            _ = await client.outcome(of: stage.request())
            await client.shutdown()
            await client.shutdown()
            #expect(await client.outcome(of: stage.request()) == .notSent("the client is shut down"))
        }
    }

    @Test func `whose caller is cancelled ends the push`() async throws {
        try await Stage.run { stage in
            let client = try stage.client()
            try await stage.setFaults(#"{"rules":[{"fault":"delay","ms":60000}]}"#)
            let task = Task { await client.outcome(of: stage.request { $0.apnsID = sampleID }) }
            try await stage.awaitLog(of: sampleID, "accepted")
            task.cancel()
            #expect(await task.value == .unknownOutcome("cancelled"))
            let early = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await client.outcome(of: stage.request())
            }
            #expect(await early.value == .notSent("cancelled"))
            await client.shutdown()
        }
    }

    @Test func `refuses a request for the other environment, or that breaks a rule`() async throws {
        try await Stage.run { stage in
            let client = try stage.client()
            let foreign = stage.request { $0.environment = .production }
            #expect(await client.outcome(of: foreign) == .notSent("environment must be sandbox for this client"))
            guard case .notSent(let why) = await client.outcome(of: stage.request { $0.collapseID = "" }) else {
                Issue.record("it was sent")
                return
            }
            #expect(why.hasPrefix("collapse_id "))
            await client.shutdown()
        }
    }

    @Test func `names the setting it cannot use`() async throws {
        try await Stage.run { stage in
            let good = try stage.configuration()
            func field(_ change: (inout APNsClient.Configuration) -> Void) -> String? {
                var configuration = good
                change(&configuration)
                do throws(InvalidField) {
                    _ = try APNsClient(configuration: configuration, logger: Stage.logger)
                    return nil
                } catch {
                    return error.field
                }
            }
            #expect(field { $0.port = 0 } == "port")
            #expect(field { $0.requestDeadline = 0 } == "request_deadline")
            #expect(field { $0.trustRoots = .file(path: "/nowhere/ca.pem") } == "trust_roots")
            #expect(field { $0.trustRoots = .file(path: stage.addresses.credentialPath) } == "trust_roots")
            let error = #expect(throws: InvalidField.self) {
                _ = try APNsClient.TokenCredential(privateKeyPEM: "secret", keyID: "K", teamID: "T")
            }
            #expect(error?.field == "private_key")
            #expect(error?.description.contains("secret") == false)
        }
    }
}
