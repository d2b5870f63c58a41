package import TidingsModel

/// Facts about the app's process that the kit asks for while it decides.
package protocol KitFacts {
    var signIn: ExtensionDecision.SignIn { get }
    /// True if a person is signed in, or was when the app last ran: the only hint where `signIn` is unknown.
    var hasPerson: Bool { get }
    /// Whatever has become of the message since: the person can have seen it.
    func isKnown(_ message: MessageID) -> Bool
}
