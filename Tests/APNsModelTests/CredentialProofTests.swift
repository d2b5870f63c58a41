import Testing
import TidingsModel

@testable import APNsModel

/// What each reason says of a credential whose push went to a token that nobody has: the verdict, and words that the meaning
/// has to contain.
private let table: [(reason: APNsReason, verdict: CredentialProof.Verdict, words: String)] = [
    (.badCollapseID, .undecided, "report it"), (.badDeviceToken, .proven, "is yours is not proven"),
    (.badExpirationDate, .undecided, "report it"), (.badMessageID, .undecided, "report it"),
    (.badPriority, .undecided, "report it"), (.badTopic, .refused, "com.example.chat is no topic"),
    (.deviceTokenNotForTopic, .undecided, "not of the topic com.example.chat"),
    (.duplicateHeaders, .undecided, "report it"), (.idleTimeout, .undecided, "try again later"),
    (.invalidPushType, .undecided, "report it"), (.missingDeviceToken, .undecided, "report it"),
    (.missingTopic, .refused, "com.example.chat is no topic"), (.payloadEmpty, .undecided, "report it"),
    (.topicDisallowed, .refused, "not for the topic com.example.chat"), (.badCertificate, .refused, "revoked"),
    (.badCertificateEnvironment, .refused, "good in production, not in sandbox"),
    (.expiredProviderToken, .refused, "clock of this machine"), (.forbidden, .refused, "may not do this"),
    (.invalidProviderToken, .refused, "key id and team id do not belong together"),
    (.missingProviderToken, .refused, "neither key nor certificate"),
    (.unrelatedKeyIDInToken, .undecided, "another key"),
    (.badEnvironmentKeyIDInToken, .refused, "good in production, not in sandbox"),
    (.badPath, .undecided, "report it"), (.methodNotAllowed, .undecided, "report it"),
    (.expiredToken, .undecided, "an app that is gone"), (.unregistered, .undecided, "an app that is gone"),
    (.payloadTooLarge, .undecided, "report it"), (.tooManyProviderTokenUpdates, .undecided, "20 minutes"),
    (.tooManyRequests, .undecided, "this device token"), (.internalServerError, .undecided, "APNs fails"),
    (.serviceUnavailable, .undecided, "APNs fails"), (.shutdown, .undecided, "APNs fails"),
    (.featureNotEnabled, .undecided, "broadcast"), (.missingChannelID, .undecided, "broadcast"),
    (.badChannelID, .undecided, "broadcast"), (.channelNotRegistered, .undecided, "broadcast"),
    (.badRequestParams, .undecided, "broadcast"), (.badRequestPayload, .undecided, "broadcast"),
    (.missingPushType, .undecided, "broadcast"), (.cannotCreateChannelConfig, .undecided, "broadcast"),
    (.missingChannelQueueSize, .undecided, "broadcast"),
    (.topicMismatch, .refused, "not for the topic com.example.chat"),
]

@Suite struct `A proof of a credential` {
    private func proof(
        _ outcome: APNsOutcome, _ credential: CredentialProof.Question.Credential = .key,
        in environment: PushEnvironment = .sandbox, hasDevice: Bool = false
    ) -> CredentialProof {
        CredentialProof(
            outcome,
            to: .init(
                credential: credential, environment: environment, topic: "com.example.chat", hasDevice: hasDevice))
    }

    private func refused(_ reason: APNsReason, status: Int? = nil) -> APNsOutcome {
        .refused(APNsRefusal(reason, status: status ?? reason.status ?? 0))
    }

    @Test func `knows every reason of Apple's`() {
        #expect(table.map(\.reason) == APNsReason.documented)
    }

    @Test(arguments: table) func `says what a reason means`(
        row: (reason: APNsReason, verdict: CredentialProof.Verdict, words: String)
    ) {
        let proof = self.proof(self.refused(row.reason))
        #expect(proof.verdict == row.verdict)
        #expect(proof.reason == row.reason.name)
        #expect(proof.meaning.contains(row.words), "\(proof.meaning)")
    }

    /// `BadCertificateEnvironment` comes so (APNs reference, section 2).
    @Test(arguments: table) func `says the same of a reason that ends the connection`(
        row: (reason: APNsReason, verdict: CredentialProof.Verdict, words: String)
    ) {
        #expect(self.proof(.stopped(row.reason.name)) == self.proof(self.refused(row.reason)))
    }

    @Test func `has the key proven by a bad device token, and the topic by an accepted push alone`() {
        #expect(APNsReason.documented.filter { self.proof(self.refused($0)).verdict == .proven } == [.badDeviceToken])
        #expect(
            APNsReason.documented.allSatisfy { self.proof(self.refused($0), hasDevice: true).verdict != .topicProven })
        let accepted = APNsOutcome.accepted(apnsID: "a", uniqueID: nil)
        let proof = self.proof(accepted, .certificate, in: .production, hasDevice: true)
        #expect(
            proof
                == CredentialProof(
                    .topicProven, "the certificate is good in production, and the topic com.example.chat is yours"))
    }

    @Test func `does not believe a server that accepts a token nobody has`() {
        let proof = self.proof(.accepted(apnsID: "a", uniqueID: nil))
        #expect(proof.verdict == .refused)
        #expect(proof.meaning.contains("this is not APNs"))
    }

    @Test func `names the side the credential is good on`() {
        #expect(
            self.proof(self.refused(.badCertificateEnvironment), .certificate, in: .production).meaning
                .contains("good in sandbox, not in production"))
        #expect(
            self.proof(self.refused(.badDeviceToken), in: .production).meaning.hasPrefix(
                "the key is good in production; "))
        #expect(
            self.proof(self.refused(.badDeviceToken), .certificate).meaning.hasPrefix(
                "the certificate is good in sandbox; "))
    }

    @Test func `says of a device token that somebody gave that it is the other side's`() {
        let proof = self.proof(self.refused(.badDeviceToken), hasDevice: true)
        #expect(proof.verdict == .proven)
        #expect(proof.meaning.hasSuffix("; the device token is none of sandbox"))
    }

    @Test(arguments: [(403, CredentialProof.Verdict.refused), (400, .undecided), (410, .undecided), (500, .undecided)])
    func `goes by the status where nobody knows the reason`(status: Int, verdict: CredentialProof.Verdict) {
        let proof = self.proof(self.refused(.unknown("SomethingNew"), status: status))
        #expect(proof.verdict == verdict)
        #expect(proof.reason == "SomethingNew")
    }

    @Test func `tells what TLS says, and that silence says nothing`() {
        let cause = "localhost:443 refuses the connection (certificate_expired): the client certificate has expired"
        #expect(self.proof(.stopped(cause), .certificate) == CredentialProof(.refused, cause))
        #expect(
            self.proof(.notSent("the deadline passed: connection refused"))
                == CredentialProof(.undecided, "nothing was sent: the deadline passed: connection refused"))
        #expect(
            self.proof(.unknownOutcome("no answer before the deadline"))
                == CredentialProof(.undecided, "no answer came: no answer before the deadline"))
    }
}
