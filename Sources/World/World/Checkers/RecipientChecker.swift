// P7: the extension strips a push that was made for another person than the one who is signed in: without a ring, without its text.
import TidingsModel

struct RecipientChecker: Checker {
    static let kinds = FactKinds(.extendedForAnother)

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        guard case .extendedForAnother(let message, let isQuiet, let text, let key) = fact else { return }
        findings.reach(.pushesForAnother)
        guard !isQuiet || ![nil, NotificationWords.english.stripped].contains(text) else { return }
        findings.add("P7", "\(key) shows \"\(text ?? "")\" of a push of \(message) that was made for somebody else")
    }
}
