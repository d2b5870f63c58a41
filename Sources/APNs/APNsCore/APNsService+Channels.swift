import APNsModel
import TidingsModel

struct ChannelAction: Sendable {
    enum Work: Sendable {
        case create(APNsStoragePolicy)
        case read(BroadcastChannel)
        case delete
        case list
        case broadcast(priority: APNsPriority, expiration: Int64)
    }

    /// The channel; its id is empty in a request for all of them.
    var channel: ChannelName
    var work: Work
}

// Broadcasts and the management of their channels (APNs reference, section 17).
extension APNsService {
    /// Steps 4 to 6 of APNs reference, section 20, for channels.
    func checkChannels(
        _ task: ProviderRoute.ChannelTask, of bundleID: String, _ inquiry: Inquiry, _ fields: RequestFields,
        connection: ProviderConnection
    ) throws(Refusal) -> ChannelAction {
        try self.checkApp(bundleID, fields, connection)
        let environment = inquiry.host.environment
        switch task {
        case .create:
            let policy = try ChannelBody.policy(inquiry.request.body)
            let app = ChannelStore.App(bundleID: bundleID, environment: environment)
            guard self.channels.channels(app).count < self.configuration.channelsMax else {
                throw Refusal(.cannotCreateChannelConfig, detail: "\(self.configuration.channelsMax) channels exist")
            }
            let id = ChannelBody.id(drawn: inquiry.drawn.uniqueID)
            let name = ChannelName(bundleID: bundleID, environment: environment, id: id)
            guard self.channels[name] == nil, !self.channels.deleted.contains(name) else {
                throw Refusal(.internalServerError, detail: "the id was drawn before")
            }
            return ChannelAction(channel: name, work: .create(policy))
        case .read:
            let channel = try self.channel(bundleID, inquiry, fields)
            return ChannelAction(channel: channel.name, work: .read(channel))
        case .delete:
            return ChannelAction(channel: try self.channel(bundleID, inquiry, fields).name, work: .delete)
        case .list:
            let none = ChannelName(bundleID: bundleID, environment: environment, id: "")
            return ChannelAction(channel: none, work: .list)
        case .broadcast: return try self.checkBroadcast(bundleID, inquiry, fields)
        }
    }

    private func checkApp(
        _ bundleID: String, _ fields: RequestFields, _ connection: ProviderConnection
    ) throws(Refusal) {
        if let id = fields.requestID, !APNsFormat.isUUID(id.utf8) { throw Refusal(.badMessageID, detail: id) }
        guard APNsFormat.isBundleID(bundleID) else { throw Refusal(.topicDisallowed, detail: bundleID) }
        guard connection.mayBroadcast(bundleID) else {
            throw Refusal(.topicMismatch, detail: "key or certificate is not for \(bundleID)")
        }
        guard !self.channels.off.contains(bundleID) else { throw Refusal(.featureNotEnabled) }
    }

    private func channelID(_ fields: RequestFields) throws(Refusal) -> APNsChannelID {
        guard let text = fields.channelID else { throw Refusal(.missingChannelID) }
        guard APNsFormat.isChannelID(text.utf8) else { throw Refusal(.badChannelID, detail: text) }
        return APNsChannelID(text)
    }

    private func channel(
        _ bundleID: String, _ inquiry: Inquiry, _ fields: RequestFields
    ) throws(Refusal) -> BroadcastChannel {
        let id = try self.channelID(fields)
        let name = ChannelName(bundleID: bundleID, environment: inquiry.host.environment, id: id)
        guard let channel = self.channels[name] else { throw Refusal(.channelNotRegistered, detail: id.rawValue) }
        return channel
    }

    private func checkBroadcast(
        _ bundleID: String, _ inquiry: Inquiry, _ fields: RequestFields
    ) throws(Refusal) -> ChannelAction {
        _ = try self.channelID(fields)
        guard let type = fields.pushType else { throw Refusal(.missingPushType) }
        guard APNsPushType(wireName: type) == .liveactivity else { throw Refusal(.invalidPushType, detail: type) }
        guard let expiration = try RequestCheck.expiration(fields.expiration) else {
            throw Refusal(.badExpirationDate, detail: "missing")
        }
        guard fields.priority != nil else { throw Refusal(.badPriority, detail: "missing") }
        let priority = try RequestCheck.priority(fields.priority, isBackground: false)
        try ChannelBody.broadcast(inquiry.request.body)
        let channel = try self.channel(bundleID, inquiry, fields)
        guard channel.policy != .noStorage || expiration == 0 else {
            throw Refusal(.badExpirationDate, detail: "the channel stores nothing")
        }
        return ChannelAction(channel: channel.name, work: .broadcast(priority: priority, expiration: expiration))
    }

