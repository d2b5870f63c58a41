// P3: a message rings at most once on a phone. A second ring where no extension could run is counted apart, and
// bounded: a push that no extension has decided about rings at most once. What is fetched rings once in all, together
// with the push that led to the fetch.
import ClientCore
import PhoneCore
import TidingsModel

/// A ring is a banner or a sound; an entry of the list is none.
struct RingChecker: Checker {
    static let kinds = FactKinds(
        .posted, .extended, .unextended, .fetched, .signedOut, .signedIn, .pushed, .presented, .rangInForeground)

    private struct Place: Hashable {
        var device: DeviceKey
        var identifier: String

        var slot: Slot { Slot(device: self.device.device, identifier: self.identifier) }
    }

    private struct Slot: Hashable {
        var device: DeviceID
        var identifier: String
    }

    /// Rings that kit or extension have decided on and that have not come yet, and those that have come, by the
    /// notification's identifier; by device, since they go with the person.
    private var due: [DeviceKey: [String: Int]] = [:]
    private var rings: [DeviceKey: [String: Int]] = [:]
    /// The places of the person before: a decided ring may be on its way to the screen while they sign out.
    private var late: [Place: Int64] = [:]
    private var pushed: Set<Place> = []
    private var left: Set<DeviceKey> = []
    private var unextended: [Slot: Int] = [:]

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .posted(let notification, let key, _):
            guard !notification.isSilent else { return }
            self.due[key, default: [:]][notification.message.description, default: 0] += 1
        case .extended(let message, let isQuiet, _, let key):
            guard !isQuiet else { return }
            self.due[key, default: [:]][message.description, default: 0] += 1
        case .rangInForeground(let message, let key):
            // Nothing is on its way to the screen: it rings at once.
            self.rings[key, default: [:]][message.description, default: 0] += 1
            if self.rings[key]?[message.description] == 2 {
                findings.add("P3", "\(key) rang in the foreground for \(message), which has rung")
            }
        case .unextended(let identifier, let key):
            self.unextended[Slot(device: key.device, identifier: identifier), default: 0] += 1
        case .fetched(let posts, let pushRings, let key): self.addFetched(posts, pushRings, key, into: &findings)
        case .signedOut(let key):
            // The ledger goes with the person.
            for (identifier, count) in self.due[key] ?? [:] where count > 0 {
                self.late[Place(device: key, identifier: identifier)] = state.now.monotonic
            }
            self.left.insert(key)
            self.due[key] = nil
            self.rings[key] = nil
        case .signedIn(let key): self.left.remove(key)
        case .pushed(let request, let key):
            if let id = request.collapseID { self.pushed.insert(Place(device: key, identifier: id)) }
        case .presented(let record, let key) where record.isRing:
            let place = Place(device: key, identifier: record.identifier)
            // What the kit has posted and the system was not allowed to show is no reason for a push to ring again.
            let isSecond = record.isRemote && self.rings[key]?[record.identifier] ?? 0 > 0
            let isUndecided = isSecond && self.unextended[place.slot] ?? 0 > 0
            guard !isUndecided, let due = self.due[key]?[record.identifier], due > 0 else {
                return self.checkUndecided(record, at: place, now: state.now.monotonic, into: &findings)
            }
            self.due[key]?[record.identifier] = due - 1
            self.rings[key, default: [:]][record.identifier, default: 0] += 1
            if self.rings[key]?[record.identifier] == 2 {
                findings.add("P3", "\(key) rang twice for \(record.identifier)")
            }
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func checkUndecided(
        _ record: PresentationRecord, at place: Place, now: Int64, into findings: inout Findings
    ) {
        if let since = self.late.removeValue(forKey: place), now - since <= PersonChecker.answerTolerance { return }
        let slot = place.slot
        guard record.isRemote, self.pushed.contains(place) else {
            // The system shows a push for the person before, with its neutral text; in the foreground the app is asked.
            if record.isRemote, record.reason != .willPresent, let left = self.unextended[slot], left > 0 {
                self.unextended[slot] = left - 1
                return findings.reach(.strayRings)
            }
            return findings.add("P3", "\(place.device) rang for \(record.identifier), which nobody has sent it")
        }
        guard let left = self.unextended[slot], left > 0 else {
            return findings.add("P3", "\(place.device) rang for \(record.identifier), which nobody has decided")
        }
        self.unextended[slot] = left - 1
        if self.left.contains(place.device) { findings.reach(.strayRings) }
        if self.rings[place.device]?[place.identifier] ?? 0 > 0 { findings.reach(.secondRings) }
    }

    private mutating func addFetched(
        _ posts: [MissedDecision.Post], _ pushRings: Bool, _ key: DeviceKey, into findings: inout Findings
    ) {
        let ringing = posts.filter { !$0.isSilent }.map(\.message.message)
        for message in ringing { self.due[key, default: [:]][message.description, default: 0] += 1 }
        if ringing.count + (pushRings ? 1 : 0) > 1 {
            findings.add("P3", "\(key) lets \(ringing) ring for one fetch, the push \(pushRings ? "as well" : "not")")
        }
        if posts.count > 20 { findings.add("P3", "\(key) posts \(posts.count) messages of one fetch") }
    }
}
