// When all has healed and everybody has looked at the app for four minutes, and again at the end, every phone holds
// what its person has set and read on any phone, and knows the members of its groups.
import ClientCore
import StoreModel
import TidingsModel

struct ConvergenceChecker: Checker {
    static let kinds = FactKinds(.looked)

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        if case .looked(let ending) = fact { self.checkEnding(ending, in: state, into: &findings) }
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        for phone in ending.phones {
            let user = phone.key.user.user
            guard let person = ending.person(user) else { continue }
            let disk = phone.disk
            let (pendingChanges, outbox) = (disk.pendingChanges, disk.store.rows.outbox.map(\.clientMessageID))
            if !pendingChanges.isEmpty {
                findings.add("converge", "\(phone.key) still pendingChanges \(pendingChanges)")
            }
            let reads = disk.store.rows.readings.filter { $0.pending != nil }
            if !reads.isEmpty {
                findings.add("converge", "\(phone.key) still tells of reading \(reads)")
            }
            if !outbox.isEmpty { findings.add("converge", "\(phone.key) still has \(outbox) to send") }
            if disk.store.rows.settings != person.record.settings {
                findings.add(
                    "converge", "\(phone.key) holds \(disk.store.rows.settings), the store \(person.record.settings)")
            }
            let invited = ending.store.conversations.filter {
                $0.record.app == World.app && $0.invited.contains { $0.user == user }
            }
            if Set(disk.store.invitations().map(\.id)) != Set(invited.map(\.record.conversation)) {
                findings.add(
                    "converge",
                    "\(phone.key) is invited to \(disk.store.invitations()), the person to \(invited.map(\.invited))")
            }
            for conversation in ending.store.conversations where conversation.record.app == World.app {
                let members = conversation.record.members
                guard let info = disk.store.rows.infos[conversation.record.conversation], info.isComplete,
                    members.contains(where: { $0.id == user })
                else { continue }
                // Who has come back is muted as before, which only who asks the server anew is told.
                let known = disk.store.rows.members(of: info.conversation).map {
                    Member($0.id, role: $0.role, nickname: $0.nickname)
                }
                if known != members {
                    findings.add("converge", "\(phone.key) takes \(known) for the members, they are \(members)")
                }
                if info.onlyAdminsWrite != conversation.onlyAdminsWrite {
                    findings.add(
                        "converge", "\(phone.key) is wrong on who may write to \(conversation.record.conversation)")
                }
            }
        }
    }
}
