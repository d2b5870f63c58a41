import TidingsModel

// What follows from each event.
extension KitMachine.Turn {
    mutating func handle(_ event: KitMachine.Event, _ facts: some KitFacts) {
        switch event {
        case .presentationRequested(let arrival, let call): self.requestPresentation(of: arrival, call, facts)
        case .presentationChosen(let options, let call):
            guard let presentation = self.removePresentation(call) else { return }
            self.effects.append(.present(options, call))
            guard let message = presentation.message, !options.isDisjoint(with: [.banner, .sound]) else { return }
            self.markRung(message)
        case .presentationTimePassed(let call):
            if self.removePresentation(call) != nil { self.effects.append(.present([], call)) }
        case .remoteArrived(let arrival, let appState, let isCenterDelegateSet, let call):
            let hasOldCallbacks = self.settings.major < 10 || !isCenterDelegateSet
            self.receiveRemote(arrival, appState, hasOldCallbacks: hasOldCallbacks, call, facts)
        case .localArrived(let arrival, let appState):
            guard appState == .active else {
                return self.respond(
                    KitMachine.Tap(userInfo: arrival.userInfo, text: arrival.text, origin: .callback), nil, facts)
            }
            guard self.isOurs(arrival.userInfo) else { return self.effects.append(.leaveToApp) }
            guard !KitMachine.isForAnother(arrival.userInfo, facts) else { return }
            self.ringInForeground(arrival, facts)
        case .messageArrived(let message):
            // The ledger has it, so nothing else rings for it. Its recipient may have signed out since.
            guard !KitMachine.isForAnother(message.userInfo, facts) else { return }
            self.effects += self.settings.foregroundPresentation.steps(for: message).map { .ring($0) }
        case .fetchRequested(let call): self.effects.append(.refresh(call))
        case .badgeCounted(let verdict, let call): self.finishCounting(verdict, call)
        case .badgeShown(let call): self.refreshAfterBadge(call)
        case .refreshed(let result, let call):
            let index = self.state.wakes.firstIndex { $0.call == call }
            let showsBadge = index.map { self.state.wakes.remove(at: $0).showsBadge } ?? false
            self.effects.append(.answerFetch(showsBadge ? .newData : result, call))
        case .responded(let tap, let call): self.respond(tap, call, facts)
        case .launched(let tap, let appState):
            // A push that woke the app in the background is not a tap.
            guard appState != .background else { return self.effects.append(.leaveToApp) }
            self.respond(tap, nil, facts)
        case .worked(let call): self.effects.append(.completeResponse(call))
        case .registrationFailed: self.state.needsToken = true
        case .becameActive:
            self.state.taps.launchEnded()
            guard self.state.needsToken else { return }
            self.state.needsToken = false
            self.effects.append(.registerForRemoteNotifications)
        }
    }

    // MARK: Whose it is

    /// An `rc` dictionary, a push type of the app's own, or a push of the server's for the SDK.
    private func isOurs(_ userInfo: JSONValue) -> Bool {
        self.settings.router.route(for: userInfo) != nil || userInfo[PushInfo.key] != nil
    }

    func isKnown(_ notification: ReceivedNotification, _ facts: some KitFacts) -> Bool {
        Self.message(of: notification).map { self.state.rung.contains($0) || facts.isKnown($0) } ?? false
    }

    private static func message(of notification: ReceivedNotification) -> MessageID? {
        notification.payload?.messageUID.flatMap { MessageID($0) }
    }

    private static func received(_ arrival: KitMachine.Arrival, isSilenced: Bool = false) -> ReceivedNotification {
        ReceivedNotification(
            payload: try? NotificationPayload(userInfo: arrival.userInfo), text: arrival.text,
            userInfo: arrival.userInfo, isSilenced: isSilenced)
    }

    // MARK: Arrivals

    private mutating func requestPresentation(
        of arrival: KitMachine.Arrival, _ call: KitMachine.Call, _ facts: some KitFacts
    ) {
        guard self.isOurs(arrival.userInfo) else { return self.effects.append(.leaveToApp) }
        // Neither is the app told of it nor asked.
        guard !KitMachine.isForAnother(arrival.userInfo, facts) else { return self.effects.append(.present([], call)) }
        // A number that no extension has reduced to one: an active app counts itself.
        if BadgeInfo(userInfo: arrival.userInfo) != nil { return self.effects.append(.present([], call)) }
        let isSilenced = arrival.userInfo[PushInfo.key] != nil && !arrival.hasSound && !arrival.isMeantPassive
        let received = Self.received(arrival, isSilenced: isSilenced)
        self.state.presentations.append(.init(call: call, message: Self.message(of: received)))
        self.effects += [
            .publishArrival(received, isForeground: true),
            .choosePresentation(received, call, withinMilliseconds: KitMachine.presentationMilliseconds),
        ]
    }

    private mutating func removePresentation(_ call: KitMachine.Call) -> KitMachine.Presentation? {
        self.state.presentations.firstIndex { $0.call == call }.map { self.state.presentations.remove(at: $0) }
    }

    private mutating func markRung(_ message: MessageID) {
        self.state.rung.insert(message)
        self.effects.append(.markShown(message))
    }

