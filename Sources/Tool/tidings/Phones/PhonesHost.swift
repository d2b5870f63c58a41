import Foundation
import PhoneCore
import ScenarioCore
import TidingsModel
import VirtualPhone

/// The phones of `tidings phones`, by their names. Every app and extension of each is a process of its own.
actor PhonesHost {
    /// A phone that is on.
    struct Hosted: Sendable {
        let setup: HostedPhoneSetup
        let app: InstalledApp
        let host: PhoneHost
        /// Another one at every start: a number of the trace is of one start alone.
        let start: String

        var json: JSONValue {
            [
                "id": .string(self.setup.id), "user": .string(self.setup.user),
                "app": .string(self.app.bundleID.rawValue), "ios": .string(self.setup.versionText),
                "lifecycle": .string(self.app.lifecycle.rawValue), "delegate": .string(self.setup.delegate.rawValue),
                "implements": .array(MethodWords.words(of: self.app.methods).map { .string($0) }), "can_change": true,
            ]
        }
    }

    /// Each is a thread and up to three processes.
    static let phonesMax = 16

    private let options: PhoneOptions
    private let folder: String
    private let inherited: [String: String]
    private var phones: [String: Hosted] = [:]
    /// Names whose phone is being started or ended: the folder is one phone's at a time.
    private var busy: Set<String> = []
    private var isStopping = false

    /// - Parameters:
    ///   - options: what all of them have in common.
    ///   - folder: each has a folder of its own in it.
    ///   - environment: the tool's. Who is signed in on one phone is not on all of them, so a token for one person is left out.
    init(_ options: PhoneOptions, folder: String, environment: [String: String]) {
        self.options = options
        self.folder = folder
        self.inherited = environment.filter { !["CHAT_USER", "CHAT_TOKEN", "TIDINGS_TOKEN"].contains($0.key) }
    }

    /// The choices when a phone is started: the delegate methods that the app has with each delegate.
    var choices: JSONValue {
        .members(
            PhoneApp.Delegate.allCases.map { delegate in
                let methods = PhoneApp.methods(of: delegate, in: self.options.app)
                return (delegate.rawValue, .array(MethodWords.words(of: methods).map { .string($0) }))
            })
    }

    var list: [Hosted] { self.phones.values.sorted { $0.setup.id < $1.setup.id } }

    func phone(_ id: String) -> Hosted? { self.phones[id] }

    /// Starts a phone; one of that name ends first, and its folder stays.
    ///
    /// - Throws: `InvalidField` if there are too many, another request starts or ends it, or it cannot be started.
    func start(_ setup: HostedPhoneSetup) async throws -> Hosted {
        let id = setup.id
        try self.enter(id)
        defer { self.busy.remove(id) }
        let others = Set(self.phones.keys).union(self.busy).subtracting([id])
        guard others.count < Self.phonesMax else {
            throw InvalidField(
                field: "id", rule: "must be of one of \(Self.phonesMax) phones at most: end another first")
        }
        let configuration = try await self.options.configuration(
            of: .init(
                id: id, version: setup.version, folder: "\(self.folder)/\(id)", delegate: setup.delegate,
                methods: setup.methods, lifecycle: setup.style, user: setup.user), inheriting: self.inherited)
        guard let app = configuration.apps.first?.installed else { throw ToolFailure("a phone without an app") }
        let host = try PhoneHost(configuration: configuration)
        await self.phones.removeValue(forKey: id)?.host.stop()
        try await host.start()
        let hosted = Hosted(setup: setup, app: app, host: host, start: UUID().uuidString)
        guard !self.isStopping else {
            await host.stop()
            throw Self.stopping
        }
        self.phones[id] = hosted
        return hosted
    }

    /// - Returns: whether there was one.
    /// - Throws: `InvalidField` if another request starts or ends it.
    func end(_ id: String) async throws(InvalidField) -> Bool {
        try self.enter(id)
        defer { self.busy.remove(id) }
        guard let phone = self.phones.removeValue(forKey: id) else { return false }
        await phone.host.stop()
        return true
    }

    /// Ends all of them, and starts none any more.
    func stop() async {
        self.isStopping = true
        let all = self.list
        self.phones = [:]
        await withTaskGroup { group in for phone in all { group.addTask { await phone.host.stop() } } }
    }

    private func enter(_ id: String) throws(InvalidField) {
        guard !self.isStopping else { throw Self.stopping }
        guard self.busy.insert(id).inserted else {
            throw InvalidField(field: "id", rule: "must wait: \(id) is being started or ended")
        }
    }

    private static var stopping: InvalidField {
        InvalidField(field: "id", rule: "must wait: all phones are being ended")
    }
}

extension HostedPhoneSetup {
    /// The version as a person writes it: `17`, `9.3`.
    var versionText: String { self.version.minor == 0 ? "\(self.version.major)" : "\(self.version)" }
}
