import Foundation
import TidingsKit
import UIKit

/// What the app is made with: addresses, and what it has of the system. Constants, so that iOS can launch it for a push, a tap or a reply. The
/// addresses of whoever signed in are remembered with them; variables stand in for a scheme or a test.
struct AppConfiguration: Sendable {
    /// Where the app's servers are.
    struct Addresses: Codable, Hashable, Sendable {
        /// The app's own backend, which signs people in (Examples/Backend).
        var backend = Self.url("http://127.0.0.1:7490")
        /// Tidings' gateway.
        var server = Self.url("ws://127.0.0.1:7400")
        /// Where the notification service extension fetches missed messages and writes receipts; without it, it does neither.
        var api: URL? = Self.url("http://127.0.0.1:7481")
        /// The app on that server.
        var appKey = "demo"

        /// An address written in the source, so that the path is never taken.
        private static func url(_ text: StaticString) -> URL { URL(string: "\(text)") ?? URL(fileURLWithPath: "/") }
    }

    /// Which delegate runs: `AppDelegate`, or `LegacyAppDelegate` as before iOS 10.
    enum Delegate: String {
        case modern, legacy

        /// The delegate methods that stand in its code and that iOS asks about before it calls, in the words of docs/testing/scenarios.md.
        var methods: [String] {
            switch self {
            case .modern:
                [
                    "didReceiveRemoteNotification", "didReceiveRemoteNotificationFetch", "performFetch", "willPresent",
                    "didReceive",
                ]
            case .legacy:
                [
                    "didReceiveRemoteNotification", "didReceiveRemoteNotificationFetch", "didReceiveLocalNotification",
                    "performFetch", "handleRemoteAction", "handleRemoteActionWithResponseInfo", "handleLocalAction",
                    "handleLocalActionWithResponseInfo",
                ]
            }
        }
    }

    var addresses = Addresses()
    /// Whether variables say where the servers are; they hold whatever is remembered.
    var addressesAreGiven = false
    var appGroup = "group.com.example.chat"
    /// As the Info.plist says on an iPhone.
    var usesScenes = true
    /// Whether it registers for calls (iOS 10).
    var takesCalls = false
    /// Whether it has the entitlement for notifications of people (iOS 15).
    var showsPeople = false
    var delegate = Delegate.modern
    /// Those of the delegate's methods with which the app runs; without the others it runs on a virtual phone as if they were not in its code.
    var methods = Delegate.modern.methods
    /// What the sign-in screen proposes.
    var proposedUser: String?
    /// Somebody who is signed in without the screen, with a user token that is not renewed; for tests.
    var given: (user: UserID, token: String)?
    /// Of the app; with it the installation is pushed to while nobody is signed in.
    var clientKey: String?

    /// The constants alone.
    init() {}

    /// The constants, with what was remembered and what variables say.
    ///
    /// - Throws: `InvalidField` naming the variable and the rule.
    init(_ variables: [String: String], remembered: Addresses?) throws {
        if let remembered { self.addresses = remembered }
        self.addressesAreGiven = ["CHAT_BACKEND_URL", "CHAT_SERVER_URL", "CHAT_API_URL", "CHAT_APP_KEY"]
            .contains { variables[$0] != nil }
        if let url = try Self.url(variables, "CHAT_BACKEND_URL", ["http", "https"]) { self.addresses.backend = url }
        if let url = try Self.url(variables, "CHAT_SERVER_URL", ["ws", "wss"]) {
            // What belongs to one server goes to no other that happens to be there.
            if url != self.addresses.server { self.addresses.api = nil }
            self.addresses.server = url
        }
        if let url = try Self.url(variables, "CHAT_API_URL", ["http", "https"]) { self.addresses.api = url }
        if let key = variables["CHAT_APP_KEY"] {
            self.addresses.appKey = try AppID.validated(key, field: "CHAT_APP_KEY").rawValue
        }
        self.appGroup = variables["CHAT_APP_GROUP"] ?? self.appGroup
        self.takesCalls = variables["CHAT_CALLS"] == "yes"
        self.showsPeople = variables["CHAT_COMMUNICATION"] == "yes"
        self.clientKey = variables["CHAT_CLIENT_KEY"]
        self.proposedUser = variables["CHAT_USER"]
        if let token = variables["CHAT_TOKEN"] {
            let user = try UserID.validated(variables["CHAT_USER"] ?? "", field: "CHAT_USER")
            self.given = (user, token)
        }
        try self.readLifecycle(variables)
    }

    private mutating func readLifecycle(_ variables: [String: String]) throws {
        let name = variables["CHAT_DELEGATE"] ?? Delegate.modern.rawValue
        guard let delegate = Delegate(rawValue: name) else {
            throw InvalidField(field: "CHAT_DELEGATE", rule: "must be modern or legacy, got \(name)")
        }
        self.delegate = delegate
        self.methods = try Self.methods(variables, of: delegate)
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

    private static func methods(_ variables: [String: String], of delegate: Delegate) throws -> [String] {
        guard let text = variables["CHAT_IMPLEMENTS"] else { return delegate.methods }
        let names = text.split(separator: ",").map(String.init)
        for name in names where !delegate.methods.contains(name) {
            throw InvalidField(
                field: "CHAT_IMPLEMENTS",
                rule: "must have with the delegate \(delegate.rawValue) names of "
                    + "\(delegate.methods.joined(separator: ", ")), separated by commas, got \(name)")
        }
        return delegate.methods.filter { names.contains($0) }
    }

    private static func url(_ variables: [String: String], _ name: String, _ schemes: [String]) throws -> URL? {
        guard let text = variables[name] else { return nil }
        guard let url = URL(string: text), let scheme = url.scheme, schemes.contains(scheme), url.host != nil else {
            let forms = schemes.map { "\($0)://" }.joined(separator: " or ")
            throw InvalidField(field: name, rule: "must be an address with \(forms), got \(text)")
        }
        return url
    }
}

extension AppConfiguration {
    /// The process's own. Variables that say nothing sensible are told of, and not followed.
    static var ofProcess: AppConfiguration {
        do {
            return try AppConfiguration(
                ProcessInfo.processInfo.environment, remembered: AccountStore().signedIn?.addresses)
        } catch {
            NSLog("chat: %@", "\(error)")
            return AppConfiguration()
        }
    }
}

extension UIDevice {
    /// The system's version, 17 for iOS 17.4. `#available` knows the machine's, not a virtual phone's.
    var majorVersion: Int { self.systemVersion.split(separator: ".").first.flatMap { Int($0) } ?? 0 }
}
