import StoreModel
import TidingsModel

/// The counts of an app by its reports: exact, and since the process has started.
package struct AppStatistics: Hashable, Sendable {
    package private(set) var messages = 0
    package private(set) var customMessages = 0
    package private(set) var recalls = 0
    package private(set) var edits = 0
    /// By the end's name; without those that there were none of.
    package private(set) var legs: [String: Int] = [:]
    package private(set) var pushesAccepted = 0
    package private(set) var pushesRefused = 0
    package private(set) var pushesUnknown = 0
    package private(set) var pushesNotSent = 0
    package private(set) var shown = 0
    package private(set) var opened = 0
    package private(set) var signIns = 0
    package private(set) var signOuts = 0
    /// Now.
    package private(set) var connections = 0

    package init() {}

    package mutating func add(_ report: ServerReport) {
        switch report {
        case .accepted: self.messages += 1
        case .acceptedCustom: self.customMessages += 1
        case .recalled: self.recalls += 1
        case .edited: self.edits += 1
        case .endedLeg(let ended): self.legs[ended.end.name, default: 0] += 1
        case .answeredPush(_, _, let result): self.add(result)
        case .receipt(_, .shown): self.shown += 1
        case .receipt(_, .opened): self.opened += 1
        case .device(_, let change): self.add(change)
        case .sentLeg, .waitingLeg, .raisedAlarm, .clearedAlarm, .expiringCredential, .pushJob, .storage: break
        }
    }

    private mutating func add(_ result: ServerReport.PushResult) {
        switch result {
        case .accepted: self.pushesAccepted += 1
        case .refused: self.pushesRefused += 1
        case .unknown: self.pushesUnknown += 1
        case .notSent, .noCredential: self.pushesNotSent += 1
        }
    }

    private mutating func add(_ change: ServerReport.DeviceChange) {
        switch change {
        case .signedIn: self.signIns += 1
        case .signedOut: self.signOuts += 1
        case .connected: self.connections += 1
        case .disconnected: self.connections -= 1
        case .lease: break
        }
    }
}
