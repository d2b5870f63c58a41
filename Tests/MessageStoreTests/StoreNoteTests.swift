import Logging
import Synchronization
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `What the store has found` {
    @Test func `is logged as what it is`() {
        let row = UnreadableRow(number: 3, key: bo, detail: "torn")
        let notes: [StoreNote] = [
            .recovered(records: 2, watermark: 7), .restored(generation: 5),
            .setAside(SetAsidePerson(number: 3, key: nil)), .unreadable(row, subject: ada), .notErased(4, row),
            .passedOver(row), .unsearchable(4, row), .untold(4, row),
        ]
        let lines = Lines()
        let logger = Logger(label: "test") { _ in LineLogger(lines: lines) }
        for note in notes { note.log(to: logger) }
        #expect(
            lines.all.withLock { $0 } == [
                "info: recovered", "warning: the store was restored", "error: a person is set aside",
                "error: stored data cannot be read", "error: a text cannot be erased",
                "error: a push passes over somebody", "error: a message cannot be searched",
                "error: webhooks are not told of a record",
            ])
    }
}
