package import APNsModel
package import TidingsModel

package struct AcceptedPush: Hashable, Sendable {
    /// The push's `apns-id`; for a broadcast the `apns-request-id`.
    package var apnsID: String
    package var uniqueID: String
    /// Empty for a broadcast.
    package var token: PushToken
    package var target: DeviceTopic
    package var pushType: APNsPushType
    package var priority: APNsPriority
    /// UNIX seconds, 0 for one attempt, nil for the default of 30 days.
    package var expiration: Int64?
    package var collapseID: String?
    package var payload: [UInt8]
    package var acceptedAt: Int64
    /// Nil for a push to a device.
    package var channel: ChannelOrigin?

    package struct ChannelOrigin: Hashable, Sendable {
        package var id: APNsChannelID
        package var policy: APNsStoragePolicy
        /// From 1.
        package var sequence: Int64
    }

    func logged(_ event: DeliveryLogEntry.Event, at now: Now) -> DeliveryLogEntry {
        DeliveryLogEntry(
            apnsID: self.apnsID, uniqueID: self.uniqueID, wall: now.wall, event: event,
            token: self.channel == nil ? self.token.rawValue : nil, topic: self.target.topic,
            environment: self.target.environment, channelID: self.channel?.id)
    }
}

extension AcceptedPush {
    var record: ServiceRecord {
        var object = JSONObject([
            ("apns_id", .string(self.apnsID)), ("unique_id", .string(self.uniqueID)),
            ("token", .string(self.token.rawValue)), ("phone", .string(self.target.phone.rawValue)),
            ("topic", .string(self.target.topic)), ("environment", .string(self.target.environment.rawValue)),
            ("push_type", .string(self.pushType.rawValue)), ("priority", .int(self.priority.rawValue)),
            ("accepted_ms", .int(self.acceptedAt)),
            // Accepted payloads are JSON, and so UTF-8.
            ("payload", .string(String(decoding: self.payload, as: UTF8.self))),
        ])
        if let activity = self.target.activity { object["activity"] = .string(activity) }
        if let expiration = self.expiration { object["expiration"] = .int(expiration) }
        if let collapseID = self.collapseID { object["collapse_id"] = .string(collapseID) }
        return ServiceRecord(kind: .push, key: self.uniqueID, json: .object(object))
    }

    init?(record: JSONValue) {
        guard let apnsID = record["apns_id"]?.stringValue, let uniqueID = record["unique_id"]?.stringValue,
            let token = record["token"]?.stringValue, let target = try? DeviceTopic(json: record),
            let pushType = record["push_type"]?.stringValue.flatMap({ APNsPushType(rawValue: $0) }),
            let priority = record["priority"]?.intValue.flatMap({ APNsPriority(rawValue: Int($0)) }),
            let acceptedAt = record["accepted_ms"]?.intValue, let payload = record["payload"]?.stringValue
        else { return nil }
        self.init(
            apnsID: apnsID, uniqueID: uniqueID, token: PushToken(token), target: target, pushType: pushType,
            priority: priority, expiration: record["expiration"]?.intValue,
            collapseID: record["collapse_id"]?.stringValue, payload: Array(payload.utf8), acceptedAt: acceptedAt)
    }
}

extension CourierReply {
    package static func push(delivery: Int64, _ push: AcceptedPush) -> CourierReply {
        // The payload has been parsed before it was accepted.
        let payload = (try? JSONValue(parsing: push.payload))?.objectValue ?? JSONObject()
        return .push(
            CourierPush(
                delivery: delivery, topic: push.target.topic, token: push.token, apnsID: push.apnsID,
                uniqueID: push.uniqueID, collapseID: push.collapseID, pushType: push.pushType.rawValue,
                priority: push.priority.rawValue, expiration: push.expiration, payload: payload,
                activity: push.target.activity, channelID: push.channel?.id))
    }
}
