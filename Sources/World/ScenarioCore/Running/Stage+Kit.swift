import ClientCore
import PhoneCore
import TidingsModel

// Answers that the kit gives by itself, where the host plays the kit and not an app that forwards nothing.
extension Stage {
    /// How the kit answers a call.
    enum KitAnswer: Equatable {
        /// It is none of the kit's.
        case leftToApp
        case atOnce(CallbackResult)
        /// When the client has caught up.
        case later
    }

    /// The kit's answer to an arrival in front (S2.9) or a wake (S4.9).
    mutating func kitAnswer(to callback: Callback, _ number: CallbackNumber, in process: ProcessID) -> KitAnswer {
        guard let sdk = self.app.sdk, sdk.answersAsKit, process.role == .app else { return .leftToApp }
        switch callback {
        case .willPresent(let notification):
            let content = notification.request.content
            let info = PushInfo(userInfo: .object(content.userInfo))
            // A local notification of the kit's is of a message in the store.
            guard info != nil || !notification.request.isRemote else { return .leftToApp }
            let isForAnother = info.map { $0.recipientTag != sdk.recipient?.tag } ?? false
            let options = FrontPresentation.choice(
                isForAnother: isForAnother, isKnown: info.map { sdk.store.isKnown($0.message) } ?? true,
                isSilenced: content.sound == nil)
            let major = self.setup.phone.version.major
            return .atOnce(.presentation(.init(rawValue: options.systemValue(major: major))))
        case .receiveRemoteFetch(let payload):
            guard payload[PushInfo.key] != nil else { return .atOnce(.fetch(.noData)) }
            if let push = BadgeInfo(userInfo: .object(payload)), push.recipientTag != sdk.recipient?.tag {
                return .atOnce(.fetch(.noData))
            }
            let remaining = self.core.backgroundTimeRemaining(of: Self.bundle, at: self.now)
            self.client(.wakeBegan(number, remainingMilliseconds: remaining), in: process)
            return .later
        default: return .leftToApp
        }
    }

    /// A silent push about the number on the icon.
    mutating func badgePushed(_ push: BadgeInfo, _ state: ApplicationState, in process: ProcessID) {
        guard let sdk = self.app.sdk, sdk.setup.hasKit else { return }
        let facts = BadgePush.Facts(
            isForPerson: push.recipientTag == sdk.recipient?.tag, isActive: state == .active,
            managesBadge: sdk.setup.kit.managesBadge)
        var badge = sdk.badge
        let verdict = BadgePush.verdict(push, facts, badge: &badge)
        self.app.sdk?.badge = badge
        if case .shows(let number) = verdict { self.setBadge(number, in: process) }
    }

    /// A wake is answered.
    mutating func finishWake(_ number: WakeNumber, _ result: BackgroundRefreshResult, in process: ProcessID) {
        if self.finishWork(number, in: process) { return }
        guard self.app.sdk?.answersAsKit == true else { return }
        let result: FetchResult =
            switch result {
            case .newData: .newData
            case .noData: .noData
            case .failed: .failed
            }
        self.follow(.process(process, .callbackCompleted(number, .fetch(result))))
    }
}

extension Callback {
    /// Whether it comes before the app is active.
    var entersForeground: Bool {
        switch self {
        case .sceneWillEnterForeground, .applicationWillEnterForeground: true
        default: false
        }
    }
}
