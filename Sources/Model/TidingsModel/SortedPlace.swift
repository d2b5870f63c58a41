extension RandomAccessCollection where Index == Int {
    /// The index of the first element that is not before; elements before must come first. Binary search.
    @inlinable package func sortedPlace(_ isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (self.startIndex, self.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
