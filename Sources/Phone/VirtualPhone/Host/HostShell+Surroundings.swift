import Foundation
import Glibc
import NIOCore
import PhoneCore
import TidingsModel

/// What comes from the courier.
extension HostShell {
    /// A push that somebody hands to the phone, without APNs.
    func handOver(_ push: Push) {
        self.lastOwnDelivery -= 1
        var numbered = push
        numbered.delivery = self.lastOwnDelivery
        self.engine.post(.courier(.pushArrived(numbered)))
    }

    func take(_ event: CourierClient.Event) {
        switch event {
        case .connected: self.note("courier", nil, [("state", "connected")])
        case .disconnected: self.note("courier", nil, [("state", "disconnected")])
        case .tokenIssued(let registration, let token)
        where self.kindsWanted.contains { $0.registration == registration }:
            self.note(
                "token", nil,
                [("topic", .string(registration.topic)), ("token", .string(token.rawValue))]
                    + Self.members(registration.activity))
            let answered = self.kindsWanted.filter { $0.registration == registration }
            self.kindsWanted.removeAll { $0.registration == registration }
            for wanted in answered { self.engine.post(.courier(.tokenOfKindIssued(wanted.app, wanted.kind, token))) }
        case .tokenIssued(let registration, let token):
            self.note("token", BundleID(registration.topic), [("token", .string(token.rawValue))])
            self.engine.post(.courier(.tokenIssued(BundleID(registration.topic), token)))
        case .registrationFailed(let registration, let reason):
            self.kindsWanted.removeAll { $0.registration == registration }
            self.engine.post(.courier(.registrationFailed(BundleID(registration.topic), reason: reason)))
        case .pushArrived(let push, let apnsID):
            self.note(
                "push", BundleID(push.topic),
                [
                    ("delivery", .int(push.delivery)), ("apns_id", .optional(apnsID)),
                    ("push_type", .optional(push.pushType)), ("collapse_id", .optional(push.collapseID)),
                    ("payload", .object(push.payload)),
                ] + Self.members(push.activity))
            self.engine.post(.courier(.pushArrived(push)))
        case .refused(let fault): self.note("courier", nil, [("state", "refused"), ("text", .string("\(fault)"))])
        }
    }

    private static func members(_ activity: String?) -> [(String, JSONValue)] {
        activity.map { [("activity", .string($0))] } ?? []
    }
}

