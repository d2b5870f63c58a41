public import TidingsModel

/// How a notification is presented while the app is in the foreground.
public struct PresentationOptions: OptionSet, Hashable, Sendable {
    /// One bit for each option, as `UNNotificationPresentationOptions` has them.
    public let rawValue: UInt
    /// Options by their bits; unknown ones are kept.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The number on the icon.
    public static let badge = PresentationOptions(rawValue: 1 << 0)
    /// The sound.
    public static let sound = PresentationOptions(rawValue: 1 << 1)
    /// The entry in Notification Center; part of the alert below iOS 14.
    public static let list = PresentationOptions(rawValue: 1 << 3)
    /// The banner; part of the alert below iOS 14.
    public static let banner = PresentationOptions(rawValue: 1 << 4)

    /// Apple's raw value for a system version: `.alert` (1 << 2) stands for banner and list below iOS 14
    /// (ios-delivery.md §5.5).
    ///
    /// - Parameter major: the system's major version, 10 or more.
    public func systemValue(major: Int) -> UInt {
        guard major < 14, !self.isDisjoint(with: [.banner, .list]) else { return self.rawValue }
        return self.subtracting([.banner, .list]).rawValue | 1 << 2
    }
}

/// The text of a push: `aps.alert` is a string, which is the body, or a dictionary (S4.6 with its right rule).
public struct AlertText: Hashable, Sendable {
    /// The title; empty if there is none.
    public var title: String
    /// The subtitle; empty if there is none.
    public var subtitle: String
    /// The body; empty if there is none.
    public var body: String

    /// A text from its parts.
    public init(title: String = "", subtitle: String = "", body: String = "") {
        self.title = title
        self.subtitle = subtitle
        self.body = body
    }

    /// Reads `aps.alert` of a whole payload; empty if there is none.
    public init(userInfo: JSONValue) {
        self.init()
        guard let alert = userInfo["aps"]?["alert"] else { return }
        if let text = alert.stringValue {
            self.body = text
        } else {
            self.title = alert["title"]?.stringValue ?? ""
            self.subtitle = alert["subtitle"]?.stringValue ?? ""
            self.body = alert["body"]?.stringValue ?? ""
        }
    }

    /// True if there is nothing to show.
    public var isEmpty: Bool { self.title.isEmpty && self.subtitle.isEmpty && self.body.isEmpty }
}

/// A banner that the app may show for a push that arrived in the foreground (S4.2, S4.6); the app tells the kit of a tap on it (S4.7).
public struct InAppBanner: Hashable, Sendable {
    /// The text.
    public var text: AlertText
    /// The whole push dictionary.
    public var userInfo: JSONValue

    /// A banner from its parts.
    public init(text: AlertText, userInfo: JSONValue) {
        self.text = text
        self.userInfo = userInfo
    }
}

/// The sounds and banners for a notification that arrives in the foreground. iOS below 10 shows and sounds nothing then (S4.2); from 10 on
/// the system does, if it is asked to.
public struct ForegroundPresentation: Hashable, Sendable {
    /// Returns the kit's own choice in the foreground (S2.9): nothing for a message the device has already, no ring for one that the
    /// extension has silenced because it rang before (design.md P3), and nothing at all for another person's (design.md P7).
    public static func choice(
        isForAnother: Bool, isKnown: Bool, isSilenced: Bool
    ) -> PresentationOptions {
        if isForAnother { return [] }
        if isKnown { return [] }
        return isSilenced ? .badge : [.banner, .list, .sound, .badge]
    }

    /// True if there are banners of the app's own.
    public var showsInAppBanner: Bool
    /// True if a sound is played where the system plays none.
    public var playsSound: Bool
    /// True if the phone vibrates with it.
    public var vibrates: Bool
    /// The system sound for a message that comes over the connection (S4.2).
    public var messageSound: UInt32

    /// The system sound of an in-app banner (S4.6).
    public static let bannerSound: UInt32 = 1312
    /// The system sound of a push without text (S4.2).
    public static let plainSound: UInt32 = 1007

    /// A policy; by default everything.
    public init(
        showsInAppBanner: Bool = true, playsSound: Bool = true, vibrates: Bool = true,
        messageSound: UInt32 = Self.plainSound
    ) {
        self.messageSound = messageSound
        self.showsInAppBanner = showsInAppBanner
        self.playsSound = playsSound
        self.vibrates = vibrates
    }

    /// One thing to do.
    public enum Step: Hashable, Sendable {
        /// Tell the app to show a banner.
        case showBanner(InAppBanner)
        /// Play a system sound.
        case playSound(UInt32)
        /// Vibrate.
        case vibrate
    }

    /// Returns the steps for a push or local notification in the foreground where the system presents nothing. A known message does not
    /// ring a second time (design.md P3).
    public func steps(text: AlertText, hasSound: Bool, userInfo: JSONValue, isKnown: Bool = false) -> [Step] {
        if isKnown { return [] }
        var steps: [Step] = []
        if self.showsInAppBanner, !text.isEmpty {
            steps.append(.showBanner(InAppBanner(text: text, userInfo: userInfo)))
        }
        guard hasSound || !steps.isEmpty else { return steps }
        if self.playsSound { steps.append(.playSound(steps.isEmpty ? Self.plainSound : Self.bannerSound)) }
        if self.vibrates { steps.append(.vibrate) }
        return steps
    }

    /// The same for a message that comes over the connection while another screen is open.
    package func steps(for message: LocalNotification) -> [Step] {
        // What asks for no attention has none in the foreground either.
        if message.options?.interruptionLevel == .passive { return [] }
        var steps: [Step] = []
        if self.showsInAppBanner {
            // The shell has looked up what comes from the app's tables.
            let text = AlertText(
                title: message.title.plain ?? "", subtitle: message.subtitle?.plain ?? "",
                body: message.body.plain ?? "")
            steps.append(.showBanner(InAppBanner(text: text, userInfo: message.userInfo)))
        }
        if self.playsSound { steps.append(.playSound(self.messageSound)) }
        if self.vibrates { steps.append(.vibrate) }
        return steps
    }
}
