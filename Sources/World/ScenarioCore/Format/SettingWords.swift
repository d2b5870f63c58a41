import PhoneCore

/// The quirks of ios-delivery.md §14, by number; those without one by their name in PhoneCore.
enum QuirkWords {
    static var all: [(word: String, path: WritableKeyPath<PhoneSettings, Bool>, summary: String)] {
        [
            (
                "Q1", \.quirks.ios10BothCallbacksTap,
                "iOS 10 without a UN delegate: a tap prefers the old callback without a fetch handler; on"
            ),
            (
                "Q2", \.quirks.foregroundFetchBeforeWillPresent,
                "in the foreground the fetch callback comes before willPresent; on"
            ),
            (
                "Q3", \.quirks.missingDidReceiveFallsBack,
                "a delegate without didReceive leaves taps to the old callbacks; off"
            ),
            (
                "Q4", \.quirks.noDelegatePresentsInForeground,
                "without a delegate a push in the foreground is shown; off"
            ),
            ("Q5", \.quirks.sceneLaunchOptionsOnTap, "the launch option remoteNotification with scenes, on a tap; off"),
            (
                "sceneLaunchOptionsOnWake", \.quirks.sceneLaunchOptionsOnWake,
                "Q5 on a launch in the background, before iOS 26; on"
            ),
            (
                "Q6", \.quirks.localLaunchAlsoCallsL0,
                "didReceive(UILocalNotification) follows the launch on a cold tap; off"
            ),
            ("Q7", \.quirks.unLocalLaunchKey, "a cold tap on a local request fills localNotification, iOS 10–25; on"),
            ("Q8", \.quirks.badgeZeroClearsDelivered, "applicationIconBadgeNumber 0 clears the list; on"),
            ("Q9", \.quirks.fetchTwiceOnTap, "the fetch callback again on a tap although didReceive exists; off"),
            ("Q10", \.quirks.extensionRunsBeforeFirstUnlock, "the service extension runs before the first unlock; on"),
            ("Q11", \.unlimitedWakes, "run from Xcode: silent pushes are not throttled; off"),
            ("Q12", \.quirks.inactiveOnArrival, "a push that meets the app inactive says so; on"),
            ("Q13", \.quirks.lockHeldWhileSuspendedKills, "a lock in the app group held at suspension kills; on"),
            ("Q14", \.quirks.killedExtensionWithFilteringDiscards, "a killed extension that may filter discards; off"),
            ("Q15", \.quirks.pushTypeMismatchHides, "a push type that does not fit the payload hides it; off"),
            (
                "lateDelegateFallsBack", \.quirks.lateDelegateFallsBack,
                "a delegate set after DF has returned leaves a cold tap to the old callbacks; off"
            ),
            ("pushToStartWakes", \.quirks.pushToStartWakes, "a push that starts a Live Activity launches the app; on"),
            ("badgeZeroRequestIsLost", \.quirks.badgeZeroRequestIsLost, "a local request of badge 0 alone is lost; on"),
        ]
    }

    static var table: String { Self.all.map { "\($0.word) | on or off | \($0.summary)" }.joined(separator: "\n") }
}

extension AlertStyle {
    var word: String { "\(self)" }
    static let words = Self.allCases.map(\.word)
}

enum AuthorizationWords {
    static let all: [(String, AuthorizationOptions)] = [
        ("alert", .alert), ("sound", .sound), ("badge", .badge), ("provisional", .provisional),
        ("criticalAlert", .criticalAlert), ("timeSensitive", .timeSensitive),
        ("providesAppNotificationSettings", .providesAppNotificationSettings),
    ]
    static let list = Self.all.map(\.0).joined(separator: ", ")
}