/// What the core wants done.
extension HostShell: PhoneSurroundings {
    var now: Now {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Now(
            monotonic: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000),
            wall: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    func startProcess(_ process: ProcessID) {
        guard !self.isStopping,
            let app = self.configuration.apps.first(where: { $0.installed.bundleID == process.app })
        else { return }
        let isApp = process.role == .app
        self.spawn(
            process, of: app, executable: isApp ? app.executable : app.extensionExecutable ?? app.executable,
            role: isApp ? .app : .notificationService)
    }

    /// Starts the operating-system process.
    func spawn(_ process: ProcessID, of app: PhoneHost.App, executable: String, role: PhoneProcessFacts.Role) {
        let folders = PhoneFolders(root: self.configuration.folder)
        let home = folders.protectedHome(of: process.app, process.role)
        var groups: [String: String] = [:]
        if let group = app.installed.appGroup { groups[group] = folders.protectedGroup(group) }
        let facts = PhoneProcessFacts(
            role: role, bundleID: process.app.rawValue,
            osVersion: self.configuration.osVersion.description, phoneID: self.configuration.phoneID, home: home,
            groups: groups, entitlements: app.installed.entitlements, keychain: folders.protectedKeychain)
        if role == .app { self.screens[process.app] = nil }
        let token = UUID().uuidString
        var environment = app.environment
        let inherited = ProcessInfo.processInfo.environment
        for name in ["PATH", "LD_LIBRARY_PATH", "LANG", "TZ", "SWIFT_BACKTRACE"] {
            if let value = inherited[name], environment[name] == nil { environment[name] = value }
        }
        environment["HOME"] = home
        environment["TMPDIR"] = folders.protectedTemporary(of: process.app, process.role)
        // Foundation's home and preferences follow this one (CoreFoundation, `CFCopyHomeDirectoryURL`).
        environment["CFFIXED_USER_HOME"] = home
        environment[PhoneEnvironment.socket] = self.socketPath
        environment[PhoneEnvironment.token] = token
        environment[PhoneEnvironment.facts] = facts.json.text
        self.processes[process] = Hosted(token: token)
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        let loop = self.loop
        do {
            let child = try ChildProcess.start(
                executable: executable, environment: environment,
                // Before the first unlock the home is out of reach.
                folder: FileManager.default.fileExists(atPath: home) ? home : "/",
                output: "\(self.configuration.folder)/apps/\(process.app)/output.log"
            ) { end in
                loop.execute { bound.value.ended(process, end) }
            }
            self.processes[process]?.child = child
            self.unreaped[process] = child
            self.note(
                "process_spawned", process.app,
                [("process", .string(process.description)), ("pid", .int(child.processIdentifier))])
        } catch {
            self.processes[process] = nil
            self.note("fault", process.app, [("text", .string("\(error)"))])
            self.tellEnd(of: process, crashed: true)
        }
    }

    /// A process is gone.
    func tellEnd(of process: ProcessID, crashed: Bool) {
        guard process.role == .contentExtension else {
            return self.engine.post(.process(process, .exited(crashed: crashed)))
        }
        self.contentExtensionEnded(process)
    }

    func suspendProcess(_ process: ProcessID) {
        self.processes[process]?.child?.suspend()
        self.note("process_stopped", process.app, [("process", .string(process.description))])
    }

    func resumeProcess(_ process: ProcessID) {
        self.processes[process]?.child?.resume()
        self.note("process_resumed", process.app, [("process", .string(process.description))])
    }

    func killProcess(_ process: ProcessID) {
        guard let hosted = self.processes.removeValue(forKey: process) else { return }
        self.forget(hosted)
        hosted.child?.kill()
        hosted.channel?.close(promise: nil)
    }

    func send(_ message: HostMessage, to process: ProcessID) {
        guard let hosted = self.processes[process] else { return }
        if let channel = hosted.channel {
            channel.writeLine(message.json)
        } else {
            self.processes[process]?.waiting.append(message)
        }
    }

    func registerTopic(_ app: BundleID) {
        self.courier?.register(self.registration(app.rawValue, of: app))
        guard self.courier == nil else { return }
        self.engine.post(.courier(.registrationFailed(app, reason: "the phone has no courier")))
    }

    func unregisterTopic(_ app: BundleID) {
        self.courier?.unregister(self.registration(app.rawValue, of: app))
    }

    func requestToken(_ kind: TokenKind, for app: BundleID) {
        let registration = self.registration(kind, of: app)
        self.kindsWanted.append((registration, app, kind))
        self.courier?.register(registration)
    }

    func dropToken(_ kind: TokenKind, of app: BundleID) {
        self.kindsWanted.removeAll { $0.app == app && $0.kind == kind }
        self.courier?.unregister(self.registration(kind, of: app))
    }

    private func registration(_ kind: TokenKind, of app: BundleID) -> TokenRegistration {
        let topic = kind.topic(of: app)
        return switch kind {
        case .activity(let activity): self.registration(topic, of: app, activity: activity)
        case .voip, .pushToStart: self.registration(topic, of: app)
        }
    }

    private func registration(_ topic: String, of app: BundleID, activity: String? = nil) -> TokenRegistration {
        TokenRegistration(topic: topic, environment: self.pushEnvironment(of: app), activity: activity)
    }

    func subscribe(_ app: BundleID, channel: String) {
        self.courier?.subscribe(
            ChannelSubscription(topic: app.rawValue, environment: self.pushEnvironment(of: app), channel: channel))
    }

    func unsubscribe(_ app: BundleID, channel: String) {
        self.courier?.unsubscribe(
            ChannelSubscription(topic: app.rawValue, environment: self.pushEnvironment(of: app), channel: channel))
    }

    func invalidateTokens(of app: BundleID) {
        // The courier gives a new token to a topic that was given up; its Live Activities have ended before.
        self.courier?.unregister(self.registration(app.rawValue, of: app))
        for kind in [TokenKind.voip, .pushToStart] { self.courier?.unregister(self.registration(kind, of: app)) }
    }

    private func pushEnvironment(of app: BundleID) -> PushEnvironment {
        self.configuration.apps.first { $0.installed.bundleID == app }?.pushEnvironment ?? .sandbox
    }

    func acknowledge(delivery: UInt64) {
        guard delivery < self.lastOwnDelivery else { return }
        self.courier?.acknowledge(delivery: delivery)
    }

    func connectCourier() { self.courier?.open() }
    func disconnectCourier() { self.courier?.close() }
    func record(_ record: PhoneRecord) { self.trace.append(record.json) }

    /// Closes the folders before the first unlock, and opens them after it.
    private func protectFolders() {
        let isProtected = self.engine.phone.screen.lock == .beforeFirstUnlock
        guard self.foldersAreProtected != isProtected else { return }
        self.foldersAreProtected = isProtected
        do {
            try PhoneFolders(root: self.configuration.folder).setProtected(isProtected)
        } catch {
            self.note("fault", nil, [("text", .string("the phone's folder cannot be protected: \(error)"))])
        }
    }

    func settled(nextDeadline: Int64?) {
        self.answerPrompt()
        self.updateExpanded()
        self.protectFolders()
        guard self.alarm?.at != nextDeadline else { return }
        self.alarm?.task.cancel()
        guard let nextDeadline else {
            self.alarm = nil
            return
        }
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        let deadline = NIODeadline.uptimeNanoseconds(UInt64(max(0, nextDeadline)) * 1_000_000)
        let task = self.loop.scheduleTask(deadline: deadline) {
            bound.value.alarm = nil
            bound.value.engine.post(.timerReached)
        }
        self.alarm = (nextDeadline, task)
    }
}
