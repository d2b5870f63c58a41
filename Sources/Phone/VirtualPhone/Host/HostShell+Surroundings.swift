import Foundation
import Glibc
import NIOCore
import PhoneCore
import TidingsModel

extension HostShell {
    /// Without APNs.
    func deliverWithoutAPNs(_ push: Push) {
        self.lastOwnDelivery -= 1
        var numbered = push
        numbered.delivery = self.lastOwnDelivery
        self.engine.post(.courier(.pushArrived(numbered)))
    }

    func handleCourier(_ event: CourierClient.Event) {
        switch event {
        case .connected: self.appendTrace("courier", nil, [("state", "connected")])
        case .disconnected: self.appendTrace("courier", nil, [("state", "disconnected")])
        case .tokenIssued(let request, let token) where self.kindsWanted.contains { $0.request == request }:
            self.appendTrace(
                "token", nil,
                [("topic", .string(request.topic)), ("token", .string(token.rawValue))] + Self.members(request.activity)
            )
            let answered = self.kindsWanted.filter { $0.request == request }
            self.kindsWanted.removeAll { $0.request == request }
            for wanted in answered { self.engine.post(.courier(.tokenOfKindIssued(wanted.app, wanted.kind, token))) }
        case .tokenIssued(let request, let token):
            self.appendTrace("token", BundleID(request.topic), [("token", .string(token.rawValue))])
            self.engine.post(.courier(.tokenIssued(BundleID(request.topic), token)))
        case .registrationFailed(let request, let reason):
            self.kindsWanted.removeAll { $0.request == request }
            self.engine.post(.courier(.registrationFailed(BundleID(request.topic), reason: reason)))
        case .pushArrived(let push, let apnsID):
            self.appendTrace(
                "push", BundleID(push.topic),
                [
                    ("delivery", .int(push.delivery)), ("apns_id", .optional(apnsID)),
                    ("push_type", .optional(push.pushType)), ("collapse_id", .optional(push.collapseID)),
                    ("payload", .object(push.payload)),
                ] + Self.members(push.activity))
            self.engine.post(.courier(.pushArrived(push)))
        case .refused(let fault):
            self.appendTrace("courier", nil, [("state", "refused"), ("text", .string("\(fault)"))])
        }
    }

    private static func members(_ activity: String?) -> [(String, JSONValue)] {
        activity.map { [("activity", .string($0))] } ?? []
    }
}

