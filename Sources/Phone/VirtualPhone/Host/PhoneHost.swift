import Dispatch
import Foundation
import Glibc
import NIOCore
import NIOPosix
public import PhoneCore
import Synchronization
public import TidingsModel

/// A virtual iPhone whose apps are operating-system processes: suspended is SIGSTOP, resumed SIGCONT, killed SIGKILL.
///
/// The host owns the phone's core, its clocks, the connection to a local APNs and a control channel. Every process of an
/// app or extension has its own home folder and shares the folders of its app groups. Nothing that is sent to or by a
/// stopped process is lost. When the host ends, its processes end; after a crash of the host the running ones notice their
/// closed socket, the stopped ones are ended by the kernel.
public final class PhoneHost: Sendable {
    /// Where something listens.
    public struct Endpoint: Hashable, Sendable {
        /// A name or an address.
        public var host: String
        /// 1 to 65535.
        public var port: Int

        /// A place to connect to.
        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// An app to install, with its code.
    public struct App: Sendable {
        /// The phone's knowledge of it.
        public var installed: InstalledApp
        /// The path of its executable, whose main runs `VirtualApp.run`.
        public var executable: String
        /// The path of its extension's executable, whose main runs `VirtualExtension.run`; nil without an extension.
        public var extensionExecutable: String?
        /// Its content extension; nil without one.
        public var contentExtension: ContentExtension?
        /// The environment of its processes beside what the phone sets.
        public var environment: [String: String]
        /// Which of Apple's sides its tokens belong to.
        public var pushEnvironment: PushEnvironment

        /// An app.
        public init(
            installed: InstalledApp, executable: String, extensionExecutable: String? = nil,
            contentExtension: ContentExtension? = nil,
            environment: [String: String] = [:], pushEnvironment: PushEnvironment = .sandbox
        ) {
            self.installed = installed
            self.executable = executable
            self.extensionExecutable = extensionExecutable
            self.contentExtension = contentExtension
            self.environment = environment
            self.pushEnvironment = pushEnvironment
        }
    }

    /// A notification content extension to install, with its code.
    public struct ContentExtension: Hashable, Sendable {
        /// The path of its executable, whose main runs `VirtualExtension.run(screen:)`.
        public var executable: String
        /// The categories it is for: `UNNotificationExtensionCategory` in its Info.plist.
        public var categories: [String]

        /// A content extension.
        public init(executable: String, categories: [String]) {
            self.executable = executable
            self.categories = categories
        }
    }

    /// The parts of a phone.
    public struct Configuration: Sendable {
        /// The phone's name, also at the courier.
        public var phoneID: String
        /// The system.
        public var osVersion: OSVersion
        /// Where homes, app groups and output are kept; made if it does not exist.
        public var folder: String
        /// The courier of a local APNs; nil for a phone without APNs.
        public var courier: Endpoint?
        /// The apps.
        public var apps: [App]
        /// Times, limits and quirks. A shorter background time is `settings.backgroundTaskTime`.
        public var settings: PhoneSettings
        /// The port of the control channel on the loopback interface: nil for none, 0 for a free one.
        public var controlPort: Int?
        /// How permission prompts are answered: nil leaves them to the control channel.
        public var answersPrompts: Bool?
        /// Draws what the person sees, of its `screen` answer and the views in the foreground, as so many columns and rows of text.
        package var picture: (@Sendable (JSONValue, [ViewNode], Int, Int) -> [String])?

        /// A phone.
        public init(
            phoneID: String, osVersion: OSVersion = 17, folder: String, courier: Endpoint? = nil, apps: [App],
            settings: PhoneSettings = PhoneSettings(), controlPort: Int? = nil, answersPrompts: Bool? = nil
        ) {
            self.phoneID = phoneID
            self.osVersion = osVersion
            self.folder = folder
            self.courier = courier
            self.apps = apps
            self.settings = settings
            self.controlPort = controlPort
            self.answersPrompts = answersPrompts
        }
    }

    private struct Running {
        var group: MultiThreadedEventLoopGroup
        var shell: NIOLoopBound<HostShell>
        var controlPort: Int?
    }

