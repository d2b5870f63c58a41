enum Suggestion {
    static func text(for word: String, among allowed: [String]) -> String {
        let near = self.nearest(to: word, among: allowed).map { "; did you mean \"\($0)\"?" } ?? ""
        return "\(near) (allowed: \(allowed.joined(separator: ", ")))"
    }

    static func nearest(to word: String, among allowed: [String]) -> String? {
        let wanted = Array(word.lowercased())
        let best = allowed.map { (word: $0, changes: self.changes(wanted, Array($0.lowercased()))) }
            .min { $0.changes < $1.changes }
        guard let best, best.changes <= max(2, wanted.count / 3) else { return nil }
        return best.word
    }

    private static func changes(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (line, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, other) in right.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
