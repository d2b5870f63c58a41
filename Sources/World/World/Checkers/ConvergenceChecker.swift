// When all has healed and everybody has looked at the app for four minutes, and again at the end, every phone holds what its person has
// set and read, on whichever phone, and knows who is in its groups.
import ClientCore
import OrderedCollections
import StoreModel
import TidingsModel

/// Compares phones and store at the end.
struct ConvergenceChecker: Checker {
    static let kinds = FactKinds(.looked)

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        if case .looked(let ending) = fact { self.judge(ending, in: scene, into: &findings) }
    }

    func judge(_ ending: Ending, in scene: Scene, into findings: inout Findings) {
        for phone in ending.phones {
            let user = phone.key.user.user
            guard let person = ending.person(user) else { continue }
            let disk = phone.disk
            let (pendingChanges, outbox) = (disk.store.pendingChanges.values.elements, disk.store.outbox.keys.elements)
            if !pendingChanges.isEmpty {
                findings.add("converge", "\(phone.key) still pendingChanges \(pendingChanges)")
            }
            if !disk.store.reads.isEmpty {
                findings.add("converge", "\(phone.key) still tells of reading \(disk.store.reads)")
            }
            if !outbox.isEmpty { findings.add("converge", "\(phone.key) still has \(outbox) to send") }
            if disk.store.confirmed != person.record.settings {
                findings.add(
                    "converge", "\(phone.key) holds \(disk.store.confirmed), the store \(person.record.settings)")
            }
            for conversation in ending.store.conversations where conversation.record.app == World.app {
                let members = conversation.record.members
                guard let info = disk.store.infos[conversation.record.conversation], info.isComplete,
                    members.contains(where: { $0.id == user }), info.members != members
                else { continue }
                findings.add("converge", "\(phone.key) takes \(info.members) for the members, they are \(members)")
            }
        }
    }
}
