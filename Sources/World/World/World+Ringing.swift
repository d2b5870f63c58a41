import PhoneCore
import StoreModel
import TidingsModel

// What the promises are told of phones that lie away, and of a run that does not come to rest.
extension World {
    /// The most events of one phone and hour, in the mean; a thousand times that may come at one instant when all act at once.
    private static let eventsMax = 50_000
    private static let eventsAtOnceMax = 2_000

    /// A message was accepted: whose phones lie away.
    mutating func seeAway(_ command: StoreCommand, _ result: StoreResult) {
        guard case .accept(let message, _) = command, case .accepted(let deliveries, _) = result else { return }
        let away = self.phones.indices.compactMap { index -> AwayPhone? in
            let phone = self.phones[index]
            guard phone.isSignedIn, deliveries.contains(where: { $0.user == phone.person }),
                !self.isLooking(phone.person)
            else { return nil }
            return AwayPhone(key: phone.key, token: self.canRing(index) ? self.token(of: index) : nil)
        }
        if !away.isEmpty { self.see(.away(message.id, away)) }
    }

    /// Whether a person has the app in front of them, on any of their phones: the others need not ring then.
    private func isLooking(_ person: UserID) -> Bool {
        self.phones.contains {
            $0.person == person && $0.isSignedIn && $0.core.state(of: Self.bundle)?.isInFront == true
        }
    }

    /// Whether a push would ring on a phone.
    private func canRing(_ index: Int) -> Bool {
        let phone = self.phones[index]
        let screen = phone.core.screen
        return phone.isOnline && screen.focus == nil && screen.lock != .beforeFirstUnlock
            && !phone.core.isInLowPowerMode && !phone.isFull && phone.registration?.token == self.token(of: index)
            && phone.core.notificationSettings(of: Self.bundle)?.authorizationStatus == .authorized
    }

    /// Whether the run goes on: no core may keep itself busy for ever (DESIGN P6).
    mutating func comesToRest() -> Bool {
        self.eventsNow = self.instant == self.time ? self.eventsNow + 1 : 1
        self.instant = self.time
        let phones = self.options.phones
        let hours = Int(self.options.duration / 3_600_000) + 2
        guard self.eventsNow > Self.eventsAtOnceMax * phones || self.report.events > Self.eventsMax * phones * hours
        else { return true }
        self.checkers.foundUnrest("never comes to rest: \(self.eventsNow) events at once, \(self.report.events) in all")
        return false
    }
}
