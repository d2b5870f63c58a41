package import TidingsModel

/// What becomes of a push that is about the number on the icon alone: the person has read messages on another device, or they
/// were recalled (DESIGN P4).
///
/// The push decides the number only, so that it is right also where the server cannot be reached. Which messages were read it
/// does not say, and no number does: one may count in no badge, being a mention in a muted conversation. Their notifications
/// go with the entries of the log, after the catching up that follows every wake.
package enum BadgePush {
    /// What is known of the app.
    package struct Facts: Hashable, Sendable {
        /// Whether the app is active: it counts itself then, and writes the number when it stops being so (S2.17).
        package var isActive: Bool
        /// Whether the kit writes the number on the icon (S2.11).
        package var managesBadge: Bool

        /// Facts from their parts.
        package init(isActive: Bool, managesBadge: Bool) {
            self.isActive = isActive
            self.managesBadge = managesBadge
        }
    }

    /// What the push leads to.
    package enum Verdict: Hashable, Sendable {
        /// The number stays as it is, being newer, not stored (S2.20), or none of the kit's; the app catches up all the same.
        case stays
        /// The icon is to show this number, and the app catches up.
        case shows(Int)
    }

    /// Decides for a push to the person who is signed in, and writes the badge. The caller holds the app group's lock around it and stores it.
    ///
    /// - Parameter badge: nil if none is stored.
    package static func verdict(_ push: BadgeInfo, _ facts: Facts, badge: inout Badge?) -> Verdict {
        guard !facts.isActive, facts.managesBadge,
            badge?.pushed(absolute: push.badge, position: push.badgePosition) == true, let badge
        else { return .stays }
        return .shows(badge.shown)
    }
}
