package import TidingsModel

/// The reaction to a VoIP push. A call is always reported, by kit or app: iOS 13 and later kill an app that reports none (ios-delivery.md
/// §12).
package enum CallDecision: Hashable, Sendable {
    /// Rings, with the name that stands on the screen; nil for nothing that a person reads.
    case ring(CallInfo, callerName: String?)
    /// The person it is for is not the one who is signed in: it is reported without saying who calls, and ended at once.
    case refuse(CallInfo)
    /// The push is another sender's: reporting is left to the app.
    case leave

    /// - Parameters:
    ///   - payload: the push's.
    ///   - nameKnownHere: what the app itself calls the caller.
    package init(payload: JSONValue, nameKnownHere: (UserID) -> String?, facts: some KitFacts) {
        guard let call = CallInfo(userInfo: payload) else {
            self = .leave
            return
        }
        guard !KitMachine.isForAnother(payload, facts) else {
            self = .refuse(call)
            return
        }
        self = .ring(call, callerName: nameKnownHere(call.caller) ?? call.callerName)
    }
}
