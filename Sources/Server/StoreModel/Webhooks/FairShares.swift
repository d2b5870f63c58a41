/// Shares room among holders: one who holds little keeps it, and the rest is the same for everybody else.
enum FairShares {
    /// - Returns: what is too much of whom, sorted; empty where there is room for everything.
    static func surplus<Key: Hashable & Comparable>(of held: [Key: Int], room: Int) -> [(key: Key, count: Int)] {
        var left = max(0, room)
        var surplus: [(key: Key, count: Int)] = []
        let sorted = held.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        for (index, (key, count)) in sorted.enumerated() {
            let kept = min(count, left / (sorted.count - index))
            left -= kept
            if kept < count { surplus.append((key, count - kept)) }
        }
        return surplus.sorted { $0.key < $1.key }
    }
}
