import Foundation
import NIOCore
import NIOPosix
import PhoneCore
import TidingsModel

/// Bound to one event loop.
final class HostShell {
    let configuration: PhoneHost.Configuration
    let loop: any EventLoop
    let trace: HostTrace
    let socketPath: String
    private let onQuit: () -> Void
    /// Nothing is started and no command accepted any more.
    private(set) var isStopping = false
    private var controls: [any Channel] = []
    private(set) lazy var engine = PhoneEngine(
        core: PhoneCore(
            version: self.configuration.osVersion, settings: self.configuration.settings,
            apps: self.configuration.apps.map(\.installed)), surroundings: self)
    var courier: CourierClient?
    private var listeners: [any Channel] = []
    var alarm: (at: Int64, task: Scheduled<Void>)?
    var processes: [ProcessID: Hosted] = [:]
    private var answersPrompts: Bool?
    var screens: [BundleID: JSONValue] = [:]
    let views: ShownViews
    var touches: [UInt64: Touch] = [:]
    var lastTouch: UInt64 = 0
    /// nil before the phone looked.
    var foldersAreProtected: Bool?
    /// Counts down, so that it never equals a number of the courier's.
    var lastOwnDelivery = UInt64.max
    /// Also those that the core has forgotten.
    var unreaped: [ProcessID: ChildProcess] = [:]
    var ending: [ProcessID: EventLoopPromise<Void>] = [:]

    /// The tokens of the processes that ended last without having introduced themselves.
    var endedTokens: [String] = []

    var expanded: Expanded?
    var expansions: UInt64 = 0
    var questions: UInt64 = 0

    var kindsWanted: [(request: TokenRequest, app: BundleID, kind: TokenKind)] = []

    struct Hosted {
        var token: String
        var child: ChildProcess?
        var channel: (any Channel)?
        /// For a process that has not introduced itself yet.
        var waiting: [HostMessage] = []
        /// The connection may still bring what the process said before its end.
        var end: ChildProcess.End?
    }

    init(
        configuration: PhoneHost.Configuration, socketPath: String, loop: any EventLoop, readers: TraceReaders,
        onQuit: @escaping () -> Void
    ) {
        self.configuration = configuration
        self.trace = HostTrace(readers: readers)
        self.views = ShownViews { readers.tellOfNews() }
        self.socketPath = socketPath
        self.loop = loop
        self.onQuit = onQuit
        self.answersPrompts = configuration.answersPrompts
    }

    var apps: [BundleID] { self.configuration.apps.map(\.installed.bundleID) }

    // MARK: On and off

