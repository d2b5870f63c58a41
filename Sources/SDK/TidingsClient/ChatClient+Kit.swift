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

    /// What the kit's decisions go by.
    package var kitFacts: ClientKitFacts { ClientKitFacts(client: self) }

    /// What the server has told of the sender's name in the group; nil for none, and elsewhere.
    package func storedNickname(_ question: NameQuestion) -> String? {
        guard let group = question.group else { return nil }
        return (try? self.engine?.store.nickname(of: question.sender, in: group)) ?? nil
    }

    /// A push has rung in the foreground before its message came over the connection: should that be in the background, the message
    /// does not ring again (DESIGN P3). Where the service extension ran, it has said so already.
    package func noteRung(_ id: MessageID) { self.engine?.markShown(id) }

    /// Counts a push that is about the number on the icon alone.
    ///
    /// - Parameter isActive: whether the app is.
    package func count(_ push: BadgeInfo, isActive: Bool) async -> BadgePush.Verdict {
        let (engine, kit) = self.state.withLock { ($0.engine, $0.kit) }
        let facts = BadgePush.Facts(isActive: isActive, managesBadge: kit?.managesBadge ?? false)
        var none: Badge?
        // Files that cannot be used are as good as no stored badge.
        return (try? self.group(of: engine)?.update { BadgePush.verdict(push, facts, badge: &$0.badge) })
            ?? BadgePush.verdict(push, facts, badge: &none)
    }

    /// Shows a number that a push has told, also before the sign-in of a process that the push has started.
    package func showPushedBadge(_ number: Int) async {
        let (engine, host) = self.state.withLock { ($0.engine, $0.host) }
        if let engine { return await engine.showPushedBadge(number) }
        // The person may have left since it was counted: the app group knows.
        let stored = (try? self.group(of: nil)?.update { $0.badge?.shown }) ?? nil
        await host?.showBadge(stored ?? number)
    }

    /// The app group, also before somebody has signed in; nil if there is none or it cannot be used.
    fileprivate func group(of engine: ClientEngine?) -> AppGroup? {
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

/// What the kit's decisions go by in the app's process.
package struct ClientKitFacts: KitFacts {
    let client: ChatClient

    /// What this process has heard from the server, otherwise what the app group says.
    package var signIn: ExtensionDecision.SignIn {
        let engine = self.client.engine
        if let known = engine?.shared.withLock({ $0.recipientTag }) { return .signedIn(recipientTag: known) }
        return (try? self.client.group(of: engine)?.update { $0.signIn }) ?? .unknown
    }

    /// Whether somebody is signed in, or was when the app last ran.
    package var hasPerson: Bool { self.client.engine != nil || self.client.folders.lastSignIn != nil }

    /// Whether the local store has a message.
    package func isKnown(_ message: MessageID) -> Bool { (try? self.client.engine?.store.isKnown(message)) ?? false }
}
