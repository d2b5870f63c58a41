package import APNsModel
package import Logging
package import NIOCore
package import TidingsModel

extension APNsClient {
    /// Throws if no client can be made of the configuration.
    ///
    /// - Throws: as `init` does.
    package static func check(_ configuration: Configuration) throws(InvalidField) {
        try configuration.validate()
        _ = try ClientTLS.context(configuration.trustRoots, configuration.credential)
    }

    /// Sends one push on a connection of its own and tells what APNs's answer says of the credential. The pushes of other clients
    /// are not touched: too many refused tokens end a connection (APNs reference, section 3.1).
    ///
    /// - Parameters:
    ///   - configuration: where to and with what; `requestDeadline` is how long it takes at most.
    ///   - topic: the bundle identifier, with the suffix of a push type for that type.
    ///   - token: of a device that has the app, which gets a push that shows nothing; nil for a token that nobody has.
    /// - Throws: `InvalidField` naming a field of the configuration, `topic`, or `token`.
    package static func prove(
        _ configuration: Configuration, topic: String, token: PushToken? = nil, logger: Logger,
        group: (any EventLoopGroup)? = nil
    ) async throws(InvalidField) -> CredentialProof {
        let request = Self.proofRequest(topic: topic, token: token, environment: configuration.environment)
        try request.validate()
        try InvalidField.check(
            token == nil || request.pushType == .background, "token",
            "must be left out for this topic: what it gets cannot be hidden")
        var configuration = configuration
        configuration.connectionsMax = 1
        // What TLS says of a certificate can come after the request was sent, which then is tried once more.
        configuration.retriesMax = 1
        let client = try APNsClient(configuration: configuration, logger: logger, group: group)
        let outcome: APNsOutcome = await withCheckedContinuation { continuation in
            client.submit(request) { continuation.resume(returning: $0) }
        }
        await client.shutdown()
        let credential: CredentialProof.Question.Credential =
            switch configuration.credential {
            case .token: .key
            case .certificate: .certificate
            }
        return CredentialProof(
            outcome,
            to: .init(
                credential: credential, environment: configuration.environment, topic: topic, hasDevice: token != nil))
    }

    /// Makes a request of the first type that the topic can be for; where there is a choice, one that shows nothing.
    private static func proofRequest(
        topic: String, token: PushToken?, environment: PushEnvironment
    ) -> APNsRequest {
        let types = APNsPushType.types(ofTopic: topic)
        let type = types.contains(.background) ? .background : types.first ?? .alert
        let payload =
            switch type {
            case .background: #"{"aps":{"content-available":1}}"#
            case .mdm: #"{"mdm":"0"}"#
            case .alert, .voip, .complication, .fileprovider, .location, .liveactivity, .pushtotalk, .widgets,
                .controls:
                #"{"aps":{}}"#
            }
        return APNsRequest(
            token: token ?? PushToken(String(repeating: "0", count: 64)), topic: topic, pushType: type,
            priority: type == .background ? .powerAware : .immediate, expiration: 0, payload: Array(payload.utf8),
            environment: environment)
    }
}
