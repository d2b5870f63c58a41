import TidingsModel

struct DispatchFacts: Equatable, Sendable {
    var version: OSVersion
    var methods: DelegateMethods
    var delegateSet: Bool
    var delegateWasSet: Bool
    var scenes: Bool
    var quirks: Quirks
}

extension DispatchFacts {
    init(of app: App, _ turn: inout Turn) {
        self.init(
            version: turn.version, methods: app.installed.methods, delegateSet: app.process?.delegateSet ?? false,
            delegateWasSet: app.process?.delegateWasSet ?? false, scenes: app.installed.hasScenes(on: turn.version),
            quirks: turn.settings.quirks)
    }
}

enum ForegroundStep: Equatable, Sendable {
    case call(Callback)
    case callWillPresent
    case presentAsIs
    case presentNothing(PresentationReason)
}

/// The tables of ios-delivery.md §5 and §6 as pure functions: facts in, steps out. State and time are the caller's.
enum Dispatch {
    /// Arrival while the app is in the foreground (FA, FI): §5.1–§5.4.
    static func inForeground(_ arrival: Arrival, facts: DispatchFacts) -> [ForegroundStep] {
        guard arrival.pushClass != .nothing else { return [] }
        let old = self.oldCallback(for: arrival, facts: facts).map { [ForegroundStep.call($0)] } ?? []
        let wasVisible = arrival.pushClass.isVisible
        guard facts.version.hasUserNotifications else {
            return old + (wasVisible ? [.presentNothing(.inForegroundBeforeIOS10)] : [])
        }
        let fetch = arrival.pushClass.wakes ? old : []
        let hidden: PresentationReason = arrival.isFiltered ? .filtered : .notAuthorized
        guard facts.delegateSet else {
            guard wasVisible else { return old }
            guard arrival.isVisible else { return old + [.presentNothing(hidden)] }
            let shows = facts.quirks.noDelegatePresentsInForeground
            return old + [shows ? .presentAsIs : .presentNothing(.inForegroundWithoutDelegate)]
        }
        guard wasVisible else { return fetch }
        guard arrival.isVisible else { return fetch + [.presentNothing(hidden)] }
        let present: ForegroundStep =
            facts.methods.contains(.willPresent) ? .callWillPresent : .presentNothing(.willPresentMissing)
        return facts.quirks.foregroundFetchBeforeWillPresent ? fetch + [present] : [present] + fetch
    }

    private static func oldCallback(for arrival: Arrival, facts: DispatchFacts) -> Callback? {
        if arrival.isLocal { return facts.methods.contains(.receiveLocal) ? .receiveLocal(arrival.request) : nil }
        return self.remoteCallback(arrival.payload, facts: facts)
    }

    /// From iOS 7 the form with a fetch handler is preferred (S1.10).
    private static func remoteCallback(_ payload: JSONObject, facts: DispatchFacts) -> Callback? {
        if facts.version.wakesForPushes, facts.methods.contains(.receiveRemoteFetch) {
            return .receiveRemoteFetch(payload)
        }
        return facts.methods.contains(.receiveRemote) ? .receiveRemote(payload) : nil
    }

    /// Q5.
    static func wakeOptions(_ payload: JSONObject, facts: DispatchFacts) -> LaunchOptions {
        let lacksKey = facts.scenes && (facts.version >= 26 || !facts.quirks.sceneLaunchOptionsOnWake)
        return LaunchOptions(remoteNotification: lacksKey ? nil : payload)
    }

    /// §6.1, Q5, Q7.
    static func actionOptions(_ request: NotificationRequest, facts: DispatchFacts) -> LaunchOptions {
        if request.isRemote {
            let withKey = !facts.scenes || facts.quirks.sceneLaunchOptionsOnTap
            return LaunchOptions(remoteNotification: withKey ? request.content.userInfo : nil)
        }
        guard facts.version.hasUserNotifications else { return LaunchOptions(localNotification: request) }
        let withKey = !facts.scenes && facts.quirks.unLocalLaunchKey && facts.version < 26
        return LaunchOptions(localNotification: withKey ? request : nil)
    }

