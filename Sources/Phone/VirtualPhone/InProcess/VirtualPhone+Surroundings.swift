import Foundation
package import PhoneCore
package import TidingsModel

/// What the core wants done, in one process. A suspended app is not called, but nothing can stop its tasks.
extension VirtualPhone: @preconcurrency PhoneSurroundings {
    package var now: Now { Now(monotonic: self.monotonic, wall: self.wallStart + self.monotonic) }

    package func startProcess(_ process: ProcessID) {
        let isApp = process.role == .app
        if let folders = self.folders, let installed = self.installed(process.app) {
            do {
                try folders.make(for: installed)
            } catch {
                self.note(fault: "the folders of \(process.app) cannot be made: \(error)", of: process.app)
            }
        }
        let facts = self.facts(of: process.app, role: isApp ? .app : .notificationService)
        let hosted = PhoneProcess(facts: facts, link: DirectLink(process: process, inbox: self.inbox))
        self.processes[process] = hosted
        self.mail.append(Letter(process: process, message: nil))
    }

    private var folders: PhoneFolders? { self.folder.map { PhoneFolders(root: $0) } }

    private func installed(_ app: BundleID) -> InstalledApp? {
        self.engine?.phone.installedApps.first { $0.bundleID == app }
    }

    /// What a process is told at its start.
    func facts(of app: BundleID, role: PhoneProcessFacts.Role) -> PhoneProcessFacts {
        let installed = self.installed(app)
        var groups: [String: String] = [:]
        if let group = installed?.appGroup, let folders = self.folders { groups[group] = folders.protectedGroup(group) }
        return PhoneProcessFacts(
            role: role, bundleID: app.rawValue, osVersion: self.osVersion.description, phoneID: self.id,
            home: self.folders?.protectedHome(of: app, role.process) ?? "/nonexistent", groups: groups,
            entitlements: installed?.entitlements ?? [], keychain: self.folders?.protectedKeychain)
    }

    /// Empties the folders of an app that was removed.
    func emptyFolders(of app: InstalledApp) {
        guard let folders = self.folders else { return }
        let others = self.engine?.phone.installedApps.filter { $0.bundleID != app.bundleID } ?? []
        do {
            try folders.empty(app, groupIsShared: others.contains { $0.appGroup == app.appGroup })
        } catch {
            self.note(fault: "the folders of \(app.bundleID) cannot be emptied: \(error)", of: app.bundleID)
        }
    }

    /// A new device has the items of a backup that are not for the old one only.
    func restoreKeychain() { if let folders { PhoneKeychain(path: folders.keychain).restoreFromBackup() } }

    /// Closes the folders before the first unlock, and opens them after it.
    func protectFolders() {
        let isProtected = self.screen.lock == .beforeFirstUnlock
        guard let folders = self.folders, self.foldersAreProtected != isProtected else { return }
        self.foldersAreProtected = isProtected
        do {
            try FileManager.default.createDirectory(atPath: folders.root, withIntermediateDirectories: true)
            try folders.setProtected(isProtected)
        } catch {
            self.note(fault: "the phone's folder cannot be protected: \(error)", of: nil)
        }
    }

    package func suspendProcess(_ process: ProcessID) {}
    package func resumeProcess(_ process: ProcessID) {}

    package func killProcess(_ process: ProcessID) {
        self.openCalls = self.openCalls.filter { $0.process != process }
        self.mail.removeAll { $0.process == process }
        self.processes.removeValue(forKey: process)?.kill()
    }

    package func send(_ message: HostMessage, to process: ProcessID) {
        switch message {
        case .answer(let number, let answer):
            if !self.inbox.answer(number, of: process, with: answer) {
                self.processes[process]?.take(answer, for: number)
            }
        case .call(let number, let callback, _):
            // `serviceExtensionTimeWillExpire()` is not answered for itself.
            switch callback {
            case .serviceExtensionTimeWillExpire: break
            default: self.openCalls.insert(OpenCall(process: process, number: number))
            }
            self.mail.append(Letter(process: process, message: message))
        case .state, .input, .show, .respond, .exit: self.mail.append(Letter(process: process, message: message))
        }
    }

    package func registerTopic(_ app: BundleID) {
        self.post(.courier(.tokenIssued(app, PushToken(Self.token(phone: self.id, name: self.tokenName(app))))))
    }

    package func requestToken(_ kind: TokenKind, for app: BundleID) {
        let name = "\(self.tokenName(app))/\(kind)"
        self.post(.courier(.tokenOfKindIssued(app, kind, PushToken(Self.token(phone: self.id, name: name)))))
    }

    package func dropToken(_ kind: TokenKind, of app: BundleID) {}
    package func subscribe(_ app: BundleID, channel: String) {
        self.channels.insert(SubscribedChannel(app: app, id: channel))
    }
    package func unsubscribe(_ app: BundleID, channel: String) {
        self.channels.remove(SubscribedChannel(app: app, id: channel))
    }
    package func invalidateTokens(of app: BundleID) { self.tokenGeneration[app, default: 0] += 1 }

    private func tokenName(_ app: BundleID) -> String {
        self.tokenGeneration[app].map { "\(app)#\($0)" } ?? app.rawValue
    }

    package func unregisterTopic(_ app: BundleID) { self.kept[app] = nil }
    package func acknowledge(delivery: UInt64) {}
    package func disconnectCourier() { self.isOnline = false }

    package func connectCourier() {
        self.isOnline = true
        let waiting = self.kept.sorted { $0.key < $1.key }.map(\.value)
        self.kept = [:]
        for push in waiting { self.post(.courier(.pushArrived(push))) }
    }

    package func record(_ record: PhoneRecord) { self.trace.append(record) }

    package func settled(nextDeadline: Int64?) {
        self.answerPrompt()
        self.updateExpanded()
        self.protectFolders()
    }

    /// 32 bytes that follow from the phone's and the token's names.
    private static func token(phone: String, name: String) -> String {
        var hash = FNV1a()
        hash.feed("\(phone)/\(name)")
        var words = SplitMix64(seed: hash.value)
        return (0..<4).map { _ in Hexadecimal.text(words.next()) }.joined()
    }
}

/// A broadcast channel of an app.
struct SubscribedChannel: Hashable {
    var app: BundleID
    var id: String
}
