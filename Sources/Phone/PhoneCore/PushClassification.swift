import TidingsModel

/// A push or local request on its way to the person: what it is, and what the gates have left of it.
struct Arrival: Hashable, Sendable {
    /// What is shown; the extension may have changed its content.
    var request: NotificationRequest
    /// The payload as it came; empty for a local request.
    var payload: JSONObject
    var pushClass: PushClass
    var pushType: String?
    /// Whether a visible part may still be shown.
    var isVisible: Bool
    /// Whether the extension took the text away; its badge still counts (ios-delivery.md §10).
    var isFiltered = false

    var isLocal: Bool { self.pushClass == .local }
}

extension PushClass {
    /// The class of a payload (ios-delivery.md §3.1).
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
    /// The content of a payload as the phone shows it before any extension (ios-delivery.md §3.1).
    ///
    /// Keys of localised text become the app's own strings; a key it lacks stands for itself. Values of a wrong type
    /// count as missing.
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
    /// `aps.sound`: a name, "default", or a dictionary with `name`, `volume` and `critical`; nil for anything else.
    init?(payloadValue: JSONValue) {
        if let name = payloadValue.stringValue {
            self = name == "default" ? .standard : .named(name)
            return
        }
        guard payloadValue.objectValue != nil else { return nil }
        let name = payloadValue["name"]?.stringValue ?? "default"
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
    /// Whether an extension may change it: M of ios-delivery.md §3.1, short of the alert's text.
    var isMutable: Bool { self["aps"]?["mutable-content"]?.intValue == 1 }
}
