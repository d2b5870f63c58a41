package import TidingsModel

/// The app group: a file in a shell, a value in a simulation. The caller holds its lock around one event and stores
/// what was changed.
package protocol ExtensionGroup {
    var signIn: ExtensionDecision.SignIn { get }
    /// Nil if it is not known. Setting it where nobody is signed in changes nothing.
    var position: LogPosition? { get set }
    var showsContent: Bool { get }
    /// True if the extension that ran last may discard alerts.
    var extensionFilters: Bool { get set }
    var words: NotificationWords { get }
    var ledger: Ledger { get set }
    /// Nil if none is stored (S2.20).
    var badge: Badge? { get set }
    func names(of payload: NotificationPayload) -> KnownNames
}

extension ExtensionGroup {
    mutating func withLedger<Value>(_ body: (inout Ledger, inout Self) -> Value) -> Value {
        var ledger = self.ledger
        // Taken out, so that it is not copied.
        self.ledger = Ledger()
        defer { self.ledger = ledger }
        return body(&ledger, &self)
    }
}

extension Optional where Wrapped: ExtensionGroup {
    @discardableResult
    mutating func change<Value>(_ body: (inout Wrapped) -> Value) -> Value? {
        // Taken out, so that nothing big is copied.
        guard var group = self.take() else { return nil }
        defer { self = group }
        return body(&group)
    }
}
