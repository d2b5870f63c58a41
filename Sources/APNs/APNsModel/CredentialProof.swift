package import TidingsModel

/// The verdict of one push to APNs on the credential it went out with (APNs reference, sections 4, 5 and 9).
package struct CredentialProof: Hashable, Sendable {
    package enum Verdict: String, Hashable, Sendable, CaseIterable, JSONWritable {
        /// APNs takes the credential on this side. That the topic is its owner's is not shown.
        case proven
        /// APNs takes the credential for the topic: it accepted a push.
        case topicProven = "topic_proven"
        /// Something has to be put right before another try is of use.
        case refused
        /// Nothing is known: no answer came, or one that tells nothing of the credential.
        case undecided
    }

    /// The subject of the proof.
    package struct Question: Hashable, Sendable {
        package enum Credential: Hashable, Sendable { case key, certificate }

        package var credential: Credential
        package var environment: PushEnvironment
        package var topic: String
        /// True if the push went to the token of a device, and not to one that nobody has.
        package var hasDevice: Bool

        package init(
            credential: Credential, environment: PushEnvironment, topic: String, hasDevice: Bool
        ) {
            self.credential = credential
            self.environment = environment
            self.topic = topic
            self.hasDevice = hasDevice
        }
    }

    package var verdict: Verdict
    /// Apple's word for the refusal; nil without one.
    package var reason: String?
    /// The meaning, and what to do, as one sentence without a full stop.
    package var meaning: String

    package init(_ verdict: Verdict, reason: String? = nil, _ meaning: String) {
        self.verdict = verdict
        self.reason = reason
        self.meaning = meaning
    }

    /// Judges how the push ended.
    package init(_ outcome: APNsOutcome, to question: Question) {
        switch outcome {
        case .accepted: self = question.ofAcceptance
        case .refused(let refusal): self = question.ofReason(refusal.reason, status: refusal.status)
        case .stopped(let cause):
            // A reason of APNs's that came with GOAWAY, or what TLS or a proxy says.
            let reason = APNsReason(name: cause)
            self =
                APNsReason.documented.contains(reason)
                ? question.ofReason(reason, status: reason.status ?? 0) : CredentialProof(.refused, cause)
        case .notSent(let why): self = CredentialProof(.undecided, "nothing was sent: \(why)")
        case .unknownOutcome(let why): self = CredentialProof(.undecided, "no answer came: \(why)")
        }
    }
}

extension CredentialProof.Question {
    private var side: String { self.environment.rawValue }

    private var otherSide: String {
        switch self.environment {
        case .sandbox: PushEnvironment.production.rawValue
        case .production: PushEnvironment.sandbox.rawValue
        }
    }

    private var name: String {
        switch self.credential {
        case .key: "key"
        case .certificate: "certificate"
        }
    }

    fileprivate var ofAcceptance: CredentialProof {
        guard self.hasDevice else {
            return CredentialProof(
                .refused, "a push to a token that nobody has was accepted: this is not APNs; check host and port")
        }
        return CredentialProof(
            .topicProven, "the \(self.name) is good in \(self.side), and the topic \(self.topic) is yours")
    }

    fileprivate func ofReason(_ reason: APNsReason, status: Int) -> CredentialProof {
        let (verdict, meaning) = self.judgement(on: reason, status: status)
        return CredentialProof(verdict, reason: reason.name, meaning)
    }

    private func judgement(on reason: APNsReason, status: Int) -> (CredentialProof.Verdict, String) {
        switch reason {
        case .badDeviceToken:
            (
                .proven,
                "the \(self.name) is good in \(self.side); that the topic \(self.topic) is yours is not proven: "
                    + "only an accepted push shows that"
                    + (self.hasDevice ? "; the device token is none of \(self.side)" : "")
            )
        case .deviceTokenNotForTopic:
            (
                .undecided,
                "the device token is not of the topic \(self.topic); take one that the app got in \(self.side)"
            )
        case .unregistered, .expiredToken:
            (.undecided, "the device token is of an app that is gone; take one that the app got just now")
        case .tooManyRequests:
            (.undecided, "too many pushes to this device token; try again later")
        case .invalidProviderToken:
            (
                .refused,
                "key, key id and team id do not belong together, or the key was revoked; "
                    + "a key made just now may take hours until APNs knows it"
            )
        case .badEnvironmentKeyIDInToken:
            (.refused, "the key is of the other side: it is good in \(self.otherSide), not in \(self.side)")
        case .badCertificateEnvironment:
            (.refused, "the certificate is of the other side: it is good in \(self.otherSide), not in \(self.side)")
        case .badCertificate:
            (.refused, "the certificate has expired or was revoked; make a new one in Apple's developer account")
        case .missingProviderToken:
            (.refused, "APNs has seen neither key nor certificate; check that nothing between takes TLS apart")
        case .expiredProviderToken:
            (.refused, "the clock of this machine is wrong: a token signed just now is too old or too new for APNs")
        case .tooManyProviderTokenUpdates:
            (.undecided, "the key signs too often, here or elsewhere; try again in 20 minutes")
        case .unrelatedKeyIDInToken:
            (.undecided, "another key was used on this connection; try again")
        case .topicDisallowed, .topicMismatch:
            (.refused, "the \(self.name) is not for the topic \(self.topic)")
        case .badTopic, .missingTopic:
            (
                .refused,
                "\(self.topic) is no topic APNs knows, or not one of this push type; check the bundle identifier"
            )
        case .forbidden:
            (.refused, "the \(self.name) may not do this; look at what it allows in Apple's developer account")
        case .internalServerError, .serviceUnavailable, .shutdown, .idleTimeout:
            (.undecided, "APNs fails; try again later")
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders, .invalidPushType,
            .missingDeviceToken, .payloadEmpty, .badPath, .methodNotAllowed, .payloadTooLarge:
            (.undecided, "APNs finds the push itself wrong, which says nothing of the \(self.name); please report it")
        case .featureNotEnabled, .missingChannelID, .badChannelID, .channelNotRegistered, .badRequestParams,
            .badRequestPayload, .missingPushType, .cannotCreateChannelConfig, .missingChannelQueueSize:
            (.undecided, "this is an answer to a broadcast, which was not sent; check host and port")
        case .unknown:
            self.judgement(onUnknown: status)
        }
    }

    /// By the status alone (APNs reference, section 9).
    private func judgement(onUnknown status: Int) -> (CredentialProof.Verdict, String) {
        switch APNsReaction(status: status) {
        case .config: (.refused, "APNs refuses the \(self.name) for a reason that is not known here")
        case .drop, .quarantine, .bug, .auth, .connection, .backoff:
            (.undecided, "the answer with status \(status) is not known here and says nothing of the \(self.name)")
        }
    }
}
