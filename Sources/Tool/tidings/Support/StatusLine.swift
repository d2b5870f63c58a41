import TidingsModel

/// Describes the person's permissions for the app on a device, from the API's JSON.
enum StatusLine {
    private static let switches = ["alert", "sound", "badge", "lock_screen", "notification_center"]

    /// Nil if nothing is turned off.
    static func off(_ status: JSONValue) -> String? {
        var off = self.switches.filter { status[$0]?.boolValue == false }
        if let refresh = status["background_refresh"]?.stringValue, refresh != "available" {
            off.append("background_refresh (\(refresh))")
        }
        return off.isEmpty ? nil : "off: " + off.joined(separator: ", ")
    }

    static func authorization(_ status: JSONValue) -> String { status["authorization"]?.stringValue ?? "?" }
}
