import StoreModel
import TidingsModel

// Texts that nobody may read any more leave the file: what a recalled message said, and what an edited one or a draft said before. The journal keeps
// the records, with zeros where the text was, so that it can still be applied from its first record and leads to the same state: no
// derived row depends on what a message says.
extension StoreMachine {
    /// Schedules the erasure of the earlier text of a recalled or edited message from the file.
    /// - Parameter accepted: the record of the message; nil if others need what it says.
    /// - Parameter before: what had become of the message. An edit after `position` is the present text: the record is applied again
    ///   after a crash, and the row of the message is ahead of it.
    func scheduleErasure(of accepted: JournalPosition?, before: MessageRevision, at position: JournalPosition) {
        if let accepted { self.erasureTail.insert(accepted) }
        if before.edited > 0, before.edited < position { self.erasureTail.insert(before.edited) }
    }

    /// Within the transaction that derives what took the texts away.
    /// - Parameter rows: how many may be overwritten; less what was.
    func eraseTexts(_ rows: inout Int) throws {
        guard rows > 0, !self.erasureTail.isEmpty else { return }
        let due = self.erasureTail.sorted().prefix(rows)
        rows -= due.count
        var positions = due
        while let position = positions.first {
            do {
                positions = positions.dropFirst(try self.rows.eraseTexts(of: positions))
            } catch {
                // What cannot be read cannot be overwritten; nobody else is to wait for it.
                guard let row = Self.damage(error) else { throw error }
                self.notes.append(.notErased(position, row))
                positions = positions.dropFirst()
            }
        }
        self.erasureTail.subtract(due)
        self.hasErased = true
    }

    /// True if a text that nobody may read any more may still be in the file or its log.
    package var mustErase: Bool { self.hasErased || !self.erasureTail.isEmpty }

    /// Overwrites what is left, and purges the storage of what was there before. Runs between two batches, even where deriving is slow.
    package func eraseAll() throws {
        try self.inTransaction {
            var rows = Int.max
            try self.eraseTexts(&rows)
        }
        try self.rows.purge()
        self.hasErased = false
    }
}

extension JournalRow {
    /// Puts zeros where the texts of the records with these indexes are.
    package static func erase(_ indexes: Set<Int>, in bytes: inout [UInt8]) throws {
        var texts: [Range<Int>] = []
        try bytes.withUnsafeBytes { bytes in
            try Self.scan(bytes) { reader, index, length in
                let end = reader.offset + length
                if indexes.contains(index) { try reader.texts(into: &texts) }
                try reader.skip(end - reader.offset)
                return true
            }
        }
        for text in texts {
            for index in text { bytes[index] = 0 }
        }
    }
}

extension ByteReader {
    /// The texts that people wrote, in a record from its kind on.
    fileprivate mutating func texts(into texts: inout [Range<Int>]) throws(StoredBytesFault) {
        let kind = JournalRecord.Kind(rawValue: try self.byte())
        switch kind {
        case .accept: try self.messageTexts(into: &texts)
        case .acceptWithMore:
            if try self.byte() == 1 { try self.skipText() }
            try self.optionsAndMessageTexts(into: &texts)
        case .push:
            // A custom one is not erased.
            guard try self.byte() == 1 else { break }
            try self.optionsAndMessageTexts(into: &texts)
        case .conversationSettings:
            // Both bytes are 1 where a draft has a text.
            if try self.byte() == 1, try self.byte() == 1 { texts.append(try self.skipText()) }
        case .edit:
            try self.skipText()
            _ = try self.fixed()
            for _ in 0..<2 { try self.skipText() }
            texts.append(try self.skipText())
        default: throw .badValue("reference to a text")  // tidy: the other records hold none that is erased
        }
    }

    private mutating func optionsAndMessageTexts(into texts: inout [Range<Int>]) throws(StoredBytesFault) {
        texts.append(try self.skipText())
        try self.skipText()
        try self.messageTexts(into: &texts)
    }

    private mutating func messageTexts(into texts: inout [Range<Int>]) throws(StoredBytesFault) {
        _ = try self.fixed()
        for _ in 0..<6 { try self.skipText() }
        texts.append(try self.skipText())
        _ = try self.byte()
        if try self.byte() == 1 { texts.append(try self.skipText()) }
    }

    @discardableResult
    private mutating func skipText() throws(StoredBytesFault) -> Range<Int> {
        let count = try self.number()
        guard let bytes = Int(exactly: count) else { throw .truncated }
        let start = self.offset
        try self.skip(bytes)
        return start..<self.offset
    }
}
