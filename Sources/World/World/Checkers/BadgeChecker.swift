// P4: when all is quiet, the store's unread messages, the phone's and the number on the icon are one; and what was read stays read.
import ClientCore
import StoreModel
import TidingsModel

struct BadgeChecker: Checker {
    static let kinds = FactKinds(.markRead)

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        guard case .committed(.markRead(let key, let conversation, let upTo, _), .read(position: _?, _)) = fact,
            upTo < state.committed.readUpTo(conversation, by: key.user)
        else { return }
        let before = state.committed.readUpTo(conversation, by: key.user)
        findings.add("P4", "\(key) had read \(conversation) up to \(before), and has read it up to \(upTo) only")
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        for phone in ending.phones {
            let unread = ending.person(phone.key.user.user)?.record.unread ?? 0
            let counted = phone.disk.store.counts().unread
            if counted != unread {
                findings.add("P4", "\(phone.key) counts \(counted) unread, the store \(unread)")
            } else if phone.icon != unread {
                findings.add("P4", "the icon of \(phone.key) shows \(phone.icon), unread are \(unread)")
            }
        }
    }
}
