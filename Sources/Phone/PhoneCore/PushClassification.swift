import TidingsModel

struct Arrival: Hashable, Sendable {
    /// The extension may have changed its content.
    var request: NotificationRequest
    /// The payload as it came; empty for a local request.
    var payload: JSONObject
    var pushClass: PushClass
    var pushType: String?
    var isVisible: Bool
    /// The extension removed the text; its badge still counts (ios-delivery.md §10).
    var isFiltered = false

    var isLocal: Bool { self.pushClass == .local }
}

extension PushClass {
    /// ios-delivery.md §3.1.
    init(payload: JSONObject, pushType: String?, quirks: Quirks) {
        guard let aps = payload["aps"] else {
            self = .nothing
            return
        }
        let wakes = aps["content-available"]?.intValue == 1
        var isVisible = ["alert", "sound", "badge"].contains { key in aps[key].map { $0 != .null } ?? false }
        if quirks.pushTypeMismatchHides {
            if pushType == "background" { isVisible = false }
            if pushType == "alert", aps["alert"] == nil {
                self = .nothing
                return
            }
        }
        switch (isVisible, wakes) {
        case (true, true): self = .alertAndContent
        case (true, false): self = .alert
        case (false, true): self = .content
        case (false, false): self = .nothing
        }
    }
}

extension NotificationContent {
    /// Makes the content as the phone shows it before any extension (ios-delivery.md §3.1). A localization key that the app lacks stands
    /// for itself; values of a wrong type count as missing.
    init(payload: JSONObject, strings: [String: String] = [:]) {
        let aps = payload["aps"]
        let alert = aps?["alert"]
        let text = { (plain: String, key: String, arguments: String) -> String in
            LocalizedText.text(alert, plain: plain, key: key, arguments: arguments, strings: strings)
        }
        self.init(
            title: text("title", "title-loc-key", "title-loc-args"),
            subtitle: text("subtitle", "subtitle-loc-key", "subtitle-loc-args"),
            body: alert?.stringValue ?? text("body", "loc-key", "loc-args"),
            badge: aps?["badge"]?.intValue.map { Int(clamping: max(0, $0)) },
            sound: (aps?["sound"]).flatMap(NotificationSound.init(payloadValue:)), userInfo: payload,
            categoryIdentifier: aps?["category"]?.stringValue ?? "",
            threadIdentifier: aps?["thread-id"]?.stringValue ?? "",
            targetContentIdentifier: aps?["target-content-id"]?.stringValue,
            interruptionLevel: aps?["interruption-level"]?.stringValue.flatMap(
                InterruptionLevel.init(payloadWord:)) ?? .active,
            relevanceScore: Self.score(aps?["relevance-score"]),
            launchImageName: alert?["launch-image"]?.stringValue ?? "",
            summaryArgument: alert?["summary-arg"]?.stringValue ?? "",
            summaryArgumentCount: Int(clamping: max(1, alert?["summary-arg-count"]?.intValue ?? 1)),
            filterCriteria: aps?["filter-criteria"]?.stringValue)
    }

    private static func score(_ value: JSONValue?) -> Double {
        guard case .number(let number)? = value else { return 0 }
        return min(1, max(0, number.double))
    }
}

extension NotificationSound {
    /// A name, "default", or a dictionary with `name`, `volume` and `critical`; nil for anything else.
    init?(payloadValue: JSONValue) {
        guard payloadValue.stringValue != nil || payloadValue.objectValue != nil else { return nil }
        let name = payloadValue.stringValue ?? payloadValue["name"]?.stringValue ?? "default"
        guard payloadValue["critical"]?.intValue == 1 else {
            self = name == "default" ? .standard : .named(name)
            return
        }
        var volume = 1.0
        if case .number(let number)? = payloadValue["volume"] { volume = min(1, max(0, number.double)) }
        self = .critical(name: name == "default" ? nil : name, volume: volume)
    }
}

extension JSONObject {
    /// M of ios-delivery.md §3.1, short of the alert's text.
    var isMutable: Bool { self["aps"]?["mutable-content"]?.intValue == 1 }
}