extension HostShell: PhoneSurroundings {
    var now: Now {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Now(
            monotonic: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000),
            wall: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    func carryOut(_ effect: PhoneEffect) {
        switch effect {
        case .startProcess(let process): self.startProcess(process)
        case .suspendProcess(let process): self.suspendProcess(process)
        case .resumeProcess(let process):
            self.processes[process]?.child?.resume()
            self.appendTrace("process_resumed", process.app, [("process", .string(process.description))])
        case .killProcess(let process): self.killProcess(process)
        case .registerTopic(let app):
            self.courier?.register(self.tokenRequest(app.rawValue, of: app))
            guard self.courier == nil else { return }
            self.engine.post(.courier(.registrationFailed(app, reason: "the phone has no courier")))
        case .unregisterTopic(let app): self.courier?.unregister(self.tokenRequest(app.rawValue, of: app))
        case .requestToken(let app, let kind):
            let request = self.tokenRequest(kind, of: app)
            self.kindsWanted.append((request, app, kind))
            self.courier?.register(request)
        case .dropToken(let app, let kind):
            self.kindsWanted.removeAll { $0.app == app && $0.kind == kind }
            self.courier?.unregister(self.tokenRequest(kind, of: app))
        case .subscribe(let app, let channel): self.courier?.subscribe(self.subscription(channel: channel, of: app))
        case .unsubscribe(let app, let channel): self.courier?.unsubscribe(self.subscription(channel: channel, of: app))
        case .invalidateTokens(let app):
            // The courier gives a new token to a topic that was given up; its Live Activities have ended before.
            self.courier?.unregister(self.tokenRequest(app.rawValue, of: app))
            for kind in [TokenKind.voip, .pushToStart] { self.courier?.unregister(self.tokenRequest(kind, of: app)) }
        case .acknowledge(let delivery):
            if delivery < self.lastOwnDelivery { self.courier?.acknowledge(delivery: delivery) }
        case .connectCourier: self.courier?.open()
        case .disconnectCourier: self.courier?.close()
        case .record(let record): self.trace.append(record.json)
        case .call, .answer: break
        }
    }

    private func startProcess(_ process: ProcessID) {
        guard !self.isStopping,
            let app = self.configuration.apps.first(where: { $0.installed.bundleID == process.app })
        else { return }
        let isApp = process.role == .app
        self.spawn(
            process, of: app, executable: isApp ? app.executable : app.extensionExecutable ?? app.executable,
            role: isApp ? .app : .notificationService)
    }

    func spawn(_ process: ProcessID, of app: PhoneHost.App, executable: String, role: PhoneProcessFacts.Role) {
        let folders = PhoneFolders(root: self.configuration.folder).protected
        let home = folders.home(of: process.app, process.role)
        var groups: [String: String] = [:]
        if let group = app.installed.appGroup { groups[group] = folders.group(group) }
        let facts = PhoneProcessFacts(
            role: role, bundleID: process.app.rawValue,
            osVersion: self.configuration.osVersion.description, phoneID: self.configuration.phoneID, home: home,
            groups: groups, entitlements: app.installed.entitlements, keychain: folders.keychain)
        if role == .app { self.screens[process.app] = nil }
        let token = UUID().uuidString
        var environment = app.environment
        let inherited = ProcessInfo.processInfo.environment
        for name in ["PATH", "LD_LIBRARY_PATH", "LANG", "TZ", "SWIFT_BACKTRACE"] {
            if let value = inherited[name], environment[name] == nil { environment[name] = value }
        }
        environment["HOME"] = home
        environment["TMPDIR"] = home + "/tmp"
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
            ) { end in loop.execute { bound.value.handleChildEnd(process, end) } }
            self.processes[process]?.child = child
            self.unreaped[process] = child
            self.appendTrace(
                "process_spawned", process.app,
                [("process", .string(process.description)), ("pid", .int(child.processIdentifier))])
        } catch {
            self.processes[process] = nil
            self.traceFault(process.app, "\(error)")
            self.reportEnd(of: process, crashed: true)
        }
    }

    func reportEnd(of process: ProcessID, crashed: Bool) {
        guard process.role == .contentExtension else {
            return self.engine.post(.process(process, .exited(crashed: crashed)))
        }
        self.handleContentExtensionEnd(process)
    }

    func suspendProcess(_ process: ProcessID) {
        self.processes[process]?.child?.suspend()
        self.appendTrace("process_stopped", process.app, [("process", .string(process.description))])
    }

    func killProcess(_ process: ProcessID) {
        guard let hosted = self.processes.removeValue(forKey: process) else { return }
        self.rememberEndedToken(of: hosted)
        self.refuseTouches(of: process)
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

    private func tokenRequest(_ kind: TokenKind, of app: BundleID) -> TokenRequest {
        let activity: String? = if case .activity(let name) = kind { name } else { nil }
        return self.tokenRequest(kind.topic(of: app), of: app, activity: activity)
    }

    private func tokenRequest(_ topic: String, of app: BundleID, activity: String? = nil) -> TokenRequest {
        TokenRequest(topic: topic, environment: self.pushEnvironment(of: app), activity: activity)
    }

    private func subscription(channel: String, of app: BundleID) -> ChannelSubscription {
        ChannelSubscription(topic: app.rawValue, environment: self.pushEnvironment(of: app), channel: channel)
    }

    private func pushEnvironment(of app: BundleID) -> PushEnvironment {
        self.configuration.apps.first { $0.installed.bundleID == app }?.pushEnvironment ?? .sandbox
    }

    /// Closes the folders before the first unlock, and opens them after it.
    private func protectFolders() {
        let isProtected = self.engine.phone.screen.lock == .beforeFirstUnlock
        guard self.foldersAreProtected != isProtected else { return }
        self.foldersAreProtected = isProtected
        do {
            try PhoneFolders(root: self.configuration.folder).setProtected(isProtected)
        } catch {
            self.traceFault(nil, "the phone's folder cannot be protected: \(error)")
        }
    }

    func settled(nextDeadline: Int64?) {
        self.answerPrompt()
        self.forgetHiddenViews()
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
