import TidingsModel

/// What the person allows the app on a device, as a person reads it, from the API's JSON.
enum StatusLine {
    /// The parts a person can turn off one by one, by their names in the API.
    private static let switches = ["alert", "sound", "badge", "lock_screen", "notification_center"]

    /// What is turned off, the waking in the background included; nil if nothing is.
    static func off(_ status: JSONValue) -> String? {
        var off = self.switches.filter { status[$0]?.boolValue == false }
        if let refresh = status["background_refresh"]?.stringValue, refresh != "available" {
            off.append("background_refresh (\(refresh))")
        }
        return off.isEmpty ? nil : "off: " + off.joined(separator: ", ")
    }

    /// Whether notifications are allowed: Apple's word for it.
    static func authorization(_ status: JSONValue) -> String { status["authorization"]?.stringValue ?? "?" }
}
