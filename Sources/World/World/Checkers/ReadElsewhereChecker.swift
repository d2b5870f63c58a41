// P4: reading on another device lowers the number, also where the app does not run: a push brings it to a phone that is away, if nothing keeps it
// from the app, or from the extension. Asked once all has healed, when each person reads on one phone after the final probe.
import APNsModel
import StoreModel
import TidingsModel

struct ReadElsewhereChecker: Checker {
    static let kinds = FactKinds(
        .serverStarted, .clockSet, .pushed, .wakeHeld, .markRead, .probeEnded)

    private static let hour: Int64 = 3_600_000
    /// In milliseconds; the probe is over long before.
    private static let probeTime: Int64 = 300_000
    /// In an hour, for a device (design.md §5, "Silent pushes"); of numbers alone there may be more.
    private static let pushesMax = 3

    private var startedAt: Int64 = 0
    /// The server's clock was set since it started: until the hour is over it may take a device that has connected
    /// since for one that has not, and send it nothing.
    private var isClockSet = false
    /// When those went out that are limited by the hour.
    private var sent: [DeviceKey: [Int64]] = [:]
    /// The numbers that the phones showed before a person read.
    private var shownBefore: [DeviceKey: Int] = [:]
    private var unread: [UserKey: Int] = [:]
    private var held: Set<DeviceID> = []
    /// To whom an alert with the number went, in this part.
    private var told: Set<DeviceKey> = []
    private var isReading = false

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .serverStarted:
            self.startedAt = state.now.monotonic
            self.isClockSet = false
        case .clockSet: self.isClockSet = true
        case .pushed(let push, let key) where push.isNumberOnly:
            // Those of the probe are what is asked for.
            guard !self.isReading else {
                if push.pushType == .alert { self.told.insert(key) }
                return
            }
            // What an extension compares is not limited by the hour.
            guard push.pushType == .background || push.recipientTag == nil else { return }
            self.sent[key, default: []].removeAll { $0 <= state.now.monotonic - Self.hour - Self.probeTime }
            self.sent[key, default: []].append(state.now.monotonic)
        case .wakeHeld(let device): if self.isReading { self.held.insert(device) }
        case .finalProbeEnded(let phones):
            self.isReading = true
            for phone in phones { self.shownBefore[phone.key] = phone.icon }
        case .committed(.markRead(let user, _, _, _), .read(position: _?, let unread)):
            if self.isReading { self.unread[user] = unread }
        case .readingProbeEnded(let phones): self.check(phones, at: state.now.monotonic, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func check(_ phones: [FinalProbePhone], at now: Int64, into findings: inout Findings) {
        self.isReading = false
        guard !self.isClockSet || now - self.startedAt >= Self.hour else { return }
        for phone in phones where phone.mayRing {
            guard let unread = self.unread[phone.key.user], let shown = self.shownBefore[phone.key], unread < shown,
                self.reaches(phone, now)
            else { continue }
            findings.reach(.loweredNumbers)
            guard phone.icon != unread else { continue }
            findings.add(
                "P4",
                "\(phone.key) shows \(phone.icon), and \(unread) are unread since its person has read on another phone")
        }
    }

    private func reaches(_ phone: FinalProbePhone, _ now: Int64) -> Bool {
        if self.told.contains(phone.key) { return phone.mayBeTold }
        let sent = self.sent[phone.key, default: []].count { $0 > now - Self.hour - Self.probeTime }
        return phone.mayBeWoken && !self.held.contains(phone.key.device) && sent < Self.pushesMax
    }
}
