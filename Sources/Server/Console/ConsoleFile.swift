/// One file of the console's pages, as it is in the folder Pages: HTML, CSS, ES modules and pictures, compiled in, so that the server's binary
/// needs no file at its side.
package struct ConsoleFile: Hashable, Sendable {
    package var name: String
    package var bytes: [UInt8]

    init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    package static let all: [ConsoleFile] = [
        .init("console.css", PackageResources.console_css), .init("index.html", PackageResources.index_html),
    ]

    /// By the ending of its name; nil for one that no page may have.
    package var contentType: String? {
        switch self.name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: nil
        }
    }
}
