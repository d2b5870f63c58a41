import Foundation
package import PhoneCore
package import TidingsModel

/// A suspended app is not called, but nothing can stop its tasks.
extension VirtualPhone: @preconcurrency PhoneSurroundings {
    package var now: Now { Now(monotonic: self.monotonic, wall: self.wallStart + self.monotonic) }

    package func carryOut(_ effect: PhoneEffect) {
        switch effect {
        case .startProcess(let process): self.startProcess(process)
        case .killProcess(let process):
            self.openCalls = self.openCalls.filter { $0.process != process }
            self.mail.removeAll { $0.process == process }
            self.processes.removeValue(forKey: process)?.kill()
        case .registerTopic(let app): self.post(.courier(.tokenIssued(app, self.token(named: self.tokenName(app)))))
        case .requestToken(let app, let kind):
            self.post(.courier(.tokenOfKindIssued(app, kind, self.token(named: "\(self.tokenName(app))/\(kind)"))))
        case .subscribe(let app, let channel): self.channels.insert(SubscribedChannel(app: app, id: channel))
        case .unsubscribe(let app, let channel): self.channels.remove(SubscribedChannel(app: app, id: channel))
        case .invalidateTokens(let app): self.tokenGeneration[app, default: 0] += 1
        case .unregisterTopic(let app): self.kept[app] = nil
        case .connectCourier:
            self.isOnline = true
            let waiting = self.kept.sorted { $0.key < $1.key }.map(\.value)
            self.kept = [:]
            for push in waiting { self.post(.courier(.pushArrived(push))) }
        case .disconnectCourier: self.isOnline = false
        case .record(let record): self.trace.append(record)
        case .suspendProcess, .resumeProcess, .dropToken, .acknowledge, .call, .answer: break
        }
    }

    private func startProcess(_ process: ProcessID) {
        let isApp = process.role == .app
        if let folders = self.folders, let installed = self.installed(process.app) {
            do {
                try folders.make(for: installed)
            } catch {
                self.recordFault("the folders of \(process.app) cannot be made: \(error)", of: process.app)
            }
        }
        let facts = self.facts(of: process.app, role: isApp ? .app : .notificationService)
        let hosted = PhoneProcess(facts: facts, link: DirectLink(process: process, inbox: self.inbox))
        self.processes[process] = hosted
        self.mail.append(Letter(process: process, message: nil))
    }

    private var folders: PhoneFolders? { self.folder.map { PhoneFolders(root: $0) } }

    private func installed(_ app: BundleID) -> InstalledApp? {
        self.engine.phone.installedApps.first { $0.bundleID == app }
    }

    func facts(of app: BundleID, role: PhoneProcessFacts.Role) -> PhoneProcessFacts {
        let installed = self.installed(app)
        var groups: [String: String] = [:]
        let folders = self.folders?.protected
        if let group = installed?.appGroup, let folders { groups[group] = folders.group(group) }
        return PhoneProcessFacts(
            role: role, bundleID: app.rawValue, osVersion: self.osVersion.description, phoneID: self.id,
            home: folders?.home(of: app, role.process) ?? "/nonexistent", groups: groups,
            entitlements: installed?.entitlements ?? [], keychain: folders?.keychain)
    }

    func emptyFolders(of app: InstalledApp) {
        guard let folders = self.folders else { return }
        let others = self.engine.phone.installedApps.filter { $0.bundleID != app.bundleID }
        do { try folders.empty(app, groupIsShared: others.contains { $0.appGroup == app.appGroup }) } catch {
            self.recordFault("the folders of \(app.bundleID) cannot be emptied: \(error)", of: app.bundleID)
        }
    }

    /// Items of the old device only are not restored.
    func restoreKeychain() { if let folders { PhoneKeychain(path: folders.keychain).restoreFromBackup() } }

    func protectFolders() {
        let isProtected = self.screen.lock == .beforeFirstUnlock
        guard let folders = self.folders, self.foldersAreProtected != isProtected else { return }
        self.foldersAreProtected = isProtected
        do {
            try FileManager.default.createDirectory(atPath: folders.root, withIntermediateDirectories: true)
            try folders.setProtected(isProtected)
        } catch { self.recordFault("the phone's folder cannot be protected: \(error)", of: nil) }
    }

    package func send(_ message: HostMessage, to process: ProcessID) {
        switch message {
        case .answer(let number, let answer):
            if !self.inbox.answer(number, of: process, with: answer) {
                self.processes[process]?.resolve(answer, for: number)
            }
        case .call(let number, let callback, _):
            // `serviceExtensionTimeWillExpire()` needs no answer of its own.
            let needsAnswer = if case .serviceExtensionTimeWillExpire = callback { false } else { true }
            if needsAnswer { self.openCalls.insert(OpenCall(process: process, number: number)) }
            self.mail.append(Letter(process: process, message: message))
        case .state, .input, .show, .respond, .touch, .exit:
            self.mail.append(Letter(process: process, message: message))
        }
    }

    private func tokenName(_ app: BundleID) -> String {
        self.tokenGeneration[app].map { "\(app)#\($0)" } ?? app.rawValue
    }

    package func settled(nextDeadline: Int64?) {
        self.answerPrompt()
        self.updateExpanded()
        self.protectFolders()
    }

    /// 32 bytes, derived from the names.
    private func token(named name: String) -> PushToken {
        var hash = FNV1a()
        hash.feed("\(self.id)/\(name)")
        var words = SplitMix64(seed: hash.value)
        return PushToken((0..<4).map { _ in Hexadecimal.text(words.next()) }.joined())
    }
}

struct SubscribedChannel: Hashable {
    var app: BundleID
    var id: String
}
