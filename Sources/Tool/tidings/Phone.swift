import ArgumentParser
import Foundation
import PhoneTerminal
import TidingsModel
import VirtualPhone

struct Phone: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a virtual iPhone in the terminal: every app and extension is a process of its own.",
        discussion: """
            On a terminal it shows what the phone shows, with its trace beside it, and takes keys; ? lists them. With \
            --script it does what a file says, and otherwise it prints its trace, one line an event. In every case \
            commands go to the control port too, one JSON object a line; docs/virtual-phone.md has them all.

            \(Self.wordList)

            Exit status of a script: 0 if every step held, 1 if one failed (what the phone shows is printed), 64 if the \
            script cannot be read, 128 and its number if a signal ended it.
            """)

    @Option(help: "The phone's name, also at the local APNs.") var id = "phone"
    @Option(help: "iOS version, for example 17 or 17.4.") var ios = "17"
    @Option(help: "Folder for homes and app groups; made if missing.") var folder = "phone"
    @Option(help: "The local APNs' courier, host:port; none if left out.") var courier: String?
    @Option(help: "Control port on loopback; 0 takes a free one.") var control = 0
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
    @Option(help: "The app's delegate methods: modern, or legacy as before iOS 10.")
    var delegate = PhoneApp.Delegate.modern
    @Option(help: "Life cycle of the app: scenes or application; application if left out with --delegate legacy.")
    var lifecycle: LifecycleStyle?
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
    @Flag(help: "Deny notifications instead of allowing them when the app asks.") var denyNotifications = false
    @Flag(help: "Leave the question for notifications to keys, script or control port; so it is on a terminal.")
    var askNotifications = false
    @Option(help: ArgumentHelp("Do what a file says, '-' for standard input.", valueName: "file")) var script: String?
    @Flag(help: "Print the trace as lines also on a terminal.") var plain = false

    func validate() throws {
        guard !(self.denyNotifications && self.askNotifications) else {
            throw ValidationError("--deny-notifications and --ask-notifications cannot both be given")
        }
        guard !(self.plain && self.script != nil) else {
            throw ValidationError("--plain and --script cannot both be given")
        }
    }

    func run() async throws {
        let mode = try self.mode()
        let configuration = try await self.hostConfiguration(mode)
        let host = try PhoneHost(configuration: configuration)
        try await host.start()
        let port = host.controlPort ?? 0
        if case .screen = mode {} else { print("control port \(port)") }
        fflush(nil)
        let title = "\(self.id)  iOS \(configuration.osVersion)  control port \(port)"
        let status = await PhoneTerminal.run(host, title: title, mode: mode)
        await host.stop()
        guard status == 0 else { throw ExitCode(status) }
    }

    private func mode() throws -> PhoneTerminal.Mode {
        guard let path = self.script else { return self.plain ? .lines : try PhoneTerminal.mode() }
        let data =
            path == "-" ? FileHandle.standardInput.readDataToEndOfFile() : FileManager.default.contents(atPath: path)
        guard let data, let text = String(data: data, encoding: .utf8) else {
            throw ValidationError("--script must be a readable file in UTF-8, got \"\(path)\"")
        }
        do {
            return .script(try Script(text))
        } catch {
            throw ValidationError("--script \(path): \(error)")
        }
    }

    private func hostConfiguration(_ mode: PhoneTerminal.Mode) async throws -> PhoneHost.Configuration {
        guard let version = OSVersion(self.ios) else {
            throw ValidationError("--ios must be a version such as 17 or 17.4, got \"\(self.ios)\"")
        }
        if let limit = self.payloadLimit, !(1...1_000_000).contains(limit) {
            throw ValidationError("--payload-limit must be 1 to 1000000 bytes, got \(limit)")
        }
        var variables = try pairs(self.environment, of: "--env", "name=value")
        let courier = try self.courierEndpoint()
        let app = try PhoneApp(
            self.app, extension: self.extension, contentExtension: self.contentExtension,
            categories: self.contentCategories)
        let inherited = await app.environment(phone: self.id, given: variables)
        variables.merge(inherited) { given, _ in given }
        var installed = app.installed(
            as: BundleID(self.bundle), delegate: self.delegate, lifecycle: self.lifecycle, appGroup: self.appGroup)
        installed.hasFilteringEntitlement = self.filtering
        if self.communication { installed.entitlements.insert(.communication) }
        variables.merge([
            "CHAT_APP_GROUP": self.appGroup, "CHAT_LIFECYCLE": installed.lifecycle.rawValue,
            "CHAT_DELEGATE": self.delegate.rawValue, "CHAT_FILTERS": self.filtering ? "yes" : "no",
            "CHAT_COMMUNICATION": self.communication ? "yes" : "no",
        ]) { given, _ in given }
        var configuration = PhoneHost.Configuration(
            phoneID: self.id, osVersion: version, folder: self.folder, courier: courier,
            apps: [
                PhoneHost.App(
                    installed: installed, executable: app.executable, extensionExecutable: app.extensionExecutable,
                    contentExtension: app.contentExtension, environment: variables)
            ], controlPort: self.control, answersPrompts: self.answersPrompts(mode))
        configuration.settings.backgroundTaskTime = self.backgroundTime
        configuration.settings.payloadLimit = self.payloadLimit
        configuration.picture = PhoneTerminal.picture(screen:views:columns:rows:)
        return configuration
    }

    /// At a terminal the person answers; otherwise the answer is yes unless told otherwise.
    private func answersPrompts(_ mode: PhoneTerminal.Mode) -> Bool? {
        if self.denyNotifications { return false }
        if case .screen = mode { return nil }
        return self.askNotifications ? nil : true
    }

    private func courierEndpoint() throws -> PhoneHost.Endpoint? {
        guard let courier = self.courier else { return nil }
        let parts = courier.split(separator: ":")
        guard parts.count == 2, let port = Int(parts[1]), (1...65_535).contains(port) else {
            throw ValidationError("--courier must be host:port, got \"\(courier)\"")
        }
        return PhoneHost.Endpoint(host: String(parts[0]), port: port)
    }

    private static var wordList: String {
        let words = TerminalWord.all.map { word in
            let key = word.key.map { "  (key \($0))" } ?? ""
            return "  \(word.word)\(word.form.isEmpty ? "" : " " + word.form): \(word.meaning)\(key)"
        }
        let more = Script.words.map { "  \($0.form): \($0.meaning)" }
        return "Words of a script, one step a line, # for a comment:\n" + (words + more).joined(separator: "\n")
    }
}
