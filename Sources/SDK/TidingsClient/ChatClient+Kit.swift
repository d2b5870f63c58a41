package import ClientCore
import TidingsAppGroup
package import TidingsModel

// What the kit adds to a client, and what it reads of it.
extension ChatClient {
    /// The global switch for local notifications (S3.3). Without the kit it has no effect.
    public var isLocalNotificationEnabled: Bool {
        get { self.state.withLock { $0.switches.isLocalNotificationEnabled } }
        set { self.change { $0.isLocalNotificationEnabled = newValue } }
    }

    /// Whether a local notification shows the message's text; otherwise a fixed text and no title (requirements S3).
    public var showsNotificationContent: Bool {
        get { self.state.withLock { $0.switches.showsContent } }
        set { self.change { $0.showsContent = newValue } }
    }

    /// Whether the kit writes the number on the icon (S2.11, S2.17): when the app stops being active, with each local
    /// notification, and when the count changes in the background. Off, the app does it as it needs.
    public var isBadgeManaged: Bool {
        get { self.state.withLock { $0.switches.managesBadge } }
        set { self.change { $0.managesBadge = newValue } }
    }

    /// The switches for a kit with or without a callback of the app's (S3.4).
    package func kitSettings(hasDelegate: Bool) -> KitSettings {
        self.state.withLock { state in
            state.switches.hasDelegate = hasDelegate
            return state.switches
        }
    }

    /// Whether the local store has a message.
    package func hasMessage(_ id: MessageID) -> Bool { (try? self.engine?.store.contains(id)) ?? false }

    /// The names the local store knows: a group's, and what its sender is called there. It knows no person's own name.
    package func storedNames(_ question: NameQuestion) -> ResolvedNames {
        guard let group = question.group,
            let known = try? self.engine?.store.names(of: question.sender, in: group)
        else { return ResolvedNames() }
        return ResolvedNames(group: known.conversation, member: known.member)
    }

    /// A push has rung in front before its message came over the connection: should that be in the background, the message
    /// does not ring again (DESIGN P3). Where the service extension ran, it has said so already.
    package func noteRung(_ id: MessageID) { self.engine?.markShown(id) }

    /// Whether a notification for this recipient tag is for the person who is signed in here (DESIGN P7). Where only the server
    /// could say whose tag it is — without an app group, before the first welcome of this process — it is enough that somebody
    /// is signed in.
    package func isSignedIn(recipientTag tag: String) -> Bool {
        let engine = self.engine
        if let known = engine?.shared.withLock({ $0.recipientTag }) { return known == tag }
        let group =
            engine?.parts.group
            ?? self.configuration.resolvedAppGroupFolder.flatMap {
                try? AppGroup(folder: $0, badgeKey: self.configuration.badgeKey)
            }
        switch try? group?.update({ $0.signIn }) {
        case .signedIn(let known)?: return known == tag
        case .signedOut?: return false
        case .unknown?, nil: return engine != nil || self.folders.lastSignIn != nil
        }
    }

    private func change(_ change: (inout KitSettings) -> Void) {
        let (host, settings) = self.state.withLock { state in
            change(&state.switches)
            return (state.host, state.switches)
        }
        if host != nil { self.attach(host: host, settings: settings) }
    }
}
