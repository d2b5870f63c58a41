import Console
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TidingsModel

/// The console's pages: files that are compiled in, and nothing else. What they show they ask for by the HTTP API.
extension API {
    static let consoleRoutes: [Route] = [
        .open(.get, "/", API.root), .open(.get, "console", API.indexPage), .open(.get, "console/{file}", API.filePage),
    ]

    private func root(_ request: Request, _ context: Context) throws -> Response {
        try self.checkPage(request)
        return Self.redirect(.temporaryRedirect)
    }

    private func indexPage(_ request: Request, _ context: Context) throws -> Response {
        try self.checkPage(request)
        // What the page names is beside it.
        guard request.uri.path == Self.consoleFolder else { return Self.redirect(.permanentRedirect) }
        return try Self.page("index.html", request)
    }

    private func filePage(_ request: Request, _ context: Context) throws -> Response {
        try self.checkPage(request)
        return try Self.page(try Self.parameter("file", context), request)
    }

    /// The one path with a slash at its end.
    static let consoleFolder = "/console/"

    /// - Throws: status 404 and 421.
    private func checkPage(_ request: Request) throws {
        try self.checkConsole()
        try self.checkHost(request)
    }

    private static func redirect(_ status: HTTPResponse.Status) -> Response {
        Response(status: status, headers: Self.pageHeaders.merging([.location: Self.consoleFolder]))
    }

    private struct Page: Sendable {
        var body: ByteBuffer
        var contentType: String
        var tag: String
    }

    private static let pages: [String: Page] = {
        var pages: [String: Page] = [:]
        for file in ConsoleFile.all {
            let digest = Hexadecimal.text(SHA256.hash(data: file.bytes))
            pages[file.name] = file.contentType.map { type in
                Page(body: ByteBuffer(bytes: file.bytes), contentType: type, tag: "\"\(digest.prefix(32))\"")
            }
        }
        return pages
    }()

    private static func page(_ name: String, _ request: Request) throws -> Response {
        guard let page = Self.pages[name] else {
            throw APIProblem(.unknownFile, field: "file", rule: "names no file of the console")
        }
        // A new build shows itself at once, and what a browser has goes over the network once.
        let headers = Self.pageHeaders.merging([.eTag: page.tag, .cacheControl: "no-cache"])
        let known = Self.elements(of: request.headers[values: .ifNoneMatch])
        // RFC 9110 §13.1.2 compares them weakly.
        if known.contains(where: { $0 == "*" || $0 == page.tag || $0 == "W/\(page.tag)" }) {
            return Response(status: .notModified, headers: headers)
        }
        return Response(
            status: .ok, headers: headers.merging([.contentType: page.contentType]),
            body: .init(byteBuffer: page.body))
    }

    /// The headers of a page: it loads this host's files alone, no script or style of its own text, and stands in nobody's frame.
    private static let pageHeaders: HTTPFields = {
        var headers: HTTPFields = [
            .contentSecurityPolicy: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                + "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
            .crossOriginResourcePolicy: "same-origin",
        ]
        for (name, value) in [
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ] { if let name = HTTPField.Name(name) { headers[name] = value } }
        return headers
    }()
}

extension HTTPFields {
    fileprivate func merging(_ others: HTTPFields) -> HTTPFields {
        var all = self
        for field in others { all[field.name] = field.value }
        return all
    }
}
