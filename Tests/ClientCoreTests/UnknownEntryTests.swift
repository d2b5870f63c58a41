import ClientCore
import Testing
import TidingsModel

@Suite struct `An entry that only a newer client understands` {
    @Test func `is kept as a position and acknowledged, and nothing else`() {
        var core = ClientCore.online()
        let entry = LogEntry(position: 1, body: .unknown)
        #expect(core.handle(.frameReceived(1, .entry(entry)), at: at(1)) == [.storeEntries([entry])])
        #expect(
            core.handle(.entriesStored(upTo: 1, unread: 0), at: at(1)) == [
                .publishEntries([entry]), .sendFrame(1, ack(1, (1, .suppressed(.notNotifiable)))),
                .storeSettled(upTo: 1),
            ])
    }
}
