import StoreModel
import TidingsModel

// The rows of one person, as deriving writes them.
extension StoreMachine {
    func store(_ person: PersonState) throws {
        let (rows, number) = (self.rows, person.number)
        person.applied = self.next - 1
        try rows.put(
            .person(
                number, head: person.head, counts: person.counts, signedIn: person.signedIn, applied: person.applied))
        if person.settingsChanged {
            try rows.put(.settings(number, person.settings, drafts: person.draftRecords))
            // The row may follow the journal's text, which has left the file by then: the pages before have to leave it once more.
            if person.hasReplacedDraft { self.hasErased = true }
            person.hasReplacedDraft = false
        }
        if person.accountChanged { try rows.put(.userAccount(number, person.account)) }
        if person.profileChanged { try rows.put(.profile(number, person.profile)) }
        if person.labelsChanged { try rows.put(.labels(number, person.labels)) }
        for end in person.pushEnds.sorted() { try rows.put(.fact(.pushEnd(number, end), true)) }
        for job in person.pushesReached.sorted() { try rows.put(.fact(.pushReached(number, job), true)) }
        for chunk in person.closedChunks { try rows.put(.chunk(number, chunk)) }
        if person.chunkChanged { try rows.put(.chunk(number, person.chunk)) }
        for conversation in person.changedConversations.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let state = person.conversations[conversation] else { continue }
            try rows.put(.conversationState(number, conversation, state))
        }
        for message in person.deleted.sorted() { try rows.put(.fact(.deleted(number, message), true)) }
        // tidy: order does not leave: each row is its own
        for (id, sent) in person.sent { try rows.put(.sentMessage(number, id, sent)) }
        for receipt in person.receipts.sorted(by: <) { try rows.put(.fact(.receipt(number, receipt), true)) }
        for id in person.changedDevices.sorted() {
            let index = try self.deviceIndex(id, of: person)
            try rows.put(.device(number, id, index.flatMap { person.devices?[$0] }))
        }
        for leg in person.changedLegs.sorted() { try rows.put(.openLeg(number, leg, person.openLegs?[leg])) }
        self.entriesInTail -= person.entriesToStore
        person.clearChanges()
    }
}
