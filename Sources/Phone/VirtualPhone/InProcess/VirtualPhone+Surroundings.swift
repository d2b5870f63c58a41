import Foundation
package import PhoneCore
package import TidingsModel

/// What the core wants done, in one process. A suspended app is not called, but nothing can stop its tasks.
extension VirtualPhone: @preconcurrency PhoneSurroundings {
    package var now: Now { Now(monotonic: self.monotonic, wall: self.wallStart + self.monotonic) }

    package func startProcess(_ process: ProcessID) {
        let isApp = process.role == .app
        let installed = self.engine?.phone.installedApps.first { $0.bundleID == process.app }
        let root = self.folder ?? "/nonexistent"
        let home = "\(root)/apps/\(process.app)/\(isApp ? "home" : "extension")"
        var groups: [String: String] = [:]
        if let group = installed?.appGroup, self.folder != nil { groups[group] = "\(root)/groups/\(group)" }
        if self.folder != nil {
            for path in [home] + groups.values {
                try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
        }
        let facts = PhoneProcessFacts(
            role: isApp ? .app : .notificationService, bundleID: process.app.rawValue,
            osVersion: self.osVersion.description, phoneID: self.id,
            home: home, groups: groups)
        let hosted = PhoneProcess(facts: facts, link: DirectLink(process: process, inbox: self.inbox))
        self.processes[process] = hosted
        self.mail.append(Letter(process: process, message: nil))
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
            // EXP is not answered for itself.
            if callback != .serviceExtensionTimeWillExpire {
                self.openCalls.insert(OpenCall(process: process, number: number))
            }
            self.mail.append(Letter(process: process, message: message))
        case .state, .input, .exit: self.mail.append(Letter(process: process, message: message))
        }
    }

    package func registerTopic(_ app: BundleID) {
        self.post(.courier(.tokenIssued(app, PushToken(Self.token(phone: self.id, app: app)))))
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

    package func settled(nextDeadline: Int64?) { self.answerPrompt() }

    /// 32 bytes that follow from the phone's and the app's names.
    private static func token(phone: String, app: BundleID) -> String {
        var state: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in "\(phone)/\(app)".utf8 { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return (0..<4).map { (index: UInt64) -> String in
            var word = state &+ (index &+ 1) &* 0x9e37_79b9_7f4a_7c15
            word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
            word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
            let digits = String(word ^ (word >> 31), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
