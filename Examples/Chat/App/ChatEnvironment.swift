import Foundation
import TidingsKit

/// What the example is told from outside. In an Xcode project these are constants and a sign-in screen.
struct ChatEnvironment {
    var serverURL: URL
    var appKey: AppID
    var user: UserID
    var token: String
    var appGroup: String
    var usesScenes: Bool

    /// Reads the environment.
    ///
    /// - Throws: `InvalidField` naming the variable and the rule.
    init(_ variables: [String: String] = ProcessInfo.processInfo.environment) throws {
        func value(_ name: String) throws -> String {
            guard let text = variables[name], !text.isEmpty else {
                throw InvalidField(field: name, rule: "must be set in the environment of the app")
            }
            return text
        }
        let address = try value("CHAT_SERVER_URL")
        guard let url = URL(string: address), let scheme = url.scheme, ["ws", "wss"].contains(scheme) else {
            throw InvalidField(field: "CHAT_SERVER_URL", rule: "must be a ws:// or wss:// address, got \(address)")
        }
        self.serverURL = url
        self.appKey = try AppID.validated(try value("CHAT_APP_KEY"), field: "CHAT_APP_KEY")
        self.user = try UserID.validated(try value("CHAT_USER"), field: "CHAT_USER")
        self.token = try value("CHAT_TOKEN")
        self.appGroup = variables["CHAT_APP_GROUP"] ?? "group.com.example.chat"
        switch variables["CHAT_LIFECYCLE"] {
        case nil, "scenes"?: self.usesScenes = true
        case "application"?: self.usesScenes = false
        case let other?:
            throw InvalidField(field: "CHAT_LIFECYCLE", rule: "must be scenes or application, got \(other)")
        }
    }
}