    /// Returns the control channel's port, if there is one.
    func start() -> EventLoopFuture<Int?> {
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        if let address = self.configuration.courier {
            self.courier = CourierClient(phone: self.configuration.phoneID, address: address, loop: self.loop) {
                [weak self] event in self?.handleCourier(event)
            }
            self.courier?.open()
        }
        let children = ServerBootstrap(group: self.loop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(bound.value.processHandler())
                }
            }
            .bind(unixDomainSocketPath: self.socketPath, cleanupExistingSocketFile: true)
            .hop(to: self.loop)
        return children.flatMap { channel -> EventLoopFuture<Int?> in
            bound.value.listeners.append(channel)
            guard let port = bound.value.configuration.controlPort else {
                return bound.eventLoop.makeSucceededFuture(nil)
            }
            return bound.value.listenForControl(port: port)
        }
    }

    private func listenForControl(port: Int) -> EventLoopFuture<Int?> {
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        return ServerBootstrap(group: self.loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    bound.value.controls.append(channel)
                    try channel.pipeline.syncOperations.addHandler(ControlChannel(host: bound.value).handler)
                }
            }
            .bind(host: "127.0.0.1", port: port)
            .hop(to: self.loop)
            .flatMapErrorThrowing { error in
                throw InvalidField(field: "control_port", rule: "cannot be used: \(port): \(error)")
            }
            .map { channel in
                bound.value.listeners.append(channel)
                return channel.localAddress?.port
            }
    }

    /// Done when the last process is reaped.
    func stop() -> EventLoopFuture<Void> {
        self.isStopping = true
        self.alarm?.task.cancel()
        self.courier?.close()
        for channel in self.listeners + self.controls { channel.close(promise: nil) }
        self.processes = [:]
        for process in Set(self.touches.values.map(\.process)) { self.refuseTouches(of: process) }
        let ends = self.unreaped.keys.map { process -> EventLoopFuture<Void> in
            let promise = self.loop.makePromise(of: Void.self)
            self.ending[process] = promise
            return promise.futureResult
        }
        for child in self.unreaped.values { child.kill() }
        self.trace.finish()
        self.views.finish()
        let folder = (self.socketPath as NSString).deletingLastPathComponent
        return EventLoopFuture.andAllComplete(ends, on: self.loop).map {
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    func quit() { self.onQuit() }

    func forgetControl(_ channel: any Channel) {
        self.controls.removeAll { $0 === channel }
        self.trace.unsubscribe(channel)
        self.views.unsubscribe(channel)
    }

    // MARK: Commands

    /// A touch is answered by the app; everything else at once.
    func execute(_ command: PhoneCommand) throws(InvalidField) -> EventLoopFuture<JSONValue> {
        guard !self.isStopping else { throw InvalidField(field: "phone", rule: "is switched off") }
        guard case .touch(let app, let view, let action) = command else {
            return self.loop.makeSucceededFuture(try self.executeNow(command))
        }
        return try self.touch(view, action, in: app)
    }

    private func executeNow(_ command: PhoneCommand) throws(InvalidField) -> JSONValue {
        switch command {
        case .launch(let app): self.engine.post(.person(.appOpened(app)))
        case .home: self.engine.post(.person(.wentHome))
        case .lock: self.engine.post(.person(.locked))
        case .unlock: self.engine.post(.person(.unlocked))
        case .forceQuit(let app): self.engine.post(.person(.appForceQuit(app)))
        case .freeze(let app): self.engine.post(.system(.appFrozen(try self.running(app))))
        case .kill(let app): self.engine.post(.system(.appKilled(try self.running(app))))
        case .evict(let app): self.engine.post(.system(.appEvicted(try self.running(app))))
        case .tap(let id): self.engine.post(.person(.notificationTapped(try self.key(id))))
        case .dismiss(let id): self.engine.post(.person(.notificationDismissed(try self.key(id))))
        case .action(let id, let action, let text):
            let key = try self.key(id)
            guard !self.queryContentExtension(key, action: action, text: text) else { break }
            self.engine.post(.person(.actionPerformed(key, action: action, text: text)))
        case .expand(let id): return .members([("expanded", .bool(try self.expand(id)))])
        case .collapse: self.collapse()
        case .answerPrompts(let isAllowed):
            self.answersPrompts = isAllowed
            self.answerPrompt()
        case .setting(let app, let setting, let isOn):
            self.engine.post(.person(.settingChanged(app, setting, isOn: isOn)))
        case .airplane(let isOn): self.engine.post(.person(.airplaneModeChanged(isOn: isOn)))
        case .lowPower(let isOn): self.engine.post(.person(.lowPowerModeChanged(isOn: isOn)))
        case .focus(let isOn): self.engine.post(.person(.focusChanged(isOn ? Focus() : nil)))
        case .push(let push): self.deliverWithoutAPNs(push)
        case .overlay(let isOn): self.engine.post(.person(isOn ? .overlayAppeared : .overlayDisappeared))
        case .memoryLow: self.engine.post(.system(.memoryRanLow))
        case .restart:
            self.collapse()
            self.engine.post(.system(.restarted))
        case .input(let app, let value): try self.input(value, to: app)
        case .touch: break
        case .views(let app): return self.views.answer(for: app)
        case .picture(let columns, let rows): return try self.picture(columns: columns, rows: rows)
        case .screen: return self.screen
        case .trace(let after): return .members([("events", .array(self.trace.lines(after: after)))])
        case .change(let change): try self.execute(change)
        case .quit: self.onQuit()
        }
        return .members([])
    }

    func running(_ app: BundleID) throws(InvalidField) -> BundleID {
        guard self.engine.phone.state(of: app)?.hasProcess == true else {
            throw InvalidField(field: "app", rule: "does not run: \(app)")
        }
        return app
    }

    func key(_ identifier: String) throws(InvalidField) -> NotificationKey {
        let list = self.engine.phone.screen.list
        guard let entry = list.first(where: { $0.key.identifier == identifier }) else {
            throw InvalidField(field: "notification", rule: "is not in the list: \(identifier)")
        }
        return entry.key
    }

    private func input(_ value: JSONValue, to app: BundleID) throws(InvalidField) {
        guard let process = self.engine.phone.process(of: app), self.engine.phone.state(of: app)?.isInForeground == true
        else { throw InvalidField(field: "app", rule: "must be in the foreground to be touched: \(app)") }
        self.send(.input(value), to: process)
    }

    var screen: JSONValue {
        let phone = self.engine.phone
        let apps = self.apps.map { app -> (String, JSONMembers) in
            let process = phone.process(of: app).flatMap { self.processes[$0]?.child?.processIdentifier }
            return (
                app.rawValue,
                [
                    "state": phone.state(of: app)?.rawValue, "pid": process,
                    "screen": phone.state(of: app)?.hasProcess == true ? self.screens[app] : nil,
                    "donations": phone.donations(of: app), "settings": phone.notificationSettings(of: app)?.told,
                ]
            )
        }
        let expanded = self.expanded.map { expanded -> JSONMembers in
            [
                "app": expanded.key.app.rawValue, "notification": expanded.key.identifier, "screen": expanded.screen,
            ]
        }
        let further: JSONMembers = [
            "expanded": expanded, "texts": self.frontViews.flatMap(\.texts), "low_power": phone.isInLowPowerMode,
            "apps": JSONMembers(pairs: apps),
        ]
        return (phone.screen.members { phone.actions(of: $0) } + further).json
    }

    func answerPrompt() {
        guard let isAllowed = self.answersPrompts, self.engine.phone.screen.permissionPrompt != nil else { return }
        self.engine.post(.person(.permissionAnswered(allowed: isAllowed)))
    }

    func traceFault(_ app: BundleID?, _ text: String) { self.appendTrace("fault", app, [("text", .string(text))]) }

    func appendTrace(_ event: String, _ app: BundleID?, _ members: [(String, JSONValue)]) {
        self.trace.append(
            .members(
                [("event", .string(event)), ("wall", .int(self.now.wall)), ("app", .optional(app?.rawValue))] + members)
        )
    }
}