    /// Active means an arrival, background a wake. Inactive means a tap where the old callbacks report taps, but a
    /// push without text cannot have been tapped (S1.8 with the right rules).
    private mutating func receiveRemote(
        _ arrival: KitMachine.Arrival, _ appState: KitMachine.AppState, hasOldCallbacks: Bool,
        _ call: KitMachine.Call?, _ facts: some KitFacts
    ) {
        if let push = BadgeInfo(userInfo: arrival.userInfo), call != nil || !arrival.text.isEmpty {
            // One with words is an alert that no extension has reduced to the number.
            guard let call else { return }
            return self.receiveBadgePush(push, of: arrival, appState, call, facts)
        }
        guard self.isOurs(arrival.userInfo) else { return self.effects.append(.leaveToApp) }
        if !KitMachine.isForAnother(arrival.userInfo, facts) {
            let isTap = appState == .inactive && hasOldCallbacks && !arrival.text.isEmpty
            if appState == .active, hasOldCallbacks {
                self.ringInForeground(arrival, facts)
            } else if isTap {
                // What the extension has stripped names nothing to open.
                if self.settings.router.route(for: arrival.userInfo) != nil {
                    self.respond(
                        KitMachine.Tap(userInfo: arrival.userInfo, text: arrival.text, origin: .callback), nil, facts)
                }
            } else if appState == .background || arrival.text.isEmpty {
                // The notification centre's delegate tells of the others in the foreground.
                self.effects.append(.publishArrival(Self.received(arrival), isForeground: appState != .background))
            }
        } else if arrival.text.isEmpty, let call {
            return self.effects.append(.answerFetch(.noData, call))
        }
        if let call { self.effects.append(.refresh(call)) }
    }

    /// The system has shown and played nothing (S4.2).
    private mutating func ringInForeground(_ arrival: KitMachine.Arrival, _ facts: some KitFacts) {
        let received = Self.received(arrival)
        self.effects.append(.publishArrival(received, isForeground: true))
        let steps = self.settings.foregroundPresentation.steps(
            text: arrival.text, hasSound: arrival.hasSound, userInfo: arrival.userInfo,
            isKnown: self.isKnown(received, facts))
        if !steps.isEmpty, let message = Self.message(of: received) { self.markRung(message) }
        self.effects += steps.map { .ring($0) }
    }

    // MARK: Badge pushes

    private mutating func receiveBadgePush(
        _ push: BadgeInfo, of arrival: KitMachine.Arrival, _ appState: KitMachine.AppState, _ call: KitMachine.Call,
        _ facts: some KitFacts
    ) {
        guard !KitMachine.isForAnother(arrival.userInfo, facts) else {
            return self.effects.append(.answerFetch(.noData, call))
        }
        self.state.wakes.append(
            .init(call: call, arrival: Self.received(arrival), isForeground: appState != .background))
        self.effects.append(.countBadge(push, isActive: appState == .active, call))
    }

    private mutating func finishCounting(_ verdict: BadgePush.Verdict, _ call: KitMachine.Call) {
        guard let index = self.state.wakes.firstIndex(where: { $0.call == call }) else { return }
        switch verdict {
        case .stays: self.refreshAfterBadge(call)
        case .shows(let number):
            self.state.wakes[index].showsBadge = true
            self.effects.append(.showBadge(number, call))
        }
    }

    private mutating func refreshAfterBadge(_ call: KitMachine.Call) {
        guard let wake = self.state.wakes.first(where: { $0.call == call }) else { return }
        self.effects += [.publishArrival(wake.arrival, isForeground: wake.isForeground), .refresh(call)]
    }

    // MARK: Taps

    private mutating func respond(_ tap: KitMachine.Tap, _ call: KitMachine.Call?, _ facts: some KitFacts) {
        guard let route = self.settings.router.route(for: tap.userInfo) else {
            return self.effects.append(.leaveToApp)
        }
        let work = self.openAndCollectWork(tap, route, facts)
        if !work.isEmpty {
            self.effects.append(.work(work, call))
        } else if let call {
            self.effects.append(.completeResponse(call))
        }
    }

    /// Returns what is to be done before the handler is called; a second report of a handled tap needs nothing.
    private mutating func openAndCollectWork(_ tap: KitMachine.Tap, _ route: Route, _ facts: some KitFacts)
        -> [BackgroundWork]
    {
        // What was left by the person before is not this one's to open or to answer (design.md P7).
        guard !KitMachine.isForAnother(tap.userInfo, facts) else { return [] }
        let payload = try? NotificationPayload(userInfo: tap.userInfo)
        let identity = TapLog.Identity(
            request: tap.request, deliveredAt: tap.deliveredAt, content: payload?.messageUID ?? tap.userInfo.text,
            action: tap.action, origin: tap.origin)
        let isOpen = self.state.taps.consumeLaunch(by: identity)
        guard tap.origin == .inAppBanner || self.state.taps.insert(identity) else { return [] }
        let response = PersonResponse(
            route: route, payload: payload, text: tap.text, userInfo: tap.userInfo, actionIdentifier: tap.action,
            userText: tap.userText, origin: tap.origin)
        let message = payload?.messageUID.flatMap { MessageID($0) }
        let steps = ResponseRule.steps(
            action: tap.action, text: tap.userText, route: route, conversation: payload?.conversation,
            position: PushInfo(userInfo: tap.userInfo)?.position)
        var work: [BackgroundWork] = []
        for step in steps {
            switch step {
            case .publish: self.effects.append(.publishResponse(response))
            case .open where isOpen: break
            case .open(let route):
                if let message { self.effects.append(.reportOpened(message)) }
                if let conversation = route.conversation { self.effects.append(.clearNotifications(conversation)) }
                self.effects.append(.open(response))
            case .reply(let text, let conversation, let position):
                work.append(.reply(text, to: conversation, upTo: position, message: message))
            case .markRead(let conversation, let position):
                work.append(.markRead(conversation, upTo: position, message: message))
            }
        }
        return work
    }
}
