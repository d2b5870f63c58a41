// P4: the number a push brings is that of the unread messages at the log position it names, which is not before its
// message: by that position a phone tells which of two numbers is newer.
import TidingsModel

struct PushedBadgeChecker: Checker {
    static let kinds = FactKinds(.pushed)

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        guard case .pushed(let request, let key) = fact, let badge = request.badge else { return }
        let unread = state.committed.unread(of: key.user.user, at: badge.position)
        if badge.number != unread {
            findings.add(
                "P4",
                "a push to \(key) says that \(badge.number) are unread at \(badge.position), there "
                    + (unread.map { "they are \($0)" } ?? "is nothing"))
        } else if let position = request.alert?.position, badge.position < position {
            findings.add("P4", "a push to \(key) dates its number \(badge.position), before its message at \(position)")
        }
    }
}
