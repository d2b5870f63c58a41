package import TidingsModel

/// The app group as the extension sees it: a file in a shell, a value in a simulation. The caller holds its lock around one event and
/// stores what was changed.
package protocol ExtensionGroup {
    /// Who is signed in.
    var signIn: ExtensionDecision.SignIn { get }
    /// The log position the phone has; nil if it is not known. Setting it where nobody is signed in changes nothing.
    var position: LogPosition? { get set }
    /// Whether notifications show what messages say.
    var showsContent: Bool { get }
    /// What notifications say beside messages' own words.
    var words: NotificationWords { get }
    /// What this phone has rung for.
    var ledger: Ledger { get set }
    /// The number on the icon; nil if none is stored (S2.20).
    var badge: Badge? { get set }
    /// What the app's providers have said of a notification's conversation and sender.
    func names(of payload: NotificationPayload) -> KnownNames
}

extension ExtensionGroup {
    /// Changes the ledger beside the rest of the group.
    mutating func withLedger<Value>(_ body: (inout Ledger, inout Self) -> Value) -> Value {
        var ledger = self.ledger
        // Taken out, so that it is not copied.
        self.ledger = Ledger()
        defer { self.ledger = ledger }
        return body(&ledger, &self)
    }
}

extension Optional where Wrapped: ExtensionGroup {
    /// Changes the group where it lies; nil if there is none.
    @discardableResult
    mutating func change<Value>(_ body: (inout Wrapped) -> Value) -> Value? {
        // Taken out, so that nothing big is copied.
        guard var group = self.take() else { return nil }
        defer { self = group }
        return body(&group)
    }
}
