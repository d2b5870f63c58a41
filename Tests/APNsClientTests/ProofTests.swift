import APNsModel
import APNsSimulator
import APNsTestSupport
import Foundation
import Testing
import TidingsModel

@testable import APNsClient

@Suite(.timeLimit(.minutes(5))) struct `A credential before use` {
    private func proof(
        _ configuration: APNsClient.Configuration, topic: String = "com.example.chat", token: PushToken? = nil
    ) async throws -> CredentialProof {
        var configuration = configuration
        configuration.requestDeadline = 60_000
        return try await APNsClient.prove(configuration, topic: topic, token: token, logger: Stage.logger)
    }

    @Test func `is proven by a push that no device gets`() async throws {
        try await Stage.run { stage in
            let proof = try await self.proof(stage.configuration())
            #expect(proof.verdict == .proven)
            #expect(proof.reason == "BadDeviceToken")
            #expect(try await stage.log() == ["refused"])
        }
    }

    @Test func `is proven for its topic by a push that shows nothing on a device`() async throws {
        try await Stage.run { stage in
            let proof = try await self.proof(stage.configuration(), token: stage.token)
            #expect(proof.verdict == .topicProven)
            let push = try #require(try await stage.phone.next())
            #expect(push["push_type"] == "background")
            #expect(push["payload"] == ["aps": ["content-available": 1]])
            // Once, and kept nowhere.
            #expect(push["expiration"] == 0)
        }
    }

    @Test func `that is refused says why`() async throws {
        try await Stage.run(
            { $0.topics = ["com.example.chat"] },
            { stage in
                let team = try await self.proof(stage.configuration(teamID: "OTHERTEAM1"))
                #expect(team.verdict == .refused)
                #expect(team.reason == "InvalidProviderToken")
                let topic = try await self.proof(stage.configuration(), topic: "com.example.other")
                #expect(topic.verdict == .refused)
                #expect(topic.reason == "TopicDisallowed")
            })
    }

    @Test func `that is a certificate APNs does not know is refused in TLS`() async throws {
        try await Stage.run { stage in
            let (certificate, key) = try Papers().client()
            var configuration = try stage.configuration()
            configuration.credential = .certificate(try .init(certificatePEM: certificate, privateKeyPEM: key))
            let proof = try await self.proof(configuration)
            #expect(proof.verdict == .refused)
            #expect(proof.reason == nil)
            #expect(proof.meaning.contains("does not come from Apple"), "\(proof.meaning)")
        }
    }

    @Test func `is not judged by a server that is not trusted`() async throws {
        try await Stage.run { stage in
            var configuration = try stage.configuration()
            configuration.trustRoots = .pem(try Papers().authorityPEM)
            let untrusted = try await self.proof(configuration)
            #expect(untrusted.verdict == .refused)
            #expect(untrusted.meaning.contains("check the trust roots"), "\(untrusted.meaning)")
        }
    }

    @Test func `is asked about no topic that is none, and with no push that would show`() async throws {
        try await Stage.run { stage in
            let configuration = try stage.configuration()
            for (topic, token, field) in [
                ("no topic", nil, "topic"), ("com.example.chat", PushToken("xyz"), "token"),
                ("com.example.chat.voip", stage.token, "token"),
            ] as [(String, PushToken?, String)] {
                let fault = await #expect(throws: InvalidField.self) {
                    try await self.proof(configuration, topic: topic, token: token)
                }
                #expect(fault?.field == field)
            }
            #expect(try await stage.log() == [])
        }
    }
}
