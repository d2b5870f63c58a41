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
            commands go to the control port too, one JSON object a line; docs/testing/phone-control.md has them all.

            \(Self.wordList)

            Exit status of a script: 0 if every step held, 1 if one failed (what the phone shows is printed), 64 if the \
            script cannot be read, 128 and its number if a signal ended it.
            """)

    @Option(help: "The phone's name, also at the local APNs.") var id = "phone"
    @Option(help: "iOS version, for example 17 or 17.4.") var ios = "17"
    @Option(help: "Folder for homes and app groups; made if missing.") var folder = "phone"
    @Option(help: "Control port on loopback; 0 takes a free one.") var controlPort = 0
    @OptionGroup var options: PhoneOptions
    @Option(help: "The app's delegate methods: modern, or legacy as before iOS 10.")
    var delegate = PhoneApp.Delegate.modern
    @Option(help: "Life cycle of the app: scenes or application; application if left out with --delegate legacy.")
    var lifecycle: LifecycleStyle?
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
        guard let data else { throw ValidationError("--script must be a file that can be read, got \"\(path)\"") }
        do {
            return .script(try Script(try FileText.read(data, field: "text")))
        } catch {
            throw ValidationError("--script \(path): \(error)")
        }
    }

    private func hostConfiguration(_ mode: PhoneTerminal.Mode) async throws -> PhoneHost.Configuration {
        guard let version = OSVersion(self.ios) else {
            throw ValidationError("--ios must be a version such as 17 or 17.4, got \"\(self.ios)\"")
        }
        var configuration = try await self.options.configuration(
            of: .init(
                id: self.id, version: version, folder: self.folder, delegate: self.delegate,
                lifecycle: self.lifecycle, user: self.id))
        configuration.controlPort = self.controlPort
        configuration.answersPrompts = self.answersPrompts(mode)
        return configuration
    }

    /// At a terminal the person answers; otherwise the answer is yes unless told otherwise.
    private func answersPrompts(_ mode: PhoneTerminal.Mode) -> Bool? {
        if self.denyNotifications { return false }
        if case .screen = mode { return nil }
        return self.askNotifications ? nil : true
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