    private let configuration: Configuration
    private let running = Mutex<Running?>(nil)
    /// Also while it is being switched on or off.
    private let isOn = Atomic(false)
    let readers = TraceReaders()
    private let quitting = QuitSignal()

    /// A phone that is switched off.
    ///
    /// - Throws: `InvalidField` if there is no app, two have the same bundle, an executable cannot be run, or the background
    ///   time is below a second.
    public init(configuration: Configuration) throws(InvalidField) {
        self.configuration = try configuration.validated()
    }

    /// The control channel's port while the phone is on.
    public var controlPort: Int? { self.running.withLock { $0?.controlPort } }

    /// Switches the phone on and stays until `quit`, SIGTERM or SIGINT; then ends its processes.
    public func run() async throws {
        let signals = [SIGTERM, SIGINT].map { number in
            let before = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            let quitting = self.quitting
            source.setEventHandler { quitting.signal() }
            source.resume()
            return (number, source, before)
        }
        defer {
            for (number, source, before) in signals {
                source.cancel()
                signal(number, before)
            }
        }
        try await self.start()
        await self.waitUntilQuit()
        await self.stop()
    }

    /// Switches the phone on.
    ///
    /// - Throws: `InvalidField` if it is on already, or the folder or the control port cannot be used.
    public func start() async throws {
        let wasOn = self.isOn.exchange(true, ordering: .sequentiallyConsistent)
        guard !wasOn else { throw InvalidField(field: "phone", rule: "is switched on already") }
        do {
            try await self.switchOn()
        } catch {
            self.isOn.store(false, ordering: .sequentiallyConsistent)
            throw error
        }
    }

    private func switchOn() async throws {
        let socket = try Self.prepareFolders(self.configuration)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let configuration = self.configuration
        let quitting = self.quitting
        let readers = self.readers
        let shell = try await loop.submit {
            NIOLoopBound(
                HostShell(configuration: configuration, socketPath: socket, loop: loop, readers: readers) {
                    quitting.signal()
                }, eventLoop: loop)
        }.get()
        self.running.withLock { $0 = Running(group: group, shell: shell, controlPort: nil) }
        do {
            let port = try await loop.flatSubmit { shell.value.start() }.get()
            self.running.withLock { $0?.controlPort = port }
        } catch {
            await self.stop()
            throw error
        }
    }

    /// Ends the phone's processes and connections.
    public func stop() async {
        guard let running = self.running.withLock({ $0.take() }) else { return }
        let shell = running.shell
        let loop = running.group.next()
        try? await loop.flatSubmit { shell.value.stop() }.get()
        try? await running.group.shutdownGracefully()
        self.quitting.reset()
        self.isOn.store(false, ordering: .sequentiallyConsistent)
    }

    /// Does something to the phone, or asks it something.
    ///
    /// - Returns: what was asked for; an empty object otherwise.
    /// - Throws: `InvalidField` if it cannot be done now; nothing was changed, unless by a touch that the app did not answer.
    @discardableResult
    public func perform(_ command: PhoneCommand) async throws(InvalidField) -> JSONValue {
        try await self.askShell { shell throws(InvalidField) in try shell.execute(command) }
    }

    /// Returns the content of the screen: the `screen` command's answer, and the views of the app in the foreground, back to front.
    package func look() async throws(InvalidField) -> (screen: JSONValue, views: [ViewNode]) {
        try await self.askShell { shell in shell.loop.makeSucceededFuture((shell.screen, shell.frontViews)) }
    }

    func askShell<Answer: Sendable>(
        _ question: @escaping @Sendable (HostShell) throws(InvalidField) -> EventLoopFuture<Answer>
    ) async throws(InvalidField) -> Answer {
        let isOff = InvalidField(field: "phone", rule: "is switched off")
        guard let shell = self.running.withLock({ $0?.shell }), let loop = self.running.withLock({ $0?.group.next() })
        else { throw isOff }
        do {
            return try await loop.flatSubmit { () -> EventLoopFuture<Answer> in
                do throws(InvalidField) { return try question(shell.value) } catch {
                    return loop.makeFailedFuture(error)
                }
            }.get()
        } catch { throw error as? InvalidField ?? isOff }
    }

