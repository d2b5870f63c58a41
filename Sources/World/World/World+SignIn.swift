import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import TidingsModel

// People sign out, and later they or other people sign in on that phone (design.md P7): some seconds after the server was told of the
// sign-out, so that nothing on its way to the one client reaches the other, or as soon as it is known that it never will be.
extension World {
    /// In milliseconds.
    private static let lateAlertMax: Int64 = 600_000

    mutating func signOut(in process: ProcessID, on index: Int) {
        let key = self.phones[index].key
        self.leaveNetwork(index)
        self.appendTrace("person signs out on phone \(index)")
        self.emit(.disturbed(key))
        self.emit(.signedOut(key))
        self.phones[index].isSignedIn = false
        self.plan(.signsIn(index), after: 12_000)
        self.handle(.signOutRequested, in: process, on: index)
    }

    /// One of the person's other phones.
    mutating func signOutOther(in process: ProcessID, on index: Int) {
        let person = self.phones[index].person
        let others = self.phones.indices.filter {
            $0 != index && self.phones[$0].isSignedIn && self.phones[$0].person == person
        }
        guard let other = self.drawn(others) else { return }
        self.sendRequest(.signOutDevice(self.phones[other].device), in: process, on: index)
    }

    /// The person has signed this phone out on another one, and signs in again as soon as they see it. Their user token is good all the time.
    mutating func wasSignedOutByOther(_ process: ProcessID, on index: Int) {
        self.appendTrace("phone \(index) was signed out on another")
        self.emit(.reached(.signedOutByOther))
        self.planClientEvent(
            .connectRequested, in: process, on: index, after: self.phones[index].chance.number(2_000...30_000))
    }

    /// Nothing of the person stays on the phone but how far custom messages were handed over.
    mutating func forgetPerson(on index: Int) {
        _ = self.phones[index].disk.carryOut(.forgetPerson)
        self.phones[index].drafts = [:]
        self.phones[index].group.recipient = nil
        self.phones[index].group.ledger = Ledger()
        self.phones[index].group.names = WorldNames()
        for process in self.phones[index].processes.values { process.nameAsks = [:] }
        if self.phones[index].group.badge != nil { self.phones[index].group.badge = Badge() }
    }

    /// Some sign out where there is no network; and of these some can never tell the server, since their token is not
    /// good any more by then.
    private mutating func leaveNetwork(_ index: Int) {
        guard self.chance.chance(perMille: 600) else { return }
        self.handle(PhoneEvent.person(.airplaneModeChanged(isOn: true)), on: index)
        self.plan(
            .phone(index, .person(.airplaneModeChanged(isOn: false))), after: self.chance.number(5_000...60_000))
        self.phones[index].isTokenVoid = self.chance.chance(perMille: 500)
    }

    /// Apple brings an alert once more that was made for the person before.
    private mutating func maybeRepeatAlert(on index: Int) {
        let phone = self.phones[index]
        guard let kept = phone.keptPush, self.time - kept.at < Self.lateAlertMax,
            let owner = self.owner(of: .object(kept.push.payload)), owner.user != phone.key.user,
            var chance = self.injectFault(.radio(index), perMille: self.options.faults.push > 0 ? 500 : 0)
        else { return }
        self.appendTrace("an alert for \(owner) comes to phone \(index) again")
        self.plan(.pushArrives(index, generation: kept.generation, kept.push), after: chance.number(100...20_000))
    }

    func token(for person: UserID) -> String {
        guard let life = self.options.tokenLife else { return person.rawValue }
        return "\(person)@\(self.serverNow.wall + life)"
    }

    mutating func verdict(on token: String, of index: Int) -> TokenVerdict {
        let parts = token.split(separator: "@")
        let key = UserKey(app: Self.app, user: UserID(parts.first.map(String.init) ?? ""))
        let expiresAt = parts.count == 2 ? Int64(parts[1]) ?? 0 : 1 << 53
        guard self.serverNow.wall < expiresAt else { return .expired }
        guard self.phones[index].isTokenVoid, self.phones[index].isLeaving else {
            let checked = CheckedToken(user: key, expiresAt: expiresAt)
            return .valid(checked, extensionToken: "\(self.serverNow.wall)")
        }
        self.emit(.reached(.lostSignOuts))
        return .invalid
    }

    /// The server knows of the sign-out: nobody is signed in, and nothing is left to do for the client.
    mutating func endPendingSignOut(in process: ProcessID, on index: Int) {
        self.appendTrace("phone \(index) has said pending sign-out")
        self.phones[index].isLeaving = false
        self.phones[index].sentSignOutAt = self.time
        // Nothing is on its way to a person whose token the server refuses: the next one may sign in at once.
        if self.phones[index].isTokenVoid {
            self.phones[index].sentSignOutAt -= 10_000
            self.plan(.signsIn(index), after: 100)
        }
        self.phones[index].processes[process]?.client = nil
        self.dropConnections(of: process, on: index)
    }

    mutating func signIn(_ index: Int) {
        guard !self.phones[index].isSignedIn else { return }
        guard !self.phones[index].isLeaving, self.time >= self.phones[index].sentSignOutAt + 10_000,
            let process = self.phones[index].core.process(of: Self.bundle),
            self.phones[index].processes[process]?.isInForeground == true,
            self.phones[index].processes[process]?.isSuspended == false
        else { return self.plan(.signsIn(index), after: 5_000) }
        self.beginDraw(of: .signIn(index))
        let person = self.nextPerson(on: index)
        self.appendTrace("\(person) signs in on phone \(index)")
        self.phones[index].others[self.phones[index].person] = self.phones[index].disk
        self.phones[index].person = person
        let disk = self.phones[index].others.removeValue(forKey: person) ?? WorldDisk()
        self.phones[index].disk = disk
        self.phones[index].group.hidesContent = disk.store.preferences().current.person.hidesContent
        self.phones[index].isSignedIn = true
        self.phones[index].isWelcome = false
        // The next person must not see what came too late for the sign-out to clear.
        self.requestCenterWork(.clearAll(showsZero: false), in: process, on: index)
        self.phones[index].isTokenVoid = false
        self.phones[index].processes[process]?.timerAt = nil
        let client = self.client(of: index)
        self.phones[index].processes[process]?.client = client
        self.emit(.reached(.signIns))
        self.emit(.signedIn(self.phones[index].key))
        self.maybeRepeatAlert(on: index)
        self.handle(.kitConfigured(self.kitSettings(of: index)), in: process, on: index)
        self.handle(.connectRequested, in: process, on: index)
        if let registration = self.phones[index].registration {
            self.handle(.pushRegistrationSet(registration), in: process, on: index)
        }
    }
}
