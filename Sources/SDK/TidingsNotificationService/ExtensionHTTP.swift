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

    /// Fetches a file without a token.
    ///
    /// - Parameters:
    ///   - url: an https URL of one of the hosts; a redirection to any other ends the fetch.
    ///   - hosts: those that may be asked (`NotificationImage.isAllowed`).
    ///   - bytesMax: the fetch ends with the first byte beyond.
    ///   - seconds: how long it may take in all.
    /// - Returns: the file.
    /// - Throws: whatever keeps it from coming whole, a status other than 200 included.
    func file(at url: URL, hosts: [String], bytesMax: Int, seconds: Double) async throws -> Data
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

extension URLSessionHTTP {
    /// Fetches a file over a connection of its own.
    ///
    /// - Throws: Foundation's errors, and `FileFetch.Fault`.
    package func file(at url: URL, hosts: [String], bytesMax: Int, seconds: Double) async throws -> Data {
        if let fault = FileFetch.fault(of: url, hosts: hosts) { throw fault }
        return try await Self.fetch(url, hosts: hosts, bytesMax: bytesMax, seconds: seconds)
    }

    /// The same from anywhere; what it leads to must be behind an encrypted connection, and of the hosts, all the same.
    static func fetch(_ url: URL, hosts: [String], bytesMax: Int, seconds: Double) async throws -> Data {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = seconds
        configuration.timeoutIntervalForResource = seconds
        let fetch = FileFetch(hosts: hosts, bytesMax: bytesMax)
        let session = URLSession(configuration: configuration, delegate: fetch, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: URLRequest(url: url, timeoutInterval: seconds))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                fetch.begin(continuation)
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }
}
