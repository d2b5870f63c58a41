import Crypto
import Foundation
import TidingsModel

/// The secret that callers of `tidings phones` must know: a file that its user alone can read.
enum PhonesToken {
    static let lengthMin = 32

    /// Reads the token, or draws one and makes the file.
    ///
    /// - Throws: `ToolFailure` if it cannot be read or made, is too short, or others can read it.
    static func load(_ path: String) throws -> String {
        let manager = FileManager.default
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        if !manager.fileExists(atPath: file) { try Self.make(file) }
        let mode = (try? manager.attributesOfItem(atPath: file))?[.posixPermissions] as? NSNumber
        guard let mode, let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw ToolFailure("--token-file must name a file that can be read, got \"\(path)\"")
        }
        guard mode.intValue & 0o077 == 0 else {
            throw ToolFailure("--token-file must name a file for its user alone: chmod 600 \(path)")
        }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard token.utf8.count >= Self.lengthMin, token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw ToolFailure(
                """
                --token-file must hold one line of \(Self.lengthMin) characters of ASCII or more, without spaces. Remove \"\(path)\", and \
                a good one is drawn
                """)
        }
        return token
    }

    private static func make(_ path: String) throws {
        let bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        let line = Array((Base64.encode(bytes, .url) + "\n").utf8)
        try? FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw ToolFailure("--token-file cannot be made at \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        guard write(descriptor, line, line.count) == line.count else {
            throw ToolFailure("--token-file cannot be written at \(path): \(String(cString: strerror(errno)))")
        }
    }
}
