import ArgumentParser
import Foundation
import TidingsModel
import VirtualPhone

/// The app of a phone: one that is built beside the tool, by name, or any executable, by path.
struct PhoneApp {
    let executable: String
    let extensionExecutable: String?
    let contentExtension: PhoneHost.ContentExtension?
    private let isChat: Bool

    private static let known = [
        (
            name: "chat", executable: "ChatApp", extension: "ChatNotificationService",
            contentExtension: "ChatNotificationContent"
        )
    ]

    /// The defaults of `tidings serve`.
    private static let gateway = "ws://127.0.0.1:7400"
    private static let api = "http://127.0.0.1:7480"
    private static let phoneRoutes = "http://127.0.0.1:7481"

    static var names: String { self.known.map(\.name).joined(separator: ", ") }

    /// - Parameters: - name: a known name, or a path, which has a slash. - extension: a path; `none` for an app
    /// without one; nil for a known app's own. The same for `contentExtension`.
    init(_ name: String, extension: String?, contentExtension: String?, categories: [String]) throws {
        let known = Self.known.first { $0.name == name }
        let content =
            contentExtension == "none"
            ? nil : try contentExtension ?? known.map { try siblingExecutable($0.contentExtension) }
        self.contentExtension = content.map { PhoneHost.ContentExtension(executable: $0, categories: categories) }
        if let known {
            self.executable = try siblingExecutable(known.executable)
            self.extensionExecutable =
                `extension` == "none" ? nil : try `extension` ?? siblingExecutable(known.extension)
        } else if name.contains("/") {
            guard FileManager.default.isExecutableFile(atPath: name) else {
                throw ValidationError("--app must be an executable file, got \"\(name)\"")
            }
            self.executable = name
            self.extensionExecutable = `extension` == "none" ? nil : `extension`
        } else {
            throw ValidationError("--app must be one of \(Self.names), or the path of an executable, got \"\(name)\"")
        }
        self.isChat = name == "chat"
    }

    /// Which delegate methods the app has, by their names in ios-delivery.md §0.3.
    enum Delegate: String {
        /// `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)` and the methods of
        /// `UNUserNotificationCenterDelegate`; the example app also has
        /// `application(_:didReceiveRemoteNotification:)` and `performFetch`.
        case modern
        /// The methods before iOS 10: remote and local notifications, `performFetch`, and the actions of iOS 8 and 9.
        case legacy
    }

    /// Must match what the app declares.
    func installed(
        as bundle: BundleID, delegate: Delegate, lifecycle: LifecycleStyle?, appGroup: String
    ) -> InstalledApp {
        var installed = InstalledApp(
            bundleID: bundle, lifecycle: lifecycle ?? (delegate == .legacy ? .application : .scenes),
            hasServiceExtension: self.extensionExecutable != nil, appGroup: appGroup)
        switch delegate {
        case .modern: break
        case .legacy:
            installed.methods = [
                .receiveRemote, .receiveRemoteFetch, .receiveLocal, .performFetch, .actionRemote, .actionRemoteText,
                .actionLocal, .actionLocalText,
            ]
        }
        if self.isChat {
            installed.methods.formUnion([.receiveRemote, .performFetch])
            installed.backgroundModes.insert(.fetch)
            installed.permittedTasks = ["com.example.chat.refresh"]
        }
        return installed
    }

    /// What the example app needs and was not given: variables of the same name in the tool's environment, then the
    /// defaults of `tidings serve`. The user token is TIDINGS_TOKEN, or requested with TIDINGS_API_KEY; without one
    /// the app runs and the server refuses it.
    func environment(phone: String, given: [String: String]) async -> [String: String] {
        guard self.isChat else { return [:] }
        let own = ProcessInfo.processInfo.environment
        var variables = own.filter { $0.key.hasPrefix("CHAT_") }.merging(given) { $1 }
        let defaults = ["CHAT_SERVER_URL": Self.gateway, "CHAT_APP_KEY": "demo", "CHAT_USER": phone]
        variables.merge(defaults) { given, _ in given }
        // An extension token goes to the server it is from, never to another one that happens to be there.
        if variables["CHAT_API_URL"] == nil {
            variables["CHAT_API_URL"] = variables["CHAT_SERVER_URL"] == Self.gateway ? Self.phoneRoutes : nil
        }
        if variables["CHAT_TOKEN"] == nil {
            variables["CHAT_TOKEN"] = await Self.token(
                app: variables["CHAT_APP_KEY"] ?? "", user: variables["CHAT_USER"] ?? "", own)
        }
        return variables
    }

    private static func token(app: String, user: String, _ own: [String: String]) async -> String {
        if let token = own["TIDINGS_TOKEN"], !token.isEmpty { return token }
        guard let key = own["TIDINGS_API_KEY"], !key.isEmpty else { return "none" }
        let answer = try? await HTTP.json(
            "POST", "\(own["TIDINGS_API"] ?? Self.api)/v1/apps/\(app)/tokens", key: key,
            body: ["user": .string(user), "expires_in_seconds": 86_400])
        return answer?["token"]?.stringValue ?? "none"
    }
}
