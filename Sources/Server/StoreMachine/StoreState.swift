package import TidingsModel

/// What the state file beside a database says: which store it is, and how far its last opening has come.
package struct StoreState: Equatable, Sendable {
    package var store: String
    package var held: HeldJournal

    package init(store: String, held: HeldJournal) {
        self.store = store
        self.held = held
    }
}

/// The journal up to a position, as of the opening with a number.
package struct HeldJournal: Equatable, Sendable {
    package var opening: UInt64
    package var position: JournalPosition

    package init(opening: UInt64, position: JournalPosition) {
        self.opening = opening
        self.position = position
    }
}
