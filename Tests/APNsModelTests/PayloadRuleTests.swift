import Testing
import TidingsModel

@testable import APNsModel

private let start = APNsPayload.LiveActivity(
    event: .start, timestamp: 1, contentState: JSONObject(), attributesType: "Flight", attributes: JSONObject())

/// A Live Activity's start that breaks no rule, changed.
private func activity(
    _ change: (inout APNsPayload.LiveActivity) -> Void = { _ in }, alert: APNsPayload.Alert? = .init(title: "t")
) -> APNsPayload {
    var activity = start
    change(&activity)
    return APNsPayload(alert: alert, liveActivity: activity)
}

/// A Live Activity's update that breaks no rule, changed.
private func update(_ change: (inout APNsPayload.LiveActivity) -> Void = { _ in }) -> APNsPayload {
    var activity = APNsPayload.LiveActivity(event: .update, timestamp: 1, contentState: JSONObject())
    change(&activity)
    return APNsPayload(liveActivity: activity)
}

/// Every rule: the payload that breaks it, and the field that is named.
private let faults: [(payload: APNsPayload, field: String)] = [
    (APNsPayload(badge: -1), "badge"),
    (APNsPayload(alert: .init()), "alert"),
    (APNsPayload(alert: .init(launchImage: "i")), "alert"),
    (APNsPayload(alert: .init(body: "b", titleLocalization: .init(""))), "alert"),
    (APNsPayload(sound: ""), "sound.name"),
    (APNsPayload(sound: .critical(name: "")), "sound.name"),
    (APNsPayload(sound: .critical(volume: -0.01)), "sound.volume"),
    (APNsPayload(sound: .critical(volume: 1.01)), "sound.volume"),
    (APNsPayload(sound: .critical(volume: .nan)), "sound.volume"),
    (APNsPayload(relevanceScore: 1.01), "relevance-score"),
    (APNsPayload(relevanceScore: -0.01), "relevance-score"),
    (APNsPayload(relevanceScore: .nan), "relevance-score"),
    (APNsPayload(custom: JSONObject([("aps", 1)])), "custom.aps"),
    (activity { $0.timestamp = -1 }, "timestamp"),
    (activity { $0.staleDate = -1 }, "stale-date"),
    (activity { $0.dismissalDate = -1 }, "dismissal-date"),
    (activity { $0.contentState = nil }, "content-state"),
    (update { $0.contentState = nil }, "content-state"),
    (activity(alert: nil), "alert"),
    (activity { $0.attributesType = nil }, "attributes-type"),
    (activity { $0.attributesType = "" }, "attributes-type"),
    (activity { $0.attributes = nil }, "attributes"),
    (activity { $0.inputPushChannel = "no base64" }, "input-push-channel"),
    (update { $0.attributesType = "T" }, "attributes-type"),
    (update { $0.attributes = JSONObject() }, "attributes"),
    (update { $0.inputPushChannel = "dGVzdA==" }, "input-push-channel"),
    (update { $0.inputPushToken = true }, "input-push-token"),
    (activity(alert: .init(title: "t", titleLocalization: .init("K"))), "alert.title"),
    (activity(alert: .init(body: "b", bodyLocalization: .init("K"))), "alert.body"),
    (APNsPayload(sound: "default", liveActivity: update().liveActivity), "sound"),
    (APNsPayload(relevanceScore: .infinity, liveActivity: update().liveActivity), "relevance-score"),
]

@Suite struct `A payload that breaks a rule` {
    @Test(arguments: faults.indices) func `is not written, and the error names the member`(index: Int) {
        let (payload, field) = faults[index]
        #expect(broken { () throws(InvalidField) in try payload.validate() }?.field == field)
        #expect(broken { () throws(InvalidField) in _ = try payload.serialized(bytesMax: 4_096) }?.field == field)
    }

    @Test func `is refused at the limits of its rules only beyond them`() throws {
        try APNsPayload(badge: 0, sound: .critical(volume: 0), relevanceScore: 0).validate()
        try APNsPayload(sound: .critical(volume: 1), relevanceScore: 1).validate()
        try activity().validate()
        try update().validate()
        // An end may leave its state out, and a Live Activity's score has no bounds.
        try APNsPayload(relevanceScore: -70, liveActivity: .init(event: .end, timestamp: 0)).validate()
    }
}

@Suite struct `A payload for one kind of push` {
    private func fault(_ payload: APNsPayload, _ type: APNsPushType) -> String? {
        broken { () throws(InvalidField) in _ = try payload.serialized(for: type) }?.field
    }

