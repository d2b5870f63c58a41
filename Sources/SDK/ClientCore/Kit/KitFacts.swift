package import TidingsModel

/// What the kit asks of the app's process while it decides.
package protocol KitFacts {
    /// Who is signed in, as far as process and app group tell.
    var signIn: ExtensionDecision.SignIn { get }
    /// Whether somebody is signed in, or was when the app last ran: all there is to go by where `signIn` is unknown.
    var hasPerson: Bool { get }
    /// Whether the local store has a message, whatever has become of it since: the person can have seen it.
    func isKnown(_ message: MessageID) -> Bool
}
