// P4: when all is quiet, the store's unread messages, the phone's and the number on the icon are one.
import ClientCore
import StoreModel
import TidingsModel

/// Compares the three once the app has left the screen.
struct BadgeChecker: Checker {
    static let kinds: FactKinds = []

    func judge(_ ending: Ending, in scene: Scene, into findings: inout Findings) {
        for phone in ending.phones {
            let unread = ending.person(phone.key.user.user)?.record.unread ?? 0
            if phone.disk.store.unread != unread {
                findings.add("P4", "\(phone.key) counts \(phone.disk.store.unread) unread, the store \(unread)")
            } else if phone.icon != unread {
                findings.add("P4", "the icon of \(phone.key) shows \(phone.icon), unread are \(unread)")
            }
        }
    }
}
