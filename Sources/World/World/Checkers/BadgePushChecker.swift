// P3, P4: a push that is nothing but a number rings for nobody and stands in no list, takes no alert's place at APNs, and never undoes a
// newer number or shows another person's.
import APNsModel
import ClientCore
import PhoneCore
import TidingsModel

struct BadgePushChecker: Checker {
    static let kinds = FactKinds(.pushed, .extendedForAnother, .presented, .unextended, .serverStarted)

    /// APNs may keep one alone of two that come within this time, in milliseconds.
    private static let gap: Int64 = 60_000
    private static let hour: Int64 = 3_600_000
    private static let directMax = 6

    /// The alerts of this life of the server, which knows none of an earlier one's.
    private var alerts: [DeviceKey: Int64] = [:]
    private var direct: [DeviceKey: [Int64]] = [:]
    /// How often no extension could decide about one.
    private var undecided: [DeviceID: Int] = [:]

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .serverStarted:
            self.alerts = [:]
            self.direct = [:]
        case .pushed(let push, let key) where push.pushType == .alert:
            if push.isNumberOnly { self.checkSent(push, key, state.now.monotonic, into: &findings) }
            self.alerts[key] = state.now.monotonic
        case .reduced(let push, let owner, let before, let after, let shown, let key):
            self.checkReduced(push, owner, before, after, shown, key, into: &findings)
        case .unextended(BadgeInfo.identifier, let key): self.undecided[key.device, default: 0] += 1
        case .presented(let record, let key) where record.identifier == BadgeInfo.identifier && record.list:
            guard let left = self.undecided[key.device], left > 0 else {
                return findings.add("P3", "a number stands in the list of \(key), and an extension could decide")
            }
            self.undecided[key.device] = left - 1
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func checkSent(
        _ push: SentPush, _ key: DeviceKey, _ now: Int64, into findings: inout Findings
    ) {
        if push.hasSound || push.recipientTag != nil && !push.isPassive {
            findings.add("P3", "a number for \(key) would ring where no extension runs")
        }
        if push.isKept { findings.add("P2", "a number for \(key) may take the place of an alert that APNs keeps") }
        if let last = self.alerts[key], now < last + Self.gap {
            findings.add("P2", "a number for \(key) follows an alert by \(now - last) ms, and may take its place")
        }
        guard push.recipientTag == nil else { return }
        self.direct[key, default: []].removeAll { $0 <= now - Self.hour }
        self.direct[key, default: []].append(now)
        if let count = self.direct[key]?.count, count > Self.directMax {
            findings.add("P4", "\(count) numbers that nobody compares went to \(key) within an hour")
        }
    }

    private func checkReduced(
        _ push: BadgeInfo, _ owner: DeviceKey?, _ before: Badge?, _ after: Badge?, _ shown: Int?, _ key: DeviceKey,
        into findings: inout Findings
    ) {
        guard owner?.user == key.user else {
            findings.reach(.numbersForAnother)
            if let shown { findings.add("P7", "\(key) shows the number \(shown), which is somebody else's") }
            return
        }
        guard let before, push.badgePosition <= before.position else { return }
        findings.reach(.lateNumbers)
        if after != before {
            findings.add("P4", "a number of \(push.badgePosition) undoes that of \(before.position) on \(key)")
        }
    }
}