    /// §6.1, §6.3, §6.4. `launched` says that the action started the process, `wasActive` that the app was FA.
    static func responseCallbacks(
        _ response: UserResponse, launched: Bool, wasActive: Bool, facts: DispatchFacts
    ) -> [Callback] {
        let isTap = response.actionIdentifier == UserResponse.defaultAction
        if facts.version.hasUserNotifications, facts.delegateSet {
            if facts.methods.contains(.receiveResponse) {
                return self.fetchAgain(response, isTap: isTap, facts: facts) + [.receiveResponse(response)]
            }
            guard facts.quirks.missingDidReceiveFallsBack else { return [] }
        } else if launched, self.isDelegateLate(facts) {
            return []
        }
        guard isTap else {
            let isDismissal = response.actionIdentifier == UserResponse.dismissAction
            return isDismissal ? [] : self.oldAction(response, facts: facts)
        }
        let request = response.notification.request
        if !request.isRemote {
            guard facts.methods.contains(.receiveLocal) else { return [] }
            return !launched || facts.quirks.localLaunchAlsoCallsL0 ? [.receiveLocal(request)] : []
        }
        if launched, facts.scenes { return [] }
        return self.oldTap(request.content.userInfo, launched: launched, wasActive: wasActive, facts: facts)
    }

    /// A delegate set after `didFinishLaunching` returned: the response is lost, and nothing stands in for it
    /// (ios-delivery.md §6.1). One that was set and is gone again counts as none.
    private static func isDelegateLate(_ facts: DispatchFacts) -> Bool {
        facts.version.hasUserNotifications && !facts.delegateWasSet && facts.methods.contains(.receiveResponse)
            && !facts.quirks.lateDelegateFallsBack
    }

    /// Q9.
    private static func fetchAgain(_ response: UserResponse, isTap: Bool, facts: DispatchFacts) -> [Callback] {
        let request = response.notification.request
        guard facts.quirks.fetchTwiceOnTap, isTap, request.isRemote, facts.methods.contains(.receiveRemoteFetch),
            request.content.userInfo["aps"]?["content-available"]?.intValue == 1
        else { return [] }
        return [.receiveRemoteFetch(request.content.userInfo)]
    }

    /// Q1.
    private static func oldTap(
        _ payload: JSONObject, launched: Bool, wasActive: Bool, facts: DispatchFacts
    ) -> [Callback] {
        let hasBoth = facts.methods.isSuperset(of: [.receiveRemote, .receiveRemoteFetch])
        if facts.version.major == 10, facts.quirks.ios10BothCallbacksTap, hasBoth, !wasActive {
            return [.receiveRemote(payload)]
        }
        guard let callback = self.remoteCallback(payload, facts: facts) else { return [] }
        if case .receiveRemoteFetch = callback { return [callback] }
        return launched ? [] : [callback]
    }

    /// From iOS 8, and from iOS 10 without a UN delegate; the text form is preferred from iOS 9.
    private static func oldAction(_ response: UserResponse, facts: DispatchFacts) -> [Callback] {
        let request = response.notification.request
        let (withText, withoutText): (DelegateMethods, DelegateMethods) =
            request.isRemote ? (.actionRemoteText, .actionRemote) : (.actionLocalText, .actionLocal)
        let takesText = facts.version >= 9 && facts.methods.contains(withText)
        guard takesText || facts.version >= 8 && facts.methods.contains(withoutText) else { return [] }
        let action = response.actionIdentifier
        let text = takesText ? response.userText ?? "" : nil
        if !request.isRemote { return [.handleActionLocal(identifier: action, request, text: text)] }
        return [.handleActionRemote(identifier: action, request.content.userInfo, text: text)]
    }
}
