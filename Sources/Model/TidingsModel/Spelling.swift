/// Finds which word a misspelt one was meant to be.
package enum Spelling {
    /// Bytes of a word that are compared.
    private static let lengthMax = 100

    /// Returns the word of `known` that differs least from `word`, whatever the case of its letters; of several the first. Nil if more than
    /// `most` letters would have to be put in, taken out or replaced (V. I. Levenshtein, 1965).
    package static func nearest(to word: String, among known: [String], most: Int) -> String? {
        let near = known.map { ($0, self.difference(of: $0.lowercased(), word.lowercased())) }.min { $0.1 < $1.1 }
        return near.flatMap { $0.1 <= most ? $0.0 : nil }
    }

    private static func difference(of left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.utf8.prefix(self.lengthMax)), Array(right.utf8.prefix(self.lengthMax)))
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (byte == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
