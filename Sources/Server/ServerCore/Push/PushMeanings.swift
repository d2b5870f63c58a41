package import APNsModel

extension PassedPushState {
    /// In a sentence, for a person who looks for a fault.
    package var meaning: String {
        switch self {
        case .pushing: "APNs has not answered yet; it may still take or refuse the push."
        case .accepted: "APNs took the push and tries to deliver it; whether the phone got it, APNs does not say."
        case .refused(let refusal): refusal.meaning
        case .notSent(let reason): Self.meaning(ofNotSent: reason)
        case .unanswered: "The push was sent and the answer was lost: it may have been shown."
        }
    }

    private static func meaning(ofNotSent reason: String) -> String {
        switch reason {
        case "no_token": "The device has no token that can be pushed to: its app has to register one."
        case Self.noCredential: "The app has no push credential for this environment."
        case "config_fault":
            "Not sent: APNs has refused the app's credential or this topic, or there is none; nothing goes out until that is put right."
        case "breaker_open":
            "Not sent: APNs has refused this token, which is not sent to again, or those of many people, and the topic is stopped."
        case "provider_down": "Not sent: APNs cannot be reached, or fails itself."
        default: "Not sent: \(reason)."
        }
    }
}

extension APNsRefusal {
    /// Explains the refusal in terms of token, request or credential.
    package var meaning: String {
        switch self.reason {
        case .badDeviceToken:
            return
                "The token is none of this environment: a development build's goes to sandbox, that of the App Store and TestFlight to production."
        case .deviceTokenNotForTopic:
            return "The token belongs to another app, or another kind of push, than the topic."
        case .unregistered, .expiredToken:
            return "The token is no longer valid: the app was removed, or has another token that it has not registered."
        case .tooManyRequests: return "Too many pushes went to this token in a short time; later ones may be taken."
        case .channelNotRegistered: return "There is no such channel: it was deleted, or is of the other environment."
        case .featureNotEnabled: return "Broadcasts are not switched on for the app in Apple's developer account."
        default: break  // tidy: the others are told by what is to be done about them
        }
        let what =
            switch self.reaction {
            case .drop: "The token is no longer valid."
            case .quarantine: "APNs does not take the token for this topic."
            case .config:
                "APNs does not take the credential, or not for this topic; nothing of it goes out until that is put right."
            case .bug: "The request breaks a rule of APNs, and would be refused again."
            case .auth: "APNs does not take the provider token; a new one is made."
            case .connection: "APNs wants the push on another connection; it may be sent again."
            case .backoff: "APNs cannot take it now; it may be sent again later."
            }
        return self.reason.advice.map { "\(what) Look here: \($0)." } ?? what
    }
}

extension TestPushReport {
    /// The facts that no server can know, and those that this one does not, in sentences.
    package var unknowns: [String] {
        var unknowns = [
            "Whether the phone was reached: APNs takes a push also for a phone that is off, and this one is not kept for it.",
            "Whether somebody saw or heard it: a Focus, the mute switch or the scheduled summary keep a phone silent.",
            "An app that was force-quit shows the alert all the same, but gets no silent push and runs no code before it is opened.",
        ]
        if self.device.reported == nil {
            unknowns.append(
                "What the person allows the app to show: the device has reported nothing since it signed in.")
        }
        return unknowns
    }
}

extension SilentPushReport {
    package static let notes = [
        "An app that was force-quit gets no silent push until the person opens it again.",
        "iOS lets few silent pushes through, and none where background refresh is off or power is low; it may deliver them late.",
    ]
}
