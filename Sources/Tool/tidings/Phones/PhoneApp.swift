public import ArgumentParser
import Foundation
import TidingsModel
public import VirtualPhone

/// The app of a phone: one that is built beside the tool, by name, or any executable, by path.
struct PhoneApp {
    let executable: String
    let extensionExecutable: String?
    let contentExtension: PhoneHost.ContentExtension?
    private let isChat: Bool

    private static let api = "http://127.0.0.1:7480"
    private static let app = "demo"

    static let names = "chat"

    /// A name without a slash is a known app's. Extensions are paths; `none` is an app without one, nil a known app's own.
    init(_ name: String, extension: String?, contentExtension: String?, categories: [String]) throws {
        let isChat = name == "chat"
        guard isChat || name.contains("/") else {
            throw ValidationError("--app must be one of \(Self.names), or the path of an executable, got \"\(name)\"")
        }
        guard isChat || FileManager.default.isExecutableFile(atPath: name) else {
            throw ValidationError("--app must be an executable file, got \"\(name)\"")
        }
        func path(_ given: String?, _ sibling: String) throws -> String? {
            if given == "none" { return nil }
            return try given ?? (isChat ? siblingExecutable(sibling) : nil)
        }
        self.isChat = isChat
        self.executable = isChat ? try siblingExecutable("ChatApp") : name
        self.extensionExecutable = try path(`extension`, "ChatNotificationService")
        self.contentExtension = try path(contentExtension, "ChatNotificationContent").map {
            PhoneHost.ContentExtension(executable: $0, categories: categories)
        }
    }

    /// Which delegate methods the app has, by their names in ios-delivery.md §0.3.
    enum Delegate: String, CaseIterable, ExpressibleByArgument {
        /// `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)` and the methods of
        /// `UNUserNotificationCenterDelegate`; the example app also has
        /// `application(_:didReceiveRemoteNotification:)` and `performFetch`.
        case modern
        /// The methods before iOS 10: remote and local notifications, `performFetch`, and the actions of iOS 8 and 9.
        case legacy
    }

    func installed(
        as bundle: BundleID, delegate: Delegate, lifecycle: LifecycleStyle?, appGroup: String
    ) -> InstalledApp {
        var installed = InstalledApp(
            bundleID: bundle, lifecycle: lifecycle ?? (delegate == .legacy ? .application : .scenes),
            hasServiceExtension: self.extensionExecutable != nil, appGroup: appGroup)
        if delegate == .legacy {
            installed.methods = [
                .receiveRemote, .receiveRemoteFetch, .receiveLocal, .performFetch, .actionRemote, .actionRemoteText,
                .actionLocal, .actionLocalText,
            ]
        }
        if self.isChat {
            installed.methods.formUnion([.receiveRemote, .performFetch])
            installed.backgroundModes.formUnion([.fetch, .voip])
            installed.permittedTasks = ["com.example.chat.refresh"]
        }
        return installed
    }

    /// What the example app is told: variables of the same name in the tool's environment that are not empty, and for whom it has a user token,
    /// which is TIDINGS_TOKEN, or requested with TIDINGS_API_KEY. Without one the app asks for user name and password.
    /// - Parameter own: the tool's environment.
    func environment(
        phone: String, given: [String: String], inheriting own: [String: String]
    ) async -> [String: String] {
        guard self.isChat else { return [:] }
        var variables = own.filter { $0.key.hasPrefix("CHAT_") && !$0.value.isEmpty }.merging(given) { $1 }
        let user = variables["CHAT_USER"] ?? phone
        if variables["CHAT_TOKEN"] == nil {
            variables["CHAT_TOKEN"] = await Self.token(app: variables["CHAT_APP_KEY"] ?? Self.app, user: user, own)
        }
        if variables["CHAT_TOKEN"] != nil { variables["CHAT_USER"] = user }
        return variables
    }

    private static func token(app: String, user: String, _ own: [String: String]) async -> String? {
        if let token = own["TIDINGS_TOKEN"], !token.isEmpty { return token }
        guard let key = own["TIDINGS_API_KEY"], !key.isEmpty else { return nil }
        var options = APIOptions()
        (options.api, options.apiKey, options.app) = (own["TIDINGS_API"] ?? Self.api, key, app)
        return try? await options.userToken(for: user, seconds: 86_400)
    }
}

extension LifecycleStyle: ExpressibleByArgument {}
