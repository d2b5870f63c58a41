import TidingsModel

/// The rows of one kind, in groups: in each they are in the order of their keys, so that a page is a part of it.
final class MemoryTable<Group: Hashable, Key: Comparable, Row> {
    private(set) var groups: [Group: MemoryGroup<Key, Row>] = [:]

    subscript(_ group: Group) -> MemoryGroup<Key, Row> { self.groups[group] ?? MemoryGroup() }
    subscript(_ group: Group, _ key: Key) -> Row? { self.groups[group]?[key] }

    /// Puts a row in place of the one before; nil is none.
    /// - Returns: the one before.
    func replace(_ group: Group, _ key: Key, with row: Row?) -> Row? {
        self.groups[group, default: MemoryGroup()].replace(key, with: row)
    }
}

/// Rows of a kind that are one group.
typealias MemoryList<Key: Comparable, Row> = MemoryTable<Whole, Key, Row>

enum Whole: Hashable { case whole }

extension MemoryTable where Group == Whole {
    var all: MemoryGroup<Key, Row> { self[.whole] }
    subscript(_ key: Key) -> Row? { self[.whole, key] }
}

struct MemoryGroup<Key: Comparable, Row> {
    /// The keys; the rows have the same places.
    private(set) var order: [Key] = []
    private(set) var rows: [Row] = []

    subscript(_ key: Key) -> Row? {
        let place = self.place(of: key)
        return self.has(key, at: place) ? self.rows[place] : nil
    }

    /// The place of the first key that is not before this one. Most keys come in order, so the end is looked at first.
    func place(of key: Key) -> Int {
        if let last = self.order.last, last < key { return self.order.count }
        return self.order.sortedPlace { $0 < key }
    }

    /// The place of the first key after this one; of the first at all for nil.
    func place(after key: Key?) -> Int {
        guard let key else { return 0 }
        let place = self.place(of: key)
        return self.has(key, at: place) ? place + 1 : place
    }

    private func has(_ key: Key, at place: Int) -> Bool { place < self.order.count && self.order[place] == key }

    fileprivate mutating func replace(_ key: Key, with row: Row?) -> Row? {
        let place = self.place(of: key)
        let before = self.has(key, at: place) ? self.rows[place] : nil
        switch (before != nil, row) {
        case (true, let row?): self.rows[place] = row
        case (true, nil):
            self.order.remove(at: place)
            self.rows.remove(at: place)
        case (false, let row?):
            self.order.insert(key, at: place)
            self.rows.insert(row, at: place)
        case (false, nil): break
        }
        return before
    }
}
