import PhoneCore

// CoreLocation's regions, as far as a location trigger needs them; there is no CoreLocation on Linux, so they are here.

/// A region on the map.
///
/// `@unchecked Sendable`: one thread changes it at a time, before it makes a trigger, which reads it once.
public class CLRegion: @unchecked Sendable {
    /// Names the region; `VirtualPhone.cross` crosses it by this name.
    public let identifier: String
    /// True if entering it counts.
    public var notifyOnEntry: Bool
    /// True if leaving it counts.
    public var notifyOnExit: Bool

    init(_ region: NotificationRegion) {
        self.identifier = region.identifier
        self.notifyOnEntry = region.notifiesOnEntry
        self.notifyOnExit = region.notifiesOnExit
    }

    var value: NotificationRegion {
        NotificationRegion(
            identifier: self.identifier, notifiesOnEntry: self.notifyOnEntry, notifiesOnExit: self.notifyOnExit)
    }
}

/// A place on the map, in degrees.
public struct CLLocationCoordinate2D: Hashable, Sendable {
    /// North of the equator.
    public var latitude: Double
    /// East of Greenwich.
    public var longitude: Double

    /// A place.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A circle on the map.
///
/// `@unchecked Sendable`: one thread changes it at a time, before it makes a trigger, which reads it once.
public final class CLCircularRegion: CLRegion, @unchecked Sendable {
    /// Its middle.
    public let center: CLLocationCoordinate2D
    /// Metres; a virtual phone crosses it by name, not by distance.
    public let radius: Double

    /// A circle, crossing whose border counts in both directions.
    public init(center: CLLocationCoordinate2D, radius: Double, identifier: String) {
        self.center = center
        self.radius = radius
        super.init(NotificationRegion(identifier: identifier))
    }
}
