import ClientCore
import PhoneCore
import TidingsModel

// The second part of the final probe: everybody looks at one of their phones and reads the call there. The others stay away; a silent push
// about the number alone tells them, and they must show the lower one. Half of them cannot reach the server then, so that nothing but the push
// can tell; and the apps of half are not running.
//
// The phone that is looked at is brought the push of its call once more, and no extension can decide about it: the app in the foreground has
// the message, and must leave it silent. Half of the people with one phone cannot reach the server with it, and are called again: that rings in
// the foreground, once, although its push comes twice, too.
extension World {
    // In milliseconds since the part began.
    private static let callAgainTime: Int64 = 20_000
    private static let readTime: Int64 = 45_000
    private static let repeatTime: Int64 = 75_000
    private static let reachTime: Int64 = 90_000

    /// The first of the setup's draws that says who looks where; those before it are of groups and calls.
    private static let firstDraw = 2_000

    mutating func beginReadingProbe() {
        for (number, person) in (self.people + self.anonymousPeople).enumerated() {
            let theirs = self.phones.indices.filter {
                self.phones[$0].person == person && self.phones[$0].isSignedIn
            }
            guard !theirs.isEmpty else { continue }
            var chance = SplitMix64(seed: self.options.seed, stream: .setup, draw: Self.firstDraw + number)
            let reader = theirs[Int(chance.number(0...Int64(theirs.count - 1)))]
            for index in theirs where index != reader {
                self.phones[index].isCutOff = chance.chance(perMille: 500)
                if chance.chance(perMille: 500) {
                    self.handle(PhoneEvent.system(.appKilled(Self.bundle)), on: index)
                }
            }
            self.appendTrace("\(person) looks at phone \(reader) alone")
            if theirs.count == 1, chance.chance(perMille: 500) {
                self.phones[reader].isCutOff = true
                self.plan(.calledAgain(reader), after: Self.callAgainTime)
            } else {
                self.plan(.readsCall(reader), after: Self.readTime)
            }
            self.handle(PhoneEvent.person(.appOpened(Self.bundle)), on: reader)
            self.plan(.repeatsCall(reader), after: Self.repeatTime)
        }
        self.plan(.reachesServer, after: Self.reachTime)
    }

    /// Whose call was recalled reads something else.
    mutating func readCall(on index: Int) {
        let unread = self.phones[index].disk.store.rows.unreadConversations
        let called = unread.first { $0.conversation == Self.callConversation }
        guard let process = self.phones[index].core.process(of: Self.bundle),
            let (conversation, position) = called ?? unread.first
        else { return }
        self.appendTrace("person on phone \(index) reads \(conversation) to \(position)")
        self.handle(ClientEvent.markReadRequested(conversation, upTo: position), in: process, on: index)
    }

    mutating func repeatCall(on index: Int) {
        let phone = self.phones[index]
        guard let kept = phone.keptPush, let call = kept.push.collapseID.flatMap({ MessageID($0) }),
            self.callsToStay.contains(call)
        else { return }
        self.appendTrace("the push of \(call) comes to phone \(index) again, and its extension is to be ended")
        phone.endsExtensionFor = kept.push.collapseID
        self.plan(.pushArrives(index, generation: kept.generation, kept.push), after: self.latency(of: index))
    }
}
