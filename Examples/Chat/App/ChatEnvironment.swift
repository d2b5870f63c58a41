import Foundation
import TidingsKit
import UIKit

/// What the example is told from outside. In an Xcode project the scheme sets the variables; in an app of yours, constants and a
/// sign-in screen stand in their place.
struct ChatEnvironment {
    var serverURL: URL
    /// Where the notification service extension fetches missed messages and writes receipts; without it, it does neither.
    var apiURL: URL?
    var appKey: AppID
    var user: UserID
    var token: String
    var appGroup: String
    var usesScenes: Bool
    /// Whether it registers for calls (iOS 10).
    var takesCalls: Bool
    /// Whether it has the entitlement for notifications of people (iOS 15).
    var showsPeople: Bool
    var delegate: Delegate

    /// Which delegate runs: `AppDelegate`, or `LegacyAppDelegate` as before iOS 10.
    enum Delegate: String { case modern, legacy }

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
        if let address = variables["CHAT_API_URL"] {
            guard let url = URL(string: address), let scheme = url.scheme, ["http", "https"].contains(scheme) else {
                throw InvalidField(
                    field: "CHAT_API_URL", rule: "must be an http:// or https:// address, got \(address)")
            }
            self.apiURL = url
        }
        self.appKey = try AppID.validated(try value("CHAT_APP_KEY"), field: "CHAT_APP_KEY")
        self.user = try UserID.validated(try value("CHAT_USER"), field: "CHAT_USER")
        self.token = try value("CHAT_TOKEN")
        self.takesCalls = variables["CHAT_CALLS"] == "yes"
        self.showsPeople = variables["CHAT_COMMUNICATION"] == "yes"
        self.appGroup = variables["CHAT_APP_GROUP"] ?? "group.com.example.chat"
        let name = variables["CHAT_DELEGATE"] ?? Delegate.modern.rawValue
        guard let delegate = Delegate(rawValue: name) else {
            throw InvalidField(field: "CHAT_DELEGATE", rule: "must be modern or legacy, got \(name)")
        }
        self.delegate = delegate
        switch variables["CHAT_LIFECYCLE"] {
        case nil: self.usesScenes = delegate == .modern
        case "scenes"? where delegate == .legacy:
            throw InvalidField(field: "CHAT_LIFECYCLE", rule: "must be application with the delegate legacy")
        case "scenes"?: self.usesScenes = true
        case "application"?: self.usesScenes = false
        case let other?:
            throw InvalidField(field: "CHAT_LIFECYCLE", rule: "must be scenes or application, got \(other)")
        }
    }
}

extension ChatEnvironment {
    /// The process's own. A variable that is missing ends the app with its name.
    static var ofProcess: ChatEnvironment {
        do { return try ChatEnvironment() } catch { fatalError("\(error)") }
    }
}

extension UIDevice {
    /// The system's version, 17 for iOS 17.4. `#available` knows the machine's, not a virtual phone's.
    var majorVersion: Int { self.systemVersion.split(separator: ".").first.flatMap { Int($0) } ?? 0 }
}
