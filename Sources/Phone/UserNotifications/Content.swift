public import Foundation
package import PhoneCore
import Synchronization
import VirtualPhone

/// The content of a notification. Immutable; `mutableCopy()` gives one that can be changed.
public class UNNotificationContent: @unchecked Sendable, Hashable {
    // The only state is guarded by this lock, also in the mutable subclass.
    private let state: Mutex<NotificationContent>

    package var parts: NotificationContent { self.state.withLock { $0 } }

    package func change(_ change: (inout NotificationContent) -> Void) { self.state.withLock { change(&$0) } }

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
    /// The id that groups notifications; empty for none.
    public var threadIdentifier: String { self.parts.threadIdentifier }
    /// The category, which gives the actions.
    public var categoryIdentifier: String { self.parts.categoryIdentifier }
    /// The id that chooses the scene.
    public var targetContentIdentifier: String? { self.parts.targetContentIdentifier }
    /// The image shown while the app starts.
    public var launchImageName: String { self.parts.launchImageName }
    /// How important it is.
    public var interruptionLevel: UNNotificationInterruptionLevel {
        UNNotificationInterruptionLevel(rawValue: UInt(self.parts.interruptionLevel.rawValue)) ?? .active
    }
    /// Place among the app's notifications in a summary, 0 to 1.
    public var relevanceScore: Double { self.parts.relevanceScore }
    /// The dictionary: for a push the whole payload, with `aps`.
    public var userInfo: [AnyHashable: Any] { visibleUserInfo(from: self.parts.userInfo) }
    /// Files that come along.
    public var attachments: [UNNotificationAttachment] {
        self.parts.attachments.map { UNNotificationAttachment(value: $0) }
    }
    /// The name in the system's summary of the thread; deprecated by Apple from iOS 15.
    public var summaryArgument: String { self.parts.summaryArgument }
    /// How many things it stands for in that sum; deprecated by Apple from iOS 15.
    public var summaryArgumentCount: Int { self.parts.summaryArgumentCount }
    /// The text that a Focus filter compares (iOS 16).
    public var filterCriteria: String? { self.parts.filterCriteria }

    /// A copy that can be changed. Apple's returns `Any`; so does this.
    public func mutableCopy() -> Any { UNMutableNotificationContent(parts: self.parts) }
    /// A copy that cannot be changed. Apple's returns `Any`; so does this.
    public func copy() -> Any { UNNotificationContent(parts: self.parts) }

    /// The content as a message or call intent makes it (iOS 15; ios-delivery.md §11): the sender's name as title, the
    /// group's as subtitle, and the right to break through a Focus with the entitlement.
    ///
    /// - Throws: `UNError` if the intent says nothing a notification can show, or the app lacks the entitlement
    ///   `com.apple.developer.usernotifications.communication`. That the system throws without it is not documented: an app has to be ready for it.
    public func updating(from provider: any UNNotificationContentProviding) throws -> UNNotificationContent {
        if let facts = PhoneProcess.currentIfAny?.facts {
            guard let version = OSVersion(facts.osVersion), version >= 15, facts.entitlements.contains(.communication)
            else { throw UNError(.contentProvidingObjectNotAllowed, detail: "needs iOS 15 and the entitlement") }
        }
        guard let provider = provider as? any ContentProvider else {
            throw UNError(.contentProvidingObjectNotAllowed, detail: "provider is no intent of this system")
        }
        var parts = self.parts
        if let fault = provider.update(&parts) { throw UNError(.contentProvidingInvalid, detail: fault) }
        return UNNotificationContent(parts: parts)
    }

    /// With the same properties.
    public static func == (left: UNNotificationContent, right: UNNotificationContent) -> Bool {
        left.parts == right.parts
    }
    /// Equal ones have equal hashes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.title)
        hasher.combine(self.body)
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
        get { UNNotificationInterruptionLevel(rawValue: UInt(self.parts.interruptionLevel.rawValue)) ?? .active }
        set {
            let level = InterruptionLevel(rawValue: Int(newValue.rawValue)) ?? .active
            self.change { $0.interruptionLevel = level }
        }
    }
    public override var relevanceScore: Double {
        get { self.parts.relevanceScore }
        set {
            // JSON, by which a process tells its phone, has no number for what is none.
            self.change { $0.relevanceScore = newValue.isFinite ? newValue : 0 }
        }
    }
    public override var userInfo: [AnyHashable: Any] {
        get { visibleUserInfo(from: self.parts.userInfo) }
        set {
            let object = jsonObject(from: newValue)
            self.change { $0.userInfo = object }
        }
    }
    public override var attachments: [UNNotificationAttachment] {
        get { self.parts.attachments.map { UNNotificationAttachment(value: $0) } }
        set {
            let values = newValue.map(\.value)
            self.change { $0.attachments = values }
        }
    }
    public override var summaryArgument: String {
        get { self.parts.summaryArgument }
        set { self.change { $0.summaryArgument = newValue } }
    }
    public override var summaryArgumentCount: Int {
        get { self.parts.summaryArgumentCount }
        set { self.change { $0.summaryArgumentCount = max(1, newValue) } }
    }
    public override var filterCriteria: String? {
        get { self.parts.filterCriteria }
        set { self.change { $0.filterCriteria = newValue } }
    }
}

/// A change of a notification's content: a message or call intent (iOS 15).
public protocol UNNotificationContentProviding {}

package protocol ContentProvider: UNNotificationContentProviding {
    /// Returns why it cannot change the parts, in words.
    func update(_ parts: inout NotificationContent) -> String?
}
