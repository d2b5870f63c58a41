// P3: a message rings at most once on a phone. Where no extension could run a second ring is counted apart.
import APNsModel
import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

/// Watches what kit and extension let ring, and what the phone presents. A ring is a banner or a sound; an entry of the list is
/// none.
struct RingChecker: Checker {
    private struct Place: Hashable {
        var device: DeviceKey
        var identifier: String
    }

    /// Rings that kit or extension have decided on and that have not come yet.
    private var due: [Place: Int] = [:]
    private var rings: [Place: Int] = [:]
    private var pushed: Set<Place> = []

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        switch fact {
        case .posted(let notification, let key, _):
            guard !notification.isSilent else { return }
            self.due[Place(device: key, identifier: notification.message.description), default: 0] += 1
        case .extended(let message, let isQuiet, _, let key):
            guard !isQuiet else { return }
            self.due[Place(device: key, identifier: message.description), default: 0] += 1
        case .signedOut(let key):
            // The ledger goes with the person: who signs in again has a new phone.
            self.due = self.due.filter { $0.key.device != key }
            self.rings = self.rings.filter { $0.key.device != key }
        case .pushed(let request, let key):
            if let id = request.collapseID { self.pushed.insert(Place(device: key, identifier: id)) }
        case .presented(let record, let key) where record.isRing:
            let place = Place(device: key, identifier: record.identifier)
            guard let due = self.due[place], due > 0 else {
                if !record.isRemote || !self.pushed.contains(place) {
                    findings.add("P3", "\(key) rang for \(record.identifier), which nobody has sent it")
                }
                return
            }
            self.due[place] = due - 1
            self.rings[place, default: 0] += 1
            if self.rings[place] == 2 { findings.add("P3", "\(key) rang twice for \(record.identifier)") }
        default: break  // tidy: the other facts are other promises'
        }
    }
}
