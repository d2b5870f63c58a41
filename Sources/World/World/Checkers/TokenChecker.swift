// P7: a phone has one person. Once another one has registered its push token, the one before gets no push there any more.
import APNsModel
import OrderedCollections
import StoreModel
import TidingsModel

/// Watches registrations as the server's core hears of them, and pushes that are handed over.
struct TokenChecker: Checker {
    static let kinds = FactKinds(.pushed)

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        guard case .pushed(let request, let key) = fact, let owner = scene.known.owner(of: request.token), owner != key
        else { return }
        findings.add("P7", "a push for \(key) went to \(request.token), which is \(owner)'s now")
    }
}