    mutating func performChannelAction(
        _ action: ChannelAction, _ inquiry: Inquiry, answer: APNsResponse, at now: Now, into effects: inout [Effect]
    ) -> (APNsResponse, [UInt8]) {
        var answer = answer
        switch action.work {
        case .create(let policy):
            let channel = BroadcastChannel(name: action.channel, policy: policy)
            self.channels[action.channel] = channel
            effects.append(.save(channel.record))
            answer.status = 201
            answer.channelID = action.channel.id
            return (answer, [])
        case .read(let channel): return (answer, ChannelBody.description(channel.policy))
        case .delete:
            self.deleteChannel(action.channel, into: &effects)
            answer.status = 204
            return (answer, [])
        case .list:
            let app = ChannelStore.App(bundleID: action.channel.bundleID, environment: action.channel.environment)
            return (answer, ChannelBody.list(self.channels.channels(app).map(\.name.id)))
        case .broadcast:
            answer.uniqueID = inquiry.drawn.uniqueID
            effects.append(
                .log(self.logged(.accepted, inquiry, topic: Self.topic(of: action.channel.bundleID), at: now)))
            return (answer, [])
        }
    }

    private static func topic(of bundleID: String) -> String { APNsPushType.liveactivity.topic(forBundle: bundleID) }

    mutating func publish(_ action: ChannelAction, _ inquiry: Inquiry, at now: Now, into effects: inout [Effect]) {
        guard case .broadcast(let priority, let expiration) = action.work, var channel = self.channels[action.channel]
        else { return }
        channel.sequence += 1
        channel.metrics.published += 1
        let target = DeviceTopic(
            phone: "", topic: Self.topic(of: action.channel.bundleID), environment: action.channel.environment)
        let message = AcceptedPush(
            apnsID: inquiry.name, uniqueID: inquiry.drawn.uniqueID, token: "", target: target, pushType: .liveactivity,
            priority: priority, expiration: expiration, collapseID: nil, payload: inquiry.request.body,
            acceptedAt: now.wall,
            channel: AcceptedPush.ChannelOrigin(
                id: action.channel.id, policy: channel.policy, sequence: channel.sequence))
        if channel.policy == .mostRecentMessage, expiration != 0 { channel.message = message }
        self.channels[action.channel] = channel
        effects.append(.save(channel.record))
        for phone in self.channels.listeners(of: action.channel) {
            self.forward(.accepted(message.addressed(to: phone)), to: phone, at: now, into: &effects)
        }
    }
}

enum ChannelBody {
    static func policy(_ body: [UInt8]) throws(Refusal) -> APNsStoragePolicy {
        guard !body.isEmpty else { throw Refusal(.payloadEmpty) }
        guard body.count <= APNsBroadcast.payloadBytesMax else { throw Refusal(.payloadTooLarge) }
        guard let object = (try? JSONValue(parsing: body, depthMax: 8))?.objectValue else {
            throw Refusal(.badRequestPayload, detail: "not a JSON object")
        }
        let names = [APNsChannelRequest.policyKey, APNsChannelRequest.pushTypeKey]
        for (name, _) in object.members where !names.contains(name) {
            throw Refusal(.badRequestParams, detail: name)
        }
        guard let type = object[APNsChannelRequest.pushTypeKey] else { throw Refusal(.missingPushType) }
        guard type.stringValue.flatMap({ APNsPushType(wireName: $0) }) == .liveactivity else {
            throw Refusal(.invalidPushType, detail: type.text)
        }
        guard let value = object[APNsChannelRequest.policyKey] else { throw Refusal(.missingChannelQueueSize) }
        guard let policy = value.intValue.flatMap({ Int(exactly: $0) }).flatMap({ APNsStoragePolicy(rawValue: $0) })
        else { throw Refusal(.badRequestParams, detail: "\(APNsChannelRequest.policyKey) \(value.text)") }
        return policy
    }

    /// An update or an end; a start cannot be broadcast (APNs reference, sections 13 and 17).
    static func broadcast(_ body: [UInt8]) throws(Refusal) {
        guard !body.isEmpty else { throw Refusal(.payloadEmpty) }
        guard body.count <= APNsBroadcast.payloadBytesMax else {
            throw Refusal(.payloadTooLarge, detail: "over \(APNsBroadcast.payloadBytesMax) bytes")
        }
        guard let value = try? JSONValue(parsing: body), value.objectValue != nil else {
            throw Refusal(.badRequestPayload, detail: "not a JSON object")
        }
        guard let event = value["aps"]?["event"]?.stringValue, event == "update" || event == "end" else {
            throw Refusal(.badRequestPayload, detail: "event is neither update nor end")
        }
    }

    static func description(_ policy: APNsStoragePolicy) -> [UInt8] {
        JSONValue.members([
            (APNsChannelRequest.policyKey, .int(policy.rawValue)),
            (APNsChannelRequest.pushTypeKey, .string(APNsChannelRequest.pushTypeName)),
        ]).serialized
    }

    static func list(_ ids: [APNsChannelID]) -> [UInt8] {
        JSONValue.members([(APNsChannelRequest.channelsKey, .array(ids.map { .string($0.rawValue) }))]).serialized
    }

    /// Base64 (RFC 4648, section 4) of the drawn name's bytes, or of those its hexadecimal digits stand for.
    static func id(drawn: String) -> APNsChannelID {
        let digits =
            APNsFormat.isUUID(drawn.utf8) ? Hexadecimal.bytes(drawn.utf8.filter { $0 != UInt8(ascii: "-") }) : nil
        return APNsChannelID(Base64.encode(digits ?? Array(drawn.utf8), .standard))
    }
}
