import ArgumentParser
import Foundation
import PhoneTerminal
import ScenarioCore
import TidingsModel
import VirtualPhone

/// The common options of the phones of a command: the app, and where APNs is.
struct PhoneOptions: ParsableArguments {
    @Option(help: "The local APNs' courier, host:port; none if left out.") var courier: String?
    @Option(help: "The app: \(PhoneApp.names), or the path of an executable.") var app = "chat"
    @Option(help: "The extension's executable; that of a named app if left out, 'none' for an app without one.")
    var `extension`: String?
    @Option(help: "The content extension's executable; that of a named app if left out, 'none' for an app without one.")
    var contentExtension: String?
    @Option(
        name: .customLong("content-category"), parsing: .singleValue,
        help: "A category of the content extension. May be given again.")
    var contentCategories = [PushInfo.category]
    @Option(help: "The app's bundle identifier.") var bundle = "com.example.chat"
    @Option(help: "App group shared by app and extension.") var appGroup = "group.com.example.chat"
    @Option(help: "Largest push in bytes instead of the system's (256 before iOS 8).") var payloadLimit: Int?
    @Option(
        name: .customLong("env"), parsing: .singleValue,
        help: ArgumentHelp("A variable for the app's processes. May be given again.", valueName: "name=value"))
    var environment: [String] = []
    @Option(help: "Background time in milliseconds instead of the system's (30,000 on iOS 17).") var backgroundTime:
        Int64?
    @Flag(help: "Give app and extension the entitlement by which an extension may discard alerts (iOS 13.3).")
    var filtering = false
    @Flag(help: "Give the app the entitlement for notifications of people (iOS 15), and let the example show them.")
    var communication = false

    func validate() throws {
        if let limit = self.payloadLimit, !(1...1_000_000).contains(limit) {
            throw ValidationError("--payload-limit must be 1 to 1000000 bytes, got \(limit)")
        }
        _ = try pairs(self.environment, of: "--env", "name=value")
        _ = try self.courierEndpoint()
    }

    /// One phone, as it is to be.
    struct Phone {
        var id: String
        var version: OSVersion
        var folder: String
        var delegate: PhoneApp.Delegate
        /// Nil for all that go with `delegate`.
        var methods: DelegateMethods?
        /// Nil for the one that goes with the delegate methods.
        var lifecycle: LifecycleStyle?
        /// Whose token the example app is given, if one can be had.
        var user: String
    }

    /// - Parameters:
    ///   - inherited: the variables of the tool of which the example app is told.
    /// - Throws: `ValidationError` with the option that is at fault, `InvalidField` for methods that the example has not, or `ToolFailure` if
    ///   the app is not built.
    func configuration(
        of phone: Phone, inheriting inherited: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> PhoneHost.Configuration {
        var variables = try pairs(self.environment, of: "--env", "name=value")
        let courier = try self.courierEndpoint()
        let app = try self.phoneApp()
        let own = await app.environment(phone: phone.user, given: variables, inheriting: inherited)
        variables.merge(own) { given, _ in given }
        var installed = try app.installed(
            as: BundleID(self.bundle), delegate: phone.delegate, methods: phone.methods, lifecycle: phone.lifecycle,
            appGroup: self.appGroup)
        installed.hasFilteringEntitlement = self.filtering
        if self.communication { installed.entitlements.insert(.communication) }
        variables.merge([
            "CHAT_APP_GROUP": self.appGroup, "CHAT_LIFECYCLE": installed.lifecycle.rawValue,
            "CHAT_DELEGATE": phone.delegate.rawValue, "CHAT_FILTERS": self.filtering ? "yes" : "no",
            "CHAT_COMMUNICATION": self.communication ? "yes" : "no",
        ]) { given, _ in given }
        if let methods = phone.methods {
            // Not what the tool's own environment says: it is this phone that was given them.
            variables["CHAT_IMPLEMENTS"] = MethodWords.words(of: methods).joined(separator: ",")
        }
        var configuration = PhoneHost.Configuration(
            phoneID: phone.id, osVersion: phone.version, folder: phone.folder, courier: courier,
            apps: [
                PhoneHost.App(
                    installed: installed, executable: app.executable, extensionExecutable: app.extensionExecutable,
                    contentExtension: app.contentExtension, environment: variables)
            ])
        configuration.settings.backgroundTaskTime = self.backgroundTime
        configuration.settings.payloadLimit = self.payloadLimit
        configuration.picture = PhoneTerminal.picture(screen:views:columns:rows:)
        return configuration
    }

    /// - Throws: `ValidationError` for a name that is no app's, `ToolFailure` if the app is not built.
    func phoneApp() throws -> PhoneApp {
        try PhoneApp(
            self.app, extension: self.extension, contentExtension: self.contentExtension,
            categories: self.contentCategories)
    }

    private func courierEndpoint() throws -> PhoneHost.Endpoint? {
        guard let courier = self.courier else { return nil }
        let parts = courier.split(separator: ":")
        guard parts.count == 2, let port = Int(parts[1]), (1...65_535).contains(port) else {
            throw ValidationError("--courier must be host:port, got \"\(courier)\"")
        }
        return PhoneHost.Endpoint(host: String(parts[0]), port: port)
    }
}
