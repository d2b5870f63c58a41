/// Something that changes at a moment, in monotonic milliseconds; `.max` is never.
protocol Due {
    var deadline: Int64 { get }
}

extension Array where Element: Due {
    /// `.max` if there is none. By index and inlined, without copies: this is asked after every event.
    @inline(__always) var nextDeadline: Int64 {
        var next = Int64.max
        for index in self.indices { next = Swift.min(next, self[index].deadline) }
        return next
    }

    func firstDue(at now: Int64) -> Int? { self.indices.first { self[$0].deadline <= now } }
}