    @Test func `that is an alert has an alert, a badge or a sound`() {
        #expect(self.fault(APNsPayload(threadID: "t"), .alert) == "aps")
        #expect(self.fault(APNsPayload(alert: .init(body: "b")), .alert) == nil)
        #expect(self.fault(APNsPayload(badge: 0), .alert) == nil)
        #expect(self.fault(APNsPayload(sound: "default"), .alert) == nil)
    }

    /// Everything `aps` can hold beside what a silent push is about.
    private static let others: [(field: String, set: @Sendable (inout APNsPayload) -> Void)] = [
        ("alert", { $0.alert = .init(body: "b") }), ("badge", { $0.badge = 1 }), ("sound", { $0.sound = "default" }),
        ("thread-id", { $0.threadID = "t" }), ("category", { $0.category = "c" }),
        ("mutable-content", { $0.mutableContent = true }), ("interruption-level", { $0.interruptionLevel = .passive }),
        ("relevance-score", { $0.relevanceScore = 1 }), ("filter-criteria", { $0.filterCriteria = "f" }),
        ("target-content-id", { $0.targetContentID = "w" }), ("event", { $0.liveActivity = update().liveActivity }),
    ]

    @Test(arguments: Self.others.indices) func `that is silent has nothing beside what it is about`(index: Int) {
        let (field, set) = Self.others[index]
        for type in [APNsPushType.background, .widgets, .controls] {
            var payload = APNsPayload(custom: JSONObject([("id", 7)]))
            payload.contentAvailable = type == .background
            payload.contentChanged = type != .background
            #expect(self.fault(payload, type) == nil)
            set(&payload)
            #expect(self.fault(payload, type) == field)
        }
    }

    @Test func `that is silent has what it is about`() {
        #expect(self.fault(APNsPayload(), .background) == "content-available")
        #expect(self.fault(APNsPayload(contentAvailable: true, contentChanged: true), .background) == "content-changed")
        #expect(self.fault(APNsPayload(), .widgets) == "content-changed")
        #expect(self.fault(APNsPayload(contentAvailable: true, contentChanged: true), .controls) == "content-available")
    }

    @Test(arguments: APNsPushType.allCases) func `has a Live Activity's event, or must not`(type: APNsPushType) {
        let isActivity = type == .liveactivity
        var payload = isActivity ? APNsPayload(badge: 1) : update()
        // Silent pushes name it among all they must not have.
        payload.badge = type == .alert ? 1 : payload.badge
        payload.contentAvailable = type == .background
        payload.contentChanged = type == .widgets || type == .controls
        #expect(self.fault(payload, type) == "event")
    }

    @Test(arguments: APNsPushType.allCases) func `has content-changed for widgets and controls alone`(
        type: APNsPushType
    ) {
        guard type != .widgets, type != .controls else { return }
        var payload = type == .liveactivity ? update() : APNsPayload(badge: type == .alert ? 1 : nil)
        payload.contentAvailable = type == .background
        payload.contentChanged = true
        #expect(self.fault(payload, type) == "content-changed")
    }

    @Test func `has the limit of its kind`() throws {
        func payload(_ count: Int) -> APNsPayload {
            APNsPayload(badge: 1, custom: JSONObject([("x", .string(String(repeating: "x", count: count)))]))
        }
        let around = try payload(0).serialized(bytesMax: 100).count
        #expect(self.fault(payload(4_096 - around), .alert) == nil)
        #expect(self.fault(payload(4_097 - around), .alert) == "payload")
        #expect(self.fault(payload(5_120 - around), .voip) == nil)
        #expect(self.fault(payload(5_121 - around), .voip) == "payload")
    }

    @Test func `that is broadcast updates or ends a Live Activity, in 5,120 bytes`() throws {
        #expect(broken { () throws(InvalidField) in try activity().validateForBroadcast() }?.field == "event")
        #expect(broken { () throws(InvalidField) in try APNsPayload().validateForBroadcast() }?.field == "event")
        var payload = update()
        payload.custom["x"] = ""
        let around = try payload.serializedForBroadcast().count
        payload.custom["x"] = .string(String(repeating: "x", count: 5_120 - around))
        #expect(try payload.serializedForBroadcast().count == 5_120)
        payload.custom["x"] = .string(String(repeating: "x", count: 5_121 - around))
        #expect(broken { () throws(InvalidField) in _ = try payload.serializedForBroadcast() }?.field == "payload")
        payload.liveActivity?.event = .end
        payload.custom = JSONObject()
        try payload.validateForBroadcast()
    }
}
