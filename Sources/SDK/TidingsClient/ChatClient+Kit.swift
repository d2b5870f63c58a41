package import ClientCore
import TidingsAppGroup
package import TidingsModel

// The client's side of the kit.
extension ChatClient {
    /// The global switch for local notifications (S3.3). Without the kit it has no effect.
    public var isLocalNotificationEnabled: Bool {
        get { self.state.withLock { $0.switches.isLocalNotificationEnabled } }
        set { self.changeSwitches { $0.isLocalNotificationEnabled = newValue } }
    }

    /// True while local notifications show the message's text; otherwise they have a fixed text and no title (requirements S3).
    public var showsNotificationContent: Bool {
        get { self.state.withLock { $0.switches.showsContent } }
        set { self.changeSwitches { $0.showsContent = newValue } }
    }

    /// True while the kit writes the number on the icon (S2.11, S2.17): when the app stops being active, with each local notification, and
    /// when the count changes in the background. Otherwise the app does it as it needs.
    public var isBadgeManaged: Bool {
        get { self.state.withLock { $0.switches.managesBadge } }
        set { self.changeSwitches { $0.managesBadge = newValue } }
    }

    /// True while local notifications take people's and groups' names from the server where the app's providers give none. By default they
    /// do not: a message without a name from the app becomes no local notification (S0.4, S3.5).
    ///
    /// The server has names if the app's backend tells it (`PUT …/users/{user}/profile`, see docs/server/api-people.md), or people choose their own
    /// (`setProfile(_:)`).
    public var usesServerNames: Bool {
        get { self.state.withLock { $0.switches.usesServerNames } }
        set { self.changeSwitches { $0.usesServerNames = newValue } }
    }

    /// True while a message that comes over the connection with the app in the foreground, and belongs to another screen, rings there: with
    /// a banner that the app draws (`NotificationIntegration.inAppBanners`), a sound and vibration (S4.2, S4.6). Off by default, because
    /// only an app that keeps `activeConversation` up to date knows which messages those are.
    ///
    /// Never for what the person's level or quiet hours silence, their own messages, what has expired, and what is caught up with after a
    /// connection was lost.
    public var ringsInForeground: Bool {
        get { self.state.withLock { $0.switches.ringsInForeground } }
        set { self.changeSwitches { $0.ringsInForeground = newValue } }
    }

    /// True while notifications of one-to-one conversations, groups and discussions come from people, not from the app, from iOS 15 on
    /// (ios-delivery.md §11). The app needs the entitlement `com.apple.developer.usernotifications.communication` and `INSendMessageIntent`
    /// among its `NSUserActivityTypes`; the extension has an option of its own, and both must say the same. Off by default.
    ///
    /// The system is then told of the person's own messages, too, for its suggestions, and told to forget: a message that was recalled, a
    /// conversation the person has been put out of, and everything at a sign-out, where notifications hide what messages say, and when this is
    /// switched off.
    public var usesCommunicationNotifications: Bool {
        get { self.state.withLock { $0.switches.usesCommunicationNotifications } }
        set { self.changeSwitches { $0.usesCommunicationNotifications = newValue } }
    }

    /// The conversation on the screen, whose messages do not ring; nil while none is.
    public var activeConversation: ConversationID? {
        get { self.state.withLock { $0.switches.activeConversation } }
        set { self.changeSwitches { $0.activeConversation = newValue } }
    }

    package func kitSettings(hasDelegate: Bool) -> KitSettings {
        self.state.withLock { state in
            state.switches.hasDelegate = hasDelegate
            return state.switches
        }
    }

    package func decideCall(_ payload: JSONValue) -> CallDecision {
        CallDecision(
            payload: payload,
            nameKnownHere: { caller in
                (try? self.group(of: self.engine)?.update { $0.settings[name: .user(caller)] }) ?? nil
            }, facts: self.kitFacts)
    }

