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
    package func hasMessage(_ id: MessageID) -> Bool { (try? self.engine?.store.isKnown(id)) ?? false }

    /// What the server has told of the sender's name in the group; nil for none, and elsewhere.
    package func storedNickname(_ question: NameQuestion) -> String? {
        guard let group = question.group else { return nil }
        return (try? self.engine?.store.nickname(of: question.sender, in: group)) ?? nil
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
        switch try? self.group(of: engine)?.update({ $0.signIn }) {
        case .signedIn(let known)?: return known == tag
        case .signedOut?: return false
        case .unknown?, nil: return engine != nil || self.folders.lastSignIn != nil
        }
    }

    /// Takes a push that is about the number on the icon alone, and shows the number if it is newer than what is known here.
    ///
    /// - Parameter isActive: whether the app is.
    package func take(_ push: BadgeInfo, isActive: Bool) async -> BadgePush.Verdict {
        let (engine, host, kit) = self.state.withLock { ($0.engine, $0.host, $0.kit) }
        let facts = BadgePush.Facts(
            isForPerson: self.isSignedIn(recipientTag: push.recipientTag), isActive: isActive,
            managesBadge: kit?.managesBadge ?? false)
        let group = self.group(of: engine)
        var none: Badge?
        // Files that cannot be used are as good as no stored badge.
        let verdict =
            (try? group?.update { BadgePush.verdict(push, facts, badge: &$0.badge) })
            ?? BadgePush.verdict(push, facts, badge: &none)
        guard case .shows(let number) = verdict else { return verdict }
        if let engine {
            await engine.showPushedBadge(number)
        } else {
            // Before the sign-in of a process that the push has started.
            await host?.showBadge(number)
        }
        return verdict
    }

    /// The app group, also before somebody has signed in; nil if there is none or it cannot be used.
    private func group(of engine: ClientEngine?) -> AppGroup? {
        engine?.parts.group
            ?? self.configuration.resolvedAppGroupFolder.flatMap {
                try? AppGroup(folder: $0, badgeKey: self.configuration.badgeKey)
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
