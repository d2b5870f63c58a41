import StoreModel
import TidingsModel

// Which phones are away, and a run that does not come to rest.
extension World {
    /// The mean number of events of one phone and hour; a thousandth of it may come at one instant when all act at once.
    private static let eventsMax = 50_000
    private static let eventsAtOnceMax = 2_000

    mutating func emitAway(_ command: StoreCommand, _ result: StoreResult) {
        guard case .accept(let message, _, _, _, _, _) = command, case .accepted(let deliveries, _, _) = result else {
            return
        }
        // Most messages are for two.
        let people = deliveries.count > 2 ? Set(deliveries.map(\.user)) : []
        let theirs = self.phones.indices.filter {
            let phone = self.phones[$0]
            guard phone.isSignedIn else { return false }
            return people.isEmpty
                ? deliveries.contains { $0.user == phone.person } : people.contains(phone.person)
        }
        // The other phones of a person who looks at the app need not ring.
        let looking = Set(theirs.filter { self.phones[$0].isInForeground }.map { self.phones[$0].person })
        let away = theirs.filter { !looking.contains(self.phones[$0].person) }.map {
            AwayPhone(key: self.phones[$0].key, token: self.tokenToRing(on: $0))
        }
        if !away.isEmpty { self.emit(.away(message.id, away)) }
    }

    private func tokenToRing(on index: Int) -> PushToken? {
        let phone = self.phones[index]
        guard phone.isWelcome, phone.isOnline, !phone.isFull, phone.isReadyToRing,
            let registered = phone.registration?.token
        else { return nil }
        let token = self.token(of: index)
        return registered == token ? token : nil
    }

    /// Returns true if the run goes on: no core may keep itself busy for ever (design.md P6).
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
