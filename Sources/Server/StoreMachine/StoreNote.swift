package import TidingsModel

/// Something the engine has found that an operator is told of.
package enum StoreNote: Equatable, Sendable {
    /// Records of the journal after `watermark` were applied again.
    case recovered(records: Int, watermark: JournalPosition)
    /// The store is an older copy of itself and has this generation from now on.
    case restored(generation: UInt64)
    case setAside(SetAsidePerson)
    /// `subject`: whom the command that needed the row was about.
    case unreadable(UnreadableRow, subject: UserKey?)
    case notErased(JournalPosition, UnreadableRow)
    case passedOver(UnreadableRow)
    case unsearchable(JournalPosition, UnreadableRow)
    case untold(JournalPosition, UnreadableRow)
}
