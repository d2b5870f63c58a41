// P7: a phone has one person. Once another one has registered its push token, the one before gets no push there any more.

struct TokenChecker: Checker {
    static let kinds = FactKinds(.pushed)

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        guard case .pushed(let request, let key) = fact, let owner = state.known.owner(of: request.token), owner != key
        else { return }
        findings.add("P7", "a push for \(key) went to \(request.token), which is \(owner)'s now")
    }
}