    /// The trace's lines from now on, as the control channel's `subscribe` sends them; also those of a phone that is
    /// switched on later. Ends when the phone is switched off.
    public func events() -> AsyncStream<JSONValue> { self.readers.stream() }

    /// Waits for the control channel's `quit`; returns at once if it was given since the phone was switched on.
    public func waitUntilQuit() async { await self.quitting.wait() }

    /// Returns the path of the socket to listen on, short enough for a socket's name.
    private static func prepareFolders(_ configuration: Configuration) throws(InvalidField) -> String {
        let folders = PhoneFolders(root: configuration.folder)
        do {
            for app in configuration.apps { try folders.make(for: app.installed) }
            try folders.setProtected(false)
        } catch {
            throw InvalidField(
                field: "folder", rule: "cannot be used: \(configuration.folder): \(error.localizedDescription)")
        }
        // A socket's path holds 107 bytes, so it does not live in the phone's folder (unix(7)).
        var template = Array("\(NSTemporaryDirectory())/phone-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw InvalidField(field: "TMPDIR", rule: "must be a folder in which files can be made")
        }
        return String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) + "/socket"
    }
}

/// Signalled once, seen by every waiter, gone with the next start.
private final class QuitSignal: Sendable {
    private struct State {
        var isSignalled = false
        var waiting: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    func signal() {
        let waiting = self.state.withLock { state in
            state.isSignalled = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }

    func reset() { self.state.withLock { $0.isSignalled = false } }

    func wait() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let isSignalled = self.state.withLock { state in
            if !state.isSignalled { state.waiting.append(continuation) }
            return state.isSignalled
        }
        if isSignalled { return }
        // Also ends when the task is cancelled.
        for await _ in stream {}
    }
}

extension PhoneHost.Configuration {
    /// With absolute paths.
    func validated() throws(InvalidField) -> PhoneHost.Configuration {
        var checked = self
        _ = try DeviceID.validated(self.phoneID, field: "phone_id")
        guard !self.apps.isEmpty else { throw InvalidField(field: "apps", rule: "must not be empty") }
        var seen: Set<BundleID> = []
        for index in self.apps.indices {
            let app = self.apps[index]
            _ = try BundleID.validated(app.installed.bundleID.rawValue, field: "apps.bundle_id")
            guard !app.installed.bundleID.rawValue.contains("/") else {
                throw InvalidField(field: "apps.bundle_id", rule: "must not contain a slash")
            }
            guard seen.insert(app.installed.bundleID).inserted else {
                throw InvalidField(field: "apps.bundle_id", rule: "must not repeat: \(app.installed.bundleID)")
            }
            checked.apps[index].executable = try Self.executable(app.executable, field: "apps.executable")
            if let content = app.contentExtension {
                checked.apps[index].contentExtension?.executable = try Self.executable(
                    content.executable, field: "apps.content_extension.executable")
                guard !content.categories.isEmpty else {
                    throw InvalidField(field: "apps.content_extension.categories", rule: "must not be empty")
                }
            }
            if let path = app.extensionExecutable {
                checked.apps[index].extensionExecutable = try Self.executable(path, field: "apps.extension_executable")
            } else if app.installed.hasServiceExtension {
                throw InvalidField(
                    field: "apps.extension_executable", rule: "is missing for \(app.installed.bundleID)")
            }
        }
        if let time = self.settings.backgroundTaskTime, time < 1_000 {
            throw InvalidField(field: "settings.background_task_time", rule: "must be at least 1000 ms, got \(time)")
        }
        checked.folder = URL(fileURLWithPath: self.folder).standardizedFileURL.path
        return checked
    }

    private static func executable(_ path: String, field: String) throws(InvalidField) -> String {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        guard FileManager.default.isExecutableFile(atPath: absolute) else {
            throw InvalidField(field: field, rule: "must be an executable file: \(absolute)")
        }
        return absolute
    }
}
