// When all has healed and everybody has looked at the app for four minutes, and again at the end, every phone holds what its person has
// set and read, on whichever phone, and knows who is in its groups.
//
// A store that was full may still hold what the server has taken already: the next start tells it once more, which changes nothing.
import ClientCore
import OrderedCollections
import StoreModel
import TidingsModel

/// Compares phones and store at the end.
struct ConvergenceChecker: Checker {
    /// Devices whose store has refused something.
    private var refused: OrderedSet<DeviceKey> = []
    /// Messages whose sender was told that the server does not take them.
    private var declined: Set<ClientMessageID> = []

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        switch fact {
        case .refusedWrite(let key): self.refused.append(key)
        case .refused(let draft, _, _): self.declined.insert(draft.clientMessageID)
        case .looked(let ending): self.judge(ending, in: scene, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    /// What a phone still wants to tell, without what makes no difference any more.
    private func rest(_ phone: Ending.Phone, in scene: Scene) -> (wishes: [SettingsWish], outbox: [ClientMessageID]) {
        let wishes = phone.disk.wishes.values.elements
        let outbox = phone.disk.outbox.keys.elements
        guard self.refused.contains(phone.key) else { return (wishes, outbox) }
        let sent = scene.committed.messages.values.filter { $0.message.sender == phone.key.user.user }
            .map(\.message.clientMessageID)
        return (
            wishes.filter { wish in
                var settings = phone.disk.confirmed
                wish.apply(to: &settings)
                return settings != phone.disk.confirmed
            }, outbox.filter { !sent.contains($0) && !self.declined.contains($0) }
        )
    }

    func judge(_ ending: Ending, in scene: Scene, into findings: inout Findings) {
        for phone in ending.phones {
            let user = phone.key.user.user
            guard let person = ending.person(user) else { continue }
            let disk = phone.disk
            let rest = self.rest(phone, in: scene)
            if !rest.wishes.isEmpty { findings.add("converge", "\(phone.key) still wishes \(rest.wishes)") }
            if !disk.reads.isEmpty { findings.add("converge", "\(phone.key) still tells of reading \(disk.reads)") }
            if !rest.outbox.isEmpty { findings.add("converge", "\(phone.key) still has \(rest.outbox) to send") }
            if disk.confirmed != person.record.settings {
                findings.add(
                    "converge", "\(phone.key) holds \(disk.confirmed), the store \(person.record.settings)")
            }
            for conversation in ending.store.conversations {
                let members = conversation.record.members
                guard let info = disk.infos[conversation.record.conversation], info.isKnown,
                    members.contains(where: { $0.id == user }), info.members != members
                else { continue }
                findings.add("converge", "\(phone.key) takes \(info.members) for the members, they are \(members)")
            }
        }
    }
}
