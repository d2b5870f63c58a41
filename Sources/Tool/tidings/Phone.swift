import ArgumentParser
import Foundation
import TidingsModel
import VirtualPhone

/// `tidings phone`: a virtual iPhone in the terminal.
struct Phone: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a virtual iPhone: every app and extension is a process of its own.",
        discussion: """
            Prints the phone's trace, one line an event. Commands go to the control port, one JSON object a line, for \
            example {"do":"launch"}, {"do":"home"}, {"do":"freeze"}, {"do":"tap","notification":"…"}; docs/virtual-phone.md \
            lists them. By default the phone carries the example app of Examples/Chat.
            """)

    @Option(help: "The phone's name, also at the local APNs.") var id = "phone"
    @Option(help: "iOS version, for example 17 or 17.4.") var ios = "17"
    @Option(help: "Folder for homes and app groups; made if missing.") var folder = "phone"
    @Option(help: "The local APNs' courier, host:port; none if left out.") var courier: String?
    @Option(help: "Control port on loopback; 0 takes a free one.") var control = 0
    @Option(help: "The app's bundle identifier.") var bundle = "com.example.chat"
    @Option(help: "The app's executable; the example app if left out.") var app: String?
    @Option(help: "The extension's executable; the example's if left out, 'none' for an app without one.")
    var `extension`: String?
    @Option(help: "App group shared by app and extension.") var appGroup = "group.com.example.chat"
    @Option(help: "Life cycle of the app: scenes or application.") var lifecycle = "scenes"
    @Option(
        name: .customLong("env"), parsing: .singleValue,
        help: ArgumentHelp("A variable for the app's processes. May be given again.", valueName: "name=value"))
    var environment: [String] = []
    @Option(help: "Background time in milliseconds instead of the system's (30,000 on iOS 17).") var backgroundTime:
        Int64?
    @Flag(help: "Deny notifications instead of allowing them when the app asks.") var denyNotifications = false

    func run() async throws {
        let host = try PhoneHost(configuration: self.hostConfiguration())
        try await host.start()
        print("control port \(host.controlPort ?? 0)")
        fflush(nil)
        let printing = Task {
            for await event in host.events() {
                print(PhoneLine(event).text)
                fflush(nil)
            }
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await Signals.wait(for: [SIGTERM, SIGINT]) }
            group.addTask { await host.waitUntilQuit() }
            await group.next()
            group.cancelAll()
        }
        await host.stop()
        printing.cancel()
    }

    private func hostConfiguration() throws -> PhoneHost.Configuration {
        guard let version = OSVersion(self.ios) else {
            throw ValidationError("--ios must be a version such as 17 or 17.4, got \"\(self.ios)\"")
        }
        guard let lifecycle = LifecycleStyle(rawValue: self.lifecycle) else {
            throw ValidationError("--lifecycle must be scenes or application, got \"\(self.lifecycle)\"")
        }
        let extensionPath =
            self.extension == "none" ? nil : try self.extension ?? siblingExecutable("ChatNotificationService")
        var variables = ["CHAT_APP_GROUP": self.appGroup, "CHAT_LIFECYCLE": self.lifecycle]
        for pair in self.environment {
            guard let equals = pair.firstIndex(of: "="), equals != pair.startIndex else {
                throw ValidationError("--env must be name=value, got \"\(pair)\"")
            }
            variables[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
        }
        let app = PhoneHost.App(
            installed: InstalledApp(
                bundleID: BundleID(self.bundle), lifecycle: lifecycle, hasServiceExtension: extensionPath != nil,
                appGroup: self.appGroup),
            executable: try self.app ?? siblingExecutable("ChatApp"), extensionExecutable: extensionPath,
            environment: variables)
        var configuration = PhoneHost.Configuration(
            phoneID: self.id, osVersion: version, folder: self.folder, courier: try self.courierEndpoint(), apps: [app],
            controlPort: self.control, answersPrompts: !self.denyNotifications)
        configuration.settings.backgroundTaskTime = self.backgroundTime
        return configuration
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

/// One event of a phone's trace as a line for people.
struct PhoneLine {
    let text: String

    init(_ event: JSONValue) {
        let milliseconds = event["wall"]?.intValue ?? 0
        let seconds = milliseconds / 1_000 % 86_400
        let time = String(
            format: "%02d:%02d:%02d.%03d", seconds / 3_600, seconds / 60 % 60, seconds % 60, milliseconds % 1_000)
        let skipped: Set<String> = ["event", "wall", "app", "n"]
        let members = event.objectValue?.members.filter { !skipped.contains($0.key) && $0.value != .null } ?? []
        let rest = members.map { "\($0.key)=\($0.value.stringValue ?? $0.value.text)" }.joined(separator: " ")
        self.text =
            "\(time)  \((event["event"]?.stringValue ?? "?").padding(toLength: 15, withPad: " ", startingAt: 0))  \(rest)"
    }
}
