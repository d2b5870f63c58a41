package import TidingsModel

/// How far own messages have come with others, as far as is known.
package struct ReceiptMarks: Hashable {
    /// One to one: everything up to here.
    package var deliveredUpTo: MessageID?
    package var readUpTo: MessageID?
    /// In groups.
    package var receipts: [MessageID: MessageReceipts] = [:]

    package init() {}

    package mutating func record(_ kind: ReceiptKind, upTo message: MessageID) {
        switch kind {
        case .delivered: self.deliveredUpTo = max(self.deliveredUpTo ?? message, message)
        case .read: self.readUpTo = max(self.readUpTo ?? message, message)
        }
    }

    /// Records the receipts of a message to one person alone.
    package mutating func record(_ receipts: MessageReceipts) {
        if !receipts.delivered.isEmpty { self.record(.delivered, upTo: receipts.id) }
        if !receipts.read.isEmpty { self.record(.read, upTo: receipts.id) }
    }
}
