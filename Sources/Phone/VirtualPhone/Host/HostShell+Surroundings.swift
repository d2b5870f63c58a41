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
        case .tokenIssued(let topic, let token) where self.tokenWishes.contains { $0.topic == topic }:
            self.note("token", nil, [("topic", .string(topic)), ("token", .string(token.rawValue))])
            let answered = self.tokenWishes.filter { $0.topic == topic }
            self.tokenWishes.removeAll { $0.topic == topic }
            for wish in answered { self.engine.post(.courier(.tokenOfKindIssued(wish.app, wish.kind, token))) }
        case .tokenIssued(let topic, let token):
            self.note("token", BundleID(topic), [("token", .string(token.rawValue))])
            self.engine.post(.courier(.tokenIssued(BundleID(topic), token)))
        case .registrationFailed(let topic, let reason):
            self.engine.post(.courier(.registrationFailed(BundleID(topic), reason: reason)))
        case .pushArrived(let push, let apnsID):
            self.note(
                "push", BundleID(push.topic),
                [
                    ("delivery", .int(push.delivery)), ("apns_id", .optional(apnsID)),
                    ("push_type", .optional(push.pushType)), ("collapse_id", .optional(push.collapseID)),
                    ("payload", .object(push.payload)),
                ])
            self.engine.post(.courier(.pushArrived(push)))
        case .refused(let fault): self.note("courier", nil, [("state", "refused"), ("text", .string("\(fault)"))])
        }
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
        guard let app = self.configuration.apps.first(where: { $0.installed.bundleID == process.app }) else { return }
        let isApp = process.role == .app
        let folders = PhoneFolders(root: self.configuration.folder)
        let home = folders.protectedHome(of: process.app, isApp: isApp)
        var groups: [String: String] = [:]
        if let group = app.installed.appGroup { groups[group] = folders.protectedGroup(group) }
        let facts = PhoneProcessFacts(
            role: isApp ? .app : .notificationService, bundleID: process.app.rawValue,
            osVersion: self.configuration.osVersion.description, phoneID: self.configuration.phoneID, home: home,
            groups: groups, entitlements: app.installed.entitlements)
        if isApp { self.screens[process.app] = nil }
        let token = UUID().uuidString
        var environment = app.environment
        let inherited = ProcessInfo.processInfo.environment
        for name in ["PATH", "LD_LIBRARY_PATH", "LANG", "TMPDIR", "TZ", "SWIFT_BACKTRACE"] {
            if let value = inherited[name], environment[name] == nil { environment[name] = value }
        }
        environment["HOME"] = home
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
                executable: isApp ? app.executable : app.extensionExecutable ?? app.executable,
                environment: environment, output: "\(self.configuration.folder)/apps/\(process.app)/output.log"
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
            self.engine.post(.process(process, .exited(crashed: true)))
        }
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
        self.courier?.register(topic: app.rawValue, environment: self.pushEnvironment(of: app))
        guard self.courier == nil else { return }
        self.engine.post(.courier(.registrationFailed(app, reason: "the phone has no courier")))
    }

    func unregisterTopic(_ app: BundleID) {
        self.courier?.unregister(topic: app.rawValue, environment: self.pushEnvironment(of: app))
    }

    func requestToken(_ kind: TokenKind, for app: BundleID) {
        let topic = kind.topic(of: app)
        self.tokenWishes.append(TokenWish(topic: topic, app: app, kind: kind))
        self.courier?.register(topic: topic, environment: self.pushEnvironment(of: app))
    }

    func dropToken(_ kind: TokenKind, of app: BundleID) {
        let topic = kind.topic(of: app)
        self.tokenWishes.removeAll { $0.app == app && $0.kind == kind }
        self.courier?.unregister(topic: topic, environment: self.pushEnvironment(of: app))
    }

    func invalidateTokens(of app: BundleID) {
        // The courier gives a new token to a topic that was given up.
        let environment = self.pushEnvironment(of: app)
        self.courier?.unregister(topic: app.rawValue, environment: environment)
        for kind in [TokenKind.voip, .pushToStart] {
            self.courier?.unregister(topic: kind.topic(of: app), environment: environment)
        }
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
