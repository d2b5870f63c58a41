package import TidingsModel

/// A push about the number on the icon alone: the person has read messages on another device, or they were recalled
/// (design.md P4). It decides the number only, so that it is right even if the server cannot be reached. Their
/// notifications go with the entries of the log, after the catching up that follows every wake.
package enum BadgePush {
    package struct Facts: Hashable, Sendable {
        /// An active app counts itself, and writes the number when it stops being active (S2.17).
        package var isActive: Bool
        package var managesBadge: Bool
    }

    package enum Verdict: Hashable, Sendable {
        /// The number is newer, not stored (S2.20), or not the kit's; the app catches up all the same.
        case stays
        case shows(Int)
    }

    /// `badge` is nil if none is stored. The caller holds the app group's lock.
    package static func verdict(_ push: BadgeInfo, _ facts: Facts, badge: inout Badge?) -> Verdict {
        guard !facts.isActive, facts.managesBadge,
            badge?.pushed(absolute: push.badge, position: push.badgePosition) == true, let badge
        else { return .stays }
        return .shows(badge.shown)
    }
}
