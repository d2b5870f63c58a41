import Foundation

/// Inputs that are kept: what fuzzing has found, and what is known to hurt parsers. Every run begins with them.
public enum Corpus {
    /// The inputs of a kind, in the order of their names, from `Tests/Corpora/KIND`. A file that ends in `.hex` holds its bytes as
    /// hexadecimal digits, any other as they are; `@N@` in one that ends in `.many` makes the text before it stand there N times.
    ///
    /// - Returns: never none: a folder without inputs is a fault of the test.
    public static func inputs(of kind: String) -> [[UInt8]] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Corpora/\(kind)")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let inputs = names.sorted().compactMap { name -> [UInt8]? in
            guard let data = try? Data(contentsOf: folder.appendingPathComponent(name)) else { return nil }
            if name.hasSuffix(".hex") { return Self.bytes(hexadecimal: String(decoding: data, as: UTF8.self)) }
            if name.hasSuffix(".many") { return Self.repeated(String(decoding: data, as: UTF8.self)) }
            return Array(data)
        }
        precondition(!inputs.isEmpty, "Tests/Corpora/\(kind) holds nothing")
        return inputs
    }

    private static func bytes(hexadecimal text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func repeated(_ text: String) -> [UInt8] {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count >= 2, let count = Int(parts[1]) else { return Array(text.utf8) }
        return Array((String(repeating: String(parts[0]), count: count) + parts.dropFirst(2).joined()).utf8)
    }
}