    package var kitFacts: ClientKitFacts { ClientKitFacts(client: self) }

    /// The app's names, with the server's where they may stand in for them.
    package func filled(_ names: ResolvedNames, for question: NameQuestion) async -> ResolvedNames {
        let settings = self.state.withLock { $0.switches }
        var server = ResolvedNames()
        if let group = question.group, let store = self.engine?.store {
            server.member = (try? store.ask { try $0.rows.nickname(of: question.sender, in: group) }) ?? nil
            let info = (try? store.ask { try $0.info(group) }) ?? nil
            server.group = info?.name
            server.memberCount = info.map(\.members.count).flatMap { $0 > 0 ? $0 : nil }
        }
        // Only where it is needed: it may take a request.
        if settings.usesServerNames, names.user == nil {
            server.user = try? await self.profiles(of: [question.sender]).first?.profile.name
        }
        return names.filled(by: server, settings)
    }

    /// Remembers names for the person who is signed in; does nothing without one.
    package func remember(_ names: ResolvedNames, for question: NameQuestion) {
        self.engine?.remember(names, for: question)
    }

    /// Also before the sign-in of a process that a push has started: then with the configured app group.
    package func carryOut(_ effect: KitMachine.Effect) async -> KitMachine.Event? {
        let managesBadge = self.state.withLock { $0.kit?.managesBadge ?? false }
        guard let work = effect.centerWork(managesBadge: managesBadge),
            case .kit(let event)? = await self.carryOut(work)
        else { return nil }
        return event
    }

    func carryOut(_ work: NotificationCenterQueue.Work) async -> NotificationCenterQueue.Answer? {
        await withCheckedContinuation { continuation in
            let engine = self.engine
            let requester =
                engine?.centerRequester { continuation.resume(returning: $0) }
                ?? NotificationCenterWorker.Requester(
                    group: self.group(of: nil), process: self.processNumber, clock: self.clock, position: { _ in nil },
                    groupFailed: { _ in }, finish: { continuation.resume(returning: $0) })
            self.center.request(work, for: requester)
        }
    }

    /// A push has rung in the foreground before its message came over the connection; if that comes in the
    /// background, it does not ring again (design.md P3). Where the service extension ran, it has already marked it.
    package func markShown(_ message: MessageID) { self.engine?.requestCenterWork(.markShown(message)) }

    fileprivate func group(of engine: ClientEngine?) -> AppGroup? {
        engine?.parts.group
            ?? self.configuration.resolvedAppGroupFolder.flatMap {
                try? AppGroup(
                    folder: $0, identifier: self.configuration.appGroupIdentifier,
                    badgeKey: self.configuration.badgeKey, foreignBadge: self.reportForeignBadge)
            }
    }

    var reportForeignBadge: @Sendable (ForeignBadge) -> Void {
        { [weak self] in
            self?.report(.badgeOverwritten(key: $0.key, written: $0.written, kept: $0.kept))
        }
    }

    private func changeSwitches(_ change: (inout KitSettings) -> Void) {
        let (host, settings) = self.state.withLock { state in
            change(&state.switches)
            return (state.host, state.switches)
        }
        if host != nil { self.attach(host: host, settings: settings) }
    }
}

package struct ClientKitFacts: KitFacts {
    let client: ChatClient

    /// The sign-in that this process has heard of from the server; otherwise the app group's.
    package var signIn: ExtensionDecision.SignIn {
        let engine = self.client.engine
        if let known = engine?.shared.withLock({ $0.recipientTag }) { return .signedIn(recipientTag: known) }
        return (try? self.client.group(of: engine)?.update { $0.signIn }) ?? .unknown
    }

    package var hasPerson: Bool { self.client.engine != nil || self.client.folders.lastSignIn != nil }

    package func isKnown(_ message: MessageID) -> Bool {
        (try? self.client.engine?.store.ask { try $0.isKnown(message) }) ?? false
    }
}
