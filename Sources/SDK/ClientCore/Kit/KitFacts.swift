package import TidingsModel

/// What the kit asks of the app's process while it decides.
package protocol KitFacts {
    var signIn: ExtensionDecision.SignIn { get }
    /// Whether somebody is signed in, or was when the app last ran: all there is to go by where `signIn` is unknown.
    var hasPerson: Bool { get }
    /// Whatever has become of the message since: the person can have seen it.
    func isKnown(_ message: MessageID) -> Bool
}
