import TidingsModel

enum Suggestion {
    static func text(for word: String, among allowed: [String]) -> String {
        let near = Spelling.nearest(to: word, among: allowed, most: max(2, word.count / 3))
        return "\(near.map { "; did you mean \"\($0)\"?" } ?? "") (allowed: \(allowed.joined(separator: ", ")))"
    }
}
