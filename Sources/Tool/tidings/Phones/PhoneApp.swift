public import ArgumentParser
import Foundation
import ScenarioCore
import TidingsModel
public import VirtualPhone

/// The app of a phone: one that is built beside the tool, by name, or any executable, by path.
struct PhoneApp {
    let executable: String
    let extensionExecutable: String?
    let contentExtension: PhoneHost.ContentExtension?
    private let name: String

    private var isChat: Bool { self.name == Self.chat }

    private static let api = "http://127.0.0.1:7480"
    private static let app = "demo"

    private static let chat = "chat"
    static let names = Self.chat

    /// A name without a slash is a known app's. Extensions are paths; `none` is an app without one, nil a known app's own.
    init(_ name: String, extension: String?, contentExtension: String?, categories: [String]) throws {
        let isChat = name == Self.chat
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
        self.name = name
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

    /// The delegate methods that an app has with `delegate`, as far as is known of one that is not the example.
    static func methods(of delegate: Delegate, in app: String) -> DelegateMethods {
        var methods: DelegateMethods
        switch delegate {
        case .modern: methods = .modern
        case .legacy:
            methods = [
                .receiveRemote, .receiveRemoteFetch, .receiveLocal, .performFetch, .actionRemote, .actionRemoteText,
                .actionLocal, .actionLocalText,
            ]
        }
        if app == Self.chat { methods.formUnion([.receiveRemote, .performFetch]) }
        return methods
    }

    /// - Parameter methods: nil for all that the app has with `delegate`. The example does without the others; another app has to declare
    ///   just these.
    /// - Throws: `InvalidField` if the example has one of them not.
    func installed(
        as bundle: BundleID, delegate: Delegate, methods: DelegateMethods?, lifecycle: LifecycleStyle?, appGroup: String
    ) throws(InvalidField) -> InstalledApp {
        var installed = InstalledApp(
            bundleID: bundle, lifecycle: lifecycle ?? (delegate == .legacy ? .application : .scenes),
            hasServiceExtension: self.extensionExecutable != nil, appGroup: appGroup)
        let all = Self.methods(of: delegate, in: self.name)
        installed.methods = methods ?? all
        guard self.isChat else { return installed }
        if let surplus = MethodWords.words(of: installed.methods.subtracting(all)).first {
            let words = MethodWords.words(of: all).joined(separator: ", ")
            throw InvalidField(
                field: "implements",
                rule: "must be of what the example has with \(delegate.rawValue): \(words), got \"\(surplus)\"")
        }
        installed.backgroundModes.formUnion([.fetch, .voip])
        installed.permittedTasks = ["com.example.chat.refresh"]
        return installed
    }

    /// Returns the example app's environment: variables of the same name in the tool's environment that are not empty, and a user token,
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
