import PhoneCore
import TidingsModel

// Installations without sign-in: a phone whose person has signed out may be its anonymous person, always the same, until the next signs in.
// They do what the SDK lets them do, and try some of what the server must refuse.
extension World {
    mutating func nextPerson(on index: Int) -> UserID {
        if let account = self.accountThatSignsIn() { return account }
        if self.options.population.hasAnonymousPeople, self.chance.chance(perMille: 400) {
            return self.anonymousPerson(of: index)
        }
        return self.drawn(self.people) ?? self.phones[index].person
    }

    /// The setup's draws before it are of groups, calls and who looks where.
    private static let firstDraw = 3_000

    /// Some have installed the app and not signed in yet.
    mutating func firstPerson(on index: Int) -> UserID {
        let owner = self.owner(of: index)
        guard self.options.population.hasAnonymousPeople else { return owner }
        var chance = SplitMix64(seed: self.options.seed, stream: .setup, draw: Self.firstDraw + index)
        return chance.chance(perMille: 300) ? self.anonymousPerson(of: index) : owner
    }

    private mutating func anonymousPerson(of index: Int) -> UserID {
        let person = UserID("\(UserID.anonymousPrefix)\(index)")
        if !self.anonymousPeople.contains(person) { self.anonymousPeople.append(person) }
        self.emit(.reached(.anonymousSignIns))
        return person
    }

    /// Their own settings, and their own log.
    mutating func operateAnonymously(_ index: Int) {
        guard let process = self.phones[index].core.process(of: Self.bundle) else { return }
        switch self.chance.number(0...6) {
        case 0: self.setQuietHours(in: process, on: index)
        case 1: self.setForEverything(in: process, on: index)
        case 2: self.deleteMessage(in: process, on: index)
        case 3: self.changeList(in: process, on: index)
        case 4:
            let tags = Self.pushTags.filter { _ in self.chance.chance(perMille: 500) }
            self.sendRequest(.setTags(tags), in: process, on: index)
        default: self.tryWhatIsRefused(in: process, on: index)
        }
    }

    /// Tries requests that must be refused; anyone with the app's binary can send them.
    private mutating func tryWhatIsRefused(in process: ProcessID, on index: Int) {
        guard let person = self.drawn(self.people) else { return }
        let group = self.drawn(self.groups)
        let requests: [ClientRequest] =
            [.setBlocked(person, true), .watch([person]), .setProfile(Profile(name: "not theirs"))]
            + (group.map { [.change($0, .leave), .change($0, .add([person]))] } ?? [])
        guard let request = self.drawn(requests) else { return }
        self.sendRequest(request, in: process, on: index)
    }

    /// Often, so that the phone's token moves on.
    mutating func leaveAnonymously(_ index: Int) {
        guard self.chance.chance(perMille: 300), let process = self.phones[index].core.process(of: Self.bundle) else {
            return
        }
        self.signOut(in: process, on: index)
    }
}
