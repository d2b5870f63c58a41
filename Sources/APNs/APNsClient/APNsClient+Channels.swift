public import APNsModel
import HTTP2Connection
import TidingsModel

/// Broadcasts to channels, and the channels themselves (APNs reference, section 17).
extension APNsClient {
    /// Sends one push to everybody who listens to a channel, over the same connections as pushes to devices.
    ///
    /// - Returns: APNs's answer, a status of success.
    /// - Throws: `APNsFailure`, as for a push.
    @discardableResult
    public func broadcast(_ broadcast: APNsBroadcast) async throws(APNsFailure) -> APNsResponse {
        if let why = self.fault(of: broadcast.environment) { throw .notSent(why) }
        do {
            try broadcast.validate()
        } catch {
            throw .notSent(error.description)
        }
        return try await self.engine.send(PendingLetter(.init(broadcast))).response
    }

    /// Makes a channel.
    ///
    /// - Parameters:
    ///   - storagePolicy: what APNs keeps of its messages; it cannot be changed.
    ///   - bundleID: the app, without a push type's suffix.
    ///   - requestID: a UUID that names the request in logs; APNs makes one if it is nil.
    /// - Returns: the new channel's id.
    /// - Throws: `APNsFailure`. After `unknownOutcome` there may be a channel: `channels(bundleID:)` lists all.
    public func createChannel(
        _ storagePolicy: APNsStoragePolicy, bundleID: String, requestID: String? = nil
    ) async throws(APNsFailure) -> APNsChannelID {
        let answer = try await self.manage(.create(storagePolicy), bundleID, requestID)
        guard case .created(let id) = answer else { throw Self.failure(answer) }
        return id
    }

    /// Asks for a channel's storage policy.
    ///
    /// - Throws: `APNsFailure`; a channel that does not exist is a refusal.
    public func channel(
        _ id: APNsChannelID, bundleID: String, requestID: String? = nil
    ) async throws(APNsFailure) -> APNsChannel {
        let answer = try await self.manage(.read(id), bundleID, requestID)
        guard case .channel(let channel) = answer else { throw Self.failure(answer) }
        return channel
    }

    /// Ends a channel; its id never returns.
    ///
    /// - Throws: `APNsFailure`; a channel that does not exist is a refusal.
    public func deleteChannel(
        _ id: APNsChannelID, bundleID: String, requestID: String? = nil
    ) async throws(APNsFailure) {
        let answer = try await self.manage(.delete(id), bundleID, requestID)
        guard case .deleted = answer else { throw Self.failure(answer) }
    }

    /// The ids of all channels of an app, in APNs's order.
    ///
    /// - Throws: `APNsFailure`.
    public func channels(bundleID: String, requestID: String? = nil) async throws(APNsFailure) -> [APNsChannelID] {
        let answer = try await self.manage(.list, bundleID, requestID)
        guard case .list(let ids) = answer else { throw Self.failure(answer) }
        return ids
    }

    private func manage(
        _ operation: APNsChannelRequest.Operation, _ bundleID: String, _ requestID: String?
    ) async throws(APNsFailure) -> APNsChannelAnswer {
        let request = APNsChannelRequest(
            operation, bundleID: bundleID, requestID: requestID, environment: self.configuration.environment)
        do {
            try request.validate()
        } catch {
            throw .notSent(error.description)
        }
        let message = try await self.management.send(PendingLetter(.init(request))).message
        if message.isCut { throw .unknownOutcome("the answer is longer than any list of channels") }
        return APNsChannelAnswer(
            to: operation, status: message.status, headers: message.headers.map { ($0.name, $0.value) },
            body: message.body)
    }

    private static func failure(_ answer: APNsChannelAnswer) -> APNsFailure {
        switch answer {
        case .refused(let refusal): .refused(refusal)
        case .malformed(let what): .unknownOutcome(what)
        case .created, .channel, .deleted, .list: .unknownOutcome("the answer to something else")
        }
    }
}
