import PhoneCore

/// A sound of a notification.
public final class UNNotificationSound: Sendable, Hashable {
    package let name: String
    package let isCritical: Bool
    /// 0 to 1, for critical sounds.
    package let volume: Double?

    /// `default` names the system's sound.
    package init(name: String, isCritical: Bool = false, volume: Double? = nil) {
        self.name = name
        self.isCritical = isCritical
        self.volume = volume.map { $0.isFinite ? $0 : 1 }
    }

    convenience init(_ sound: NotificationSound) {
        switch sound {
        case .standard: self.init(name: "default")
        case .named(let name): self.init(name: name)
        case .critical(let name, let volume): self.init(name: name ?? "default", isCritical: true, volume: volume)
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
    /// The system's sound of a call (iOS 15.2).
    public static var defaultRingtone: UNNotificationSound { UNNotificationSound(name: "ringtone:default") }
    /// A ringtone of the app (iOS 15.2).
    public static func ringtoneSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
        UNNotificationSound(name: "ringtone:" + name.rawValue)
    }
    /// The system's critical sound.
    public static var defaultCritical: UNNotificationSound { UNNotificationSound(name: "default", isCritical: true) }
    /// The system's critical sound at a volume of 0 to 1.
    public static func defaultCriticalSound(withAudioVolume volume: Float) -> UNNotificationSound {
        UNNotificationSound(name: "default", isCritical: true, volume: Double(volume))
    }
    /// A critical sound file of the app at a volume of 0 to 1.
    public static func criticalSoundNamed(
        _ name: UNNotificationSoundName, withAudioVolume volume: Float
    ) -> UNNotificationSound { UNNotificationSound(name: name.rawValue, isCritical: true, volume: Double(volume)) }
    /// A critical sound file of the app.
    public static func criticalSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
        UNNotificationSound(name: name.rawValue, isCritical: true)
    }

    /// The same name, volume and right to sound through silent mode.
    public static func == (left: UNNotificationSound, right: UNNotificationSound) -> Bool {
        left.name == right.name && left.isCritical == right.isCritical && left.volume == right.volume
    }
    /// Equal ones have equal hashes.
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
