import Logging
import StoreMachine

extension StoreMachine {
    /// Logs what it has found since the last time.
    func logNotes(to logger: Logger) {
        for note in self.notes { note.log(to: logger) }
        self.notes.removeAll()
    }
}

extension StoreNote {
    func log(to logger: Logger) {
        switch self {
        case .recovered(let records, let watermark):
            logger.info("recovered", metadata: ["records": "\(records)", "after": "\(watermark)"])
        case .restored(let generation):
            logger.warning("the store was restored", metadata: ["generation": "\(generation)"])
        case .setAside(let person):
            logger.error(
                "a person is set aside",
                metadata: [
                    "person": "\(person.key.map { "\($0)" } ?? "number \(person.number)")",
                    "remedy": "stop the server, then run tidings store rebuild",
                ])
        case .unreadable(let row, let subject):
            logger.error(
                "stored data cannot be read",
                metadata: [
                    "error": "\(row)", "person": "\((row.key ?? subject).map { "\($0)" } ?? "")",
                    "remedy": "stop the server, then run tidings store check",
                ])
        case .notErased(let record, let row):
            logger.error("a text cannot be erased", metadata: ["record": "\(record)", "error": "\(row)"])
        case .passedOver(let row): logger.error("a push passes over somebody", metadata: ["error": "\(row)"])
        case .unsearchable(let record, let row):
            logger.error("a message cannot be searched", metadata: ["record": "\(record)", "error": "\(row)"])
        case .untold(let record, let row):
            logger.error("webhooks are not told of a record", metadata: ["record": "\(record)", "error": "\(row)"])
        }
    }
}
