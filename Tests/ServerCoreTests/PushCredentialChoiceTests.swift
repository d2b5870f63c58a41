import APNsModel
import Requirements
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

@Suite struct `The credential of a push` {
    private static let chat = "com.example.chat"
    private static let calls = "com.example.chat.voip"

    /// A credential of an app in which all of them are active; `proven` and `refused` are what APNs said.
    private struct Sample {
        var id: String
        var kind = PushCredentialRecord.Kind.tokenKey
        var subject: String?
        var topics: [String] = []
        var environments = PushEnvironment.allCases
        var createdAt: Int64 = 1
        var expiresAt: Int64?
        var proven: [PushEnvironment] = []
        var refused: [PushEnvironment] = []
        var accepted: [String] = []
        var isActive = true
    }

    private static func certificate(
        _ id: String, subject: String? = Self.chat, topics: [String] = [Self.chat],
        environments: [PushEnvironment] = PushEnvironment.allCases, expiresAt: Int64 = 1_000
    ) -> Sample {
        Sample(
            id: id, kind: .certificate, subject: subject, topics: topics, environments: environments,
            expiresAt: expiresAt)
    }

    /// By the rules of the store, so that there is nothing here that it would not have.
    private func records(_ samples: [Sample]) throws -> [PushCredentialRecord] {
        let app = AppID("demo")
        var state = ControlState()
        let secret = TokenSecret(id: "s1", sealed: SealedBytes(keyID: "k", bytes: [1]), createdAt: 0)
        _ = try state.apply(.createApp(app, AppSettings(), secret), at: 0)
        for (number, sample) in samples.enumerated() {
            let record = PushCredentialRecord(
                id: sample.id, kind: sample.kind, sealed: SealedBytes(keyID: "k", bytes: [1]),
                fingerprint: Hexadecimal.text(UInt64(number), digits: 64), keyID: "ABC123DEFG", teamID: "DEF123GHIJ",
                subject: sample.subject, topics: sample.topics, environments: sample.environments,
                createdAt: sample.createdAt, expiresAt: sample.expiresAt)
            var changes: [PushCredentialChange] = [.add(record)]
            if sample.isActive { changes.append(.activate(id: sample.id, inPlaceOf: nil, unproven: true)) }
            changes += sample.proven.map { .noteProof(id: sample.id, .init($0, isGood: true, at: 5)) }
            changes += sample.refused.map { .noteProof(id: sample.id, .init($0, isGood: false, at: 5)) }
            changes += sample.accepted.map { .noteAccepted(id: sample.id, topic: $0, .sandbox) }
            for change in changes { _ = try state.apply(.changePushCredential(app, change), at: 5) }
        }
        return try #require(state[app: app]).pushCredentials
    }

    /// The id of the chosen one, which is the same whatever the order.
    private func chosen(
        _ samples: [Sample], for topic: String = Self.chat, _ type: APNsPushType = .alert,
        in environment: PushEnvironment = .sandbox, at wall: Int64 = 10
    ) throws -> String? {
        let records = try self.records(samples)
        let choice = PushCredentialChoice(environment: environment, topic: topic, type: type)
        let found = choice.choose(from: records, at: wall)?.id
        for turn in records.indices {
            let turned = Array(records[turn...] + records[..<turn])
            #expect(choice.choose(from: turned, at: wall)?.id == found)
            #expect(choice.choose(from: turned.reversed(), at: wall)?.id == found)
        }
        return found
    }

    @Test(.requirement("S2.3")) func `is none where none can send it`() throws {
        #expect(try self.chosen([]) == nil)
        #expect(try self.chosen([Sample(id: "a", isActive: false)]) == nil)
        #expect(try self.chosen([Sample(id: "a", environments: [.production])]) == nil)
        #expect(try self.chosen([Sample(id: "a", topics: ["com.example.other"])]) == nil)
        #expect(
            try self.chosen([Self.certificate("a", subject: "com.example.other", topics: ["com.example.other"])]) == nil
        )
    }

    @Test func `has not expired`() throws {
        let certificate = Self.certificate("a", expiresAt: 100)
        #expect(try self.chosen([certificate], at: 99) == "a")
        #expect(try self.chosen([certificate], at: 100) == nil)
        #expect(try self.chosen([certificate, Sample(id: "b")], at: 100) == "b")
    }

    @Test(arguments: PushEnvironment.allCases)
    func `is the key of the side, before one for both`(environment: PushEnvironment) throws {
        let samples = [
            Sample(id: "both", createdAt: 9), Sample(id: "sandbox", environments: [.sandbox]),
            Sample(id: "production", environments: [.production]),
        ]
        #expect(try self.chosen(samples, in: environment) == environment.rawValue)
    }

    @Test func `is the key of the topic, before the team's`() throws {
        let samples = [Sample(id: "team", createdAt: 9), Sample(id: "topic", topics: [Self.chat])]
        #expect(try self.chosen(samples) == "topic")
        // It is made for the app, and with it for the app's calls.
        #expect(try self.chosen(samples, for: Self.calls, .voip) == "topic")
        #expect(try self.chosen(samples, for: "com.example.other") == "team")
    }

    @Test func `for calls alone sends calls alone`() throws {
        let calls = Self.certificate("calls", subject: Self.calls, topics: [Self.calls])
        #expect(try self.chosen([calls], for: Self.calls, .voip) == "calls")
        #expect(try self.chosen([calls]) == nil)
        #expect(try self.chosen([calls], for: Self.calls, .alert) == nil)
        #expect(try self.chosen([calls, Sample(id: "team", createdAt: 9)], for: Self.calls, .voip) == "calls")
        #expect(try self.chosen([calls, Sample(id: "team")]) == "team")
    }

    @Test func `is no certificate for what needs a key`() throws {
        let certificate = Self.certificate("certificate")
        #expect(try self.chosen([certificate], for: "\(Self.chat).location-query", .location) == nil)
        #expect(try self.chosen([certificate], for: "\(Self.chat).push-type.liveactivity", .liveactivity) == nil)
        #expect(
            try self.chosen(
                [certificate, Sample(id: "key")], for: "\(Self.chat).push-type.liveactivity", .liveactivity) == "key")
    }

    @Test func `is proven on the side, before one nobody has asked about, before one that was refused`() throws {
        let bound = Sample(id: "refused", environments: [.sandbox], createdAt: 9, refused: [.sandbox])
        let unasked = Sample(id: "unasked", createdAt: 5)
        let proven = Sample(id: "proven", proven: [.sandbox])
        #expect(try self.chosen([bound, unasked, proven]) == "proven")
        #expect(try self.chosen([bound, unasked]) == "unasked")
        // Nothing is gained by sending nothing.
        #expect(try self.chosen([bound]) == "refused")
        // What was said on the other side says nothing here.
        let other = Sample(id: "other", createdAt: 3, proven: [.production])
        #expect(try self.chosen([other, unasked]) == "unasked")
    }

    @Test func `is one with which a push to the topic was accepted, before a newer one`() throws {
        let samples = [
            Sample(id: "newer", createdAt: 9, proven: [.sandbox]), Sample(id: "accepted", accepted: [Self.chat]),
        ]
        #expect(try self.chosen(samples) == "accepted")
        #expect(try self.chosen(samples, for: "com.example.other") == "newer")
    }

    @Test func `is the newest of equals, and of one moment the first by id`() throws {
        #expect(try self.chosen([Sample(id: "a"), Sample(id: "b", createdAt: 2)]) == "b")
        #expect(try self.chosen([Sample(id: "b"), Sample(id: "a"), Sample(id: "c")]) == "a")
    }
}
