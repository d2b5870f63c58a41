public import Foundation
package import PhoneCore
import Synchronization
import TidingsModel
import VirtualPhone

/// A sound of a notification.
public final class UNNotificationSound: Sendable, Hashable {
    /// The file's name, or `default`.
    package let name: String
    /// Whether it plays through mute.
    package let isCritical: Bool
    /// 0 to 1, for critical sounds.
    package let volume: Double?

    /// A sound of the given parts; `default` names the system's.
    package init(name: String, isCritical: Bool = false, volume: Double? = nil) {
        self.name = name
        self.isCritical = isCritical
        self.volume = volume
    }

    convenience init(_ sound: NotificationSound) {
        switch sound {
        case .standard: self.init(name: "default")
        case .named(let name): self.init(name: name)
        case .critical(let name, let volume):
            self.init(name: name ?? "default", isCritical: true, volume: volume)
        }
    }

    var value: NotificationSound {
        if self.isCritical {
            return .critical(name: self.name == "default" ? nil : self.name, volume: self.volume ?? 1)
        }
        return self.name == "default" ? .standard : .named(self.name)
    }

    /// A sound file of the app.
    public convenience init(named name: UNNotificationSoundName) { self.init(name: name.rawValue) }
    /// The system's sound.
    public static var `default`: UNNotificationSound { UNNotificationSound(name: "default") }
    /// The system's critical sound.
    public static var defaultCritical: UNNotificationSound { UNNotificationSound(name: "default", isCritical: true) }
    /// A critical sound file of the app.
    public static func criticalSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
        UNNotificationSound(name: name.rawValue, isCritical: true)
    }

    public static func == (left: UNNotificationSound, right: UNNotificationSound) -> Bool {
        left.name == right.name && left.isCritical == right.isCritical && left.volume == right.volume
    }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.name)
        hasher.combine(self.isCritical)
    }
}

/// The name of a sound file.
public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
    /// Apple's text.
    public let rawValue: String
    /// Wraps Apple's value.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Wraps a file name.
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// What a notification says. Immutable; `mutableCopy()` gives one that can be changed.
public class UNNotificationContent: @unchecked Sendable, Equatable {
    // The only state is guarded by this lock, also in the mutable subclass.
    private let state: Mutex<NotificationContent>

    /// All parts at one moment.
    package var parts: NotificationContent { self.state.withLock { $0 } }

    /// Changes the parts under the lock.
    package func change(_ change: (inout NotificationContent) -> Void) { self.state.withLock { change(&$0) } }

    /// Content of the given parts.
    package init(parts: NotificationContent) { self.state = Mutex(parts) }

    /// Content that says nothing.
    public init() { self.state = Mutex(NotificationContent()) }

    /// The title; empty if there is none.
    public var title: String { self.parts.title }
    /// The second line; empty if there is none.
    public var subtitle: String { self.parts.subtitle }
    /// The text; empty if there is none.
    public var body: String { self.parts.body }
    /// The number for the icon; nil leaves it, 0 removes it.
    public var badge: NSNumber? { self.parts.badge.map { NSNumber(value: $0) } }
    /// The sound; nil is silence.
    public var sound: UNNotificationSound? { self.parts.sound.map { UNNotificationSound($0) } }
    /// What groups notifications; empty if nothing does.
    public var threadIdentifier: String { self.parts.threadIdentifier }
    /// The category, which gives the actions.
    public var categoryIdentifier: String { self.parts.categoryIdentifier }
    /// What chooses the scene.
    public var targetContentIdentifier: String? { self.parts.targetContentIdentifier }
    /// The picture shown while the app starts.
    public var launchImageName: String { self.parts.launchImageName }
    /// How important it is.
    public var interruptionLevel: UNNotificationInterruptionLevel {
        UNNotificationInterruptionLevel(rawValue: self.parts.interruptionLevel.rawValue) ?? .active
    }
    /// Place among the app's notifications in a summary, 0 to 1.
    public var relevanceScore: Double { self.parts.relevanceScore }
    /// The dictionary: for a push the whole payload, with `aps`.
    public var userInfo: [AnyHashable: Any] { UserNotifications.userInfo(from: self.parts.userInfo) }
    /// Files that come along; a virtual phone shows none.
    public var attachments: [UNNotificationAttachment] { [] }

    /// A copy that can be changed. Apple's returns `Any`; so does this.
    public func mutableCopy() -> Any { UNMutableNotificationContent(parts: self.parts) }

    public static func == (left: UNNotificationContent, right: UNNotificationContent) -> Bool {
        left.parts == right.parts
    }
}

/// Content under construction.
public final class UNMutableNotificationContent: UNNotificationContent, @unchecked Sendable {
    // The state is the superclass's, under its lock.

    public override var title: String {
        get { self.parts.title }
        set { self.change { $0.title = newValue } }
    }
    public override var subtitle: String {
        get { self.parts.subtitle }
        set { self.change { $0.subtitle = newValue } }
    }
    public override var body: String {
        get { self.parts.body }
        set { self.change { $0.body = newValue } }
    }
    public override var badge: NSNumber? {
        get { self.parts.badge.map { NSNumber(value: $0) } }
        set {
            let number = newValue?.intValue
            self.change { $0.badge = number }
        }
    }
    public override var sound: UNNotificationSound? {
        get { self.parts.sound.map { UNNotificationSound($0) } }
        set {
            let sound = newValue?.value
            self.change { $0.sound = sound }
        }
    }
    public override var threadIdentifier: String {
        get { self.parts.threadIdentifier }
        set { self.change { $0.threadIdentifier = newValue } }
    }
    public override var categoryIdentifier: String {
        get { self.parts.categoryIdentifier }
        set { self.change { $0.categoryIdentifier = newValue } }
    }
    public override var targetContentIdentifier: String? {
        get { self.parts.targetContentIdentifier }
        set { self.change { $0.targetContentIdentifier = newValue } }
    }
    public override var launchImageName: String {
        get { self.parts.launchImageName }
        set { self.change { $0.launchImageName = newValue } }
    }
    public override var interruptionLevel: UNNotificationInterruptionLevel {
        get { UNNotificationInterruptionLevel(rawValue: self.parts.interruptionLevel.rawValue) ?? .active }
        set {
            let level = InterruptionLevel(rawValue: newValue.rawValue) ?? .active
            self.change { $0.interruptionLevel = level }
        }
    }
    public override var relevanceScore: Double {
        get { self.parts.relevanceScore }
        set { self.change { $0.relevanceScore = newValue } }
    }
    public override var userInfo: [AnyHashable: Any] {
        get { UserNotifications.userInfo(from: self.parts.userInfo) }
        set {
            let object = jsonObject(from: newValue)
            self.change { $0.userInfo = object }
        }
    }
    /// Files that come along; a virtual phone takes none.
    public override var attachments: [UNNotificationAttachment] {
        get { [] }
        set { PhoneLog.write("\(newValue.count) attachments left out: a virtual phone shows none", level: "notice") }
    }
}

/// A file that comes with a notification.
public final class UNNotificationAttachment: Sendable {
    /// The attachment's name.
    public let identifier: String
    /// Where the file is.
    public let url: URL

    /// An attachment.
    ///
    /// - Throws: `UNError` if the file does not exist.
    public init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw UNError(.attachmentInvalidURL, detail: "url names no file: \(url.path)")
        }
        self.identifier = identifier
        self.url = url
    }
}
