package import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request of the extension to the server's API.
package struct ExtensionHTTPRequest: Hashable, Sendable {
    /// `GET` or `POST`.
    package var method: String
    /// Where to.
    package var url: URL
    /// The extension token.
    package var token: String
    /// A JSON body; empty for none.
    package var body: [UInt8]
    /// How long an answer is waited for, in seconds.
    package var seconds: Double

    /// A request from its parts.
    package init(method: String, url: URL, token: String, body: [UInt8] = [], seconds: Double) {
        self.method = method
        self.url = url
        self.token = token
        self.body = body
        self.seconds = seconds
    }
}

/// What carries the extension's requests.
package protocol ExtensionHTTP: Sendable {
    /// Sends a request.
    ///
    /// - Returns: the status and the body.
    /// - Throws: whatever keeps an answer from coming.
    func send(_ request: ExtensionHTTPRequest) async throws -> (status: Int, body: [UInt8])
}

/// Foundation's client, without cookies, cache and shared credentials.
package struct URLSessionHTTP: ExtensionHTTP {
    /// What came back was no answer of a web server.
    private struct NoAnswer: Error {}

    /// Longer answers are not of this server: 20 messages of 32,768 bytes, and room for JSON's escapes.
    private static let bytesMax = 4_194_304

    /// A client.
    package init() {}

    /// Sends a request over a connection of its own.
    ///
    /// - Returns: the status and the body.
    /// - Throws: Foundation's errors, and an error of its own if the answer is no web server's or larger than any of ours.
    package func send(_ request: ExtensionHTTPRequest) async throws -> (status: Int, body: [UInt8]) {
        var wanted = URLRequest(url: request.url, timeoutInterval: request.seconds)
        wanted.httpMethod = request.method
        wanted.setValue("Bearer \(request.token)", forHTTPHeaderField: "Authorization")
        if !request.body.isEmpty {
            wanted.setValue("application/json", forHTTPHeaderField: "Content-Type")
            wanted.httpBody = Data(request.body)
        }
        let configuration = URLSessionConfiguration.ephemeral
        // Foundation on Linux looks at the session's limit only.
        configuration.timeoutIntervalForRequest = request.seconds
        configuration.timeoutIntervalForResource = request.seconds
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        let (data, response) = try await session.data(for: wanted)
        guard let answer = response as? HTTPURLResponse, data.count <= Self.bytesMax else { throw NoAnswer() }
        return (answer.statusCode, Array(data))
    }
}
