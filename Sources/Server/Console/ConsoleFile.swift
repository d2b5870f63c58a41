import EmbeddedFiles

/// One file of the console's pages, as it is in the folder Pages: HTML, CSS, ES modules, pictures and a page of the documentation, compiled in, so that the server's binary
/// needs no file at its side.
package struct ConsoleFile: Hashable, Sendable {
    package var name: String
    package var bytes: [UInt8]

    /// Holds all files of the folder, by name.
    package static let all: [ConsoleFile] = sequence(state: Int32(0)) { index in
        defer { index += 1 }
        return embedded_console_file(index).map {
            ConsoleFile(name: String(cString: $0.pointee.name), bytes: Array(String(cString: $0.pointee.text).utf8))
        }
    }.map(\.self)

    /// By the ending of its name; nil for one that no page may have.
    package var contentType: String? {
        switch self.name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "md": "text/markdown; charset=utf-8"
        case "svg": "image/svg+xml"
        default: nil
        }
    }
}
