import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `A reader of the journal` {
    private static func place(_ position: JournalPosition) -> JournalPlace {
        JournalPlace(store: "s", generation: 1, opening: 2, position: position)
    }

    private static func reader(_ origin: JournalReader.Origin = .start) -> JournalReader {
        JournalReader(origin: origin, retrySeconds: 5)
    }

    @Test func `is behind until the store has said that the place is its own, and while there is more`() {
        var reader = Self.reader()
        #expect(reader.isBehind(0))
        _ = reader.open(at: Self.place(7))
        #expect(reader.isBehind(7))
        reader.step(to: Self.place(7))
        #expect(!reader.isBehind(7) && reader.isBehind(8))
    }

    @Test func `goes on from the place of its file after a restart, and asks the store anew`() {
        var reader = Self.reader()
        reader.step(to: Self.place(3))
        let isAnew = reader.open(at: Self.place(7))
        #expect(!isAnew && reader.place == Self.place(7) && !reader.isCompared)
    }

    @Test func `begins at its origin where the store was restored, and gives one reason for it`() {
        var reader = Self.reader()
        _ = reader.open(at: Self.place(7))
        reader.step(to: nil)
        #expect(reader.place == nil && reader.isBehind(0))
        let hasNoReason = reader.open(at: nil)
        #expect(!hasNoReason)
        // The next time nobody has said why.
        let isMissing = reader.open(at: nil)
        #expect(isMissing)
    }

    @Test func `keeps a place that it reached without a file until the file has one`() {
        var reader = Self.reader(.end)
        reader.step(to: Self.place(3))
        let isAnew = reader.open(at: nil)
        #expect(!isAnew && reader.place == Self.place(3))
        // The first page could not be written.
        _ = reader.fail(.passing, "full", isInFile: false, at: 10)
        #expect(reader.place == Self.place(3) && reader.isBehind(3))
        // What the file said goes with it.
        _ = reader.fail(.passing, "full", isInFile: true, at: 20)
        #expect(reader.place == nil)
    }

    @Test(arguments: [JournalReader.Origin.start, .end])
    func `tries nothing for a while after a failure, and tells the same one once`(origin: JournalReader.Origin) {
        var reader = Self.reader(origin)
        #expect(reader.mayTry(at: 0))
        #expect(reader.fail(.passing, "full", isInFile: true, at: 10) == .close(isNews: true))
        #expect(!reader.mayTry(at: 14.9) && reader.mayTry(at: 15))
        #expect(reader.fail(.passing, "full", isInFile: true, at: 15) == .close(isNews: false))
        #expect(reader.fail(.passing, "not own", isInFile: true, at: 20) == .close(isNews: true))
        reader.succeed()
        #expect(reader.fail(.passing, "not own", isInFile: true, at: 25) == .close(isNews: true))
    }

    @Test(arguments: [(JournalReader.Origin.start, JournalReader.Remedy.remove), (.end, .setAside)])
    func `begins anew at once upon damage, and waits where it is damaged again`(
        origin: JournalReader.Origin, remedy: JournalReader.Remedy
    ) {
        var reader = Self.reader(origin)
        _ = reader.open(at: Self.place(7))
        #expect(reader.fail(.damaged, "corrupt", isInFile: false, at: 10) == remedy)
        #expect(reader.place == nil && reader.mayTry(at: 10))
        let hasNoReason = reader.open(at: nil)
        #expect(!hasNoReason)
        #expect(reader.fail(.damaged, "corrupt", isInFile: false, at: 11) == remedy)
        #expect(!reader.mayTry(at: 15.9) && reader.mayTry(at: 16))
        reader.succeed()
        #expect(reader.fail(.damaged, "corrupt", isInFile: false, at: 20) == remedy)
        #expect(reader.mayTry(at: 20))
    }

    @Test func `gives up what may be of use to another build only where all of it can be derived again`() {
        var (search, webhooks) = (Self.reader(.start), Self.reader(.end))
        #expect(search.fail(.unlike, "newer", isInFile: false, at: 10) == .remove)
        #expect(webhooks.fail(.unlike, "newer", isInFile: false, at: 10) == .close(isNews: true))
        #expect(search.mayTry(at: 10) && !webhooks.mayTry(at: 10))
    }
}
