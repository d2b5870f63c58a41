package import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

package struct ExtensionHTTPRequest: Hashable, Sendable {
    package var method: String
    package var url: URL
    package var token: String
    package var body: [UInt8] = []
    /// In seconds, for the whole answer.
    package var seconds: Double
}

package protocol ExtensionHTTP: Sendable {
    /// Returns status and body.
    func send(_ request: ExtensionHTTPRequest) async throws -> (status: Int, body: [UInt8])

    /// Without a token. A redirection to a host that is not among `hosts` (`NotificationImage.isAllowed`) ends the
    /// fetch, as does the first byte beyond `bytesMax`.
    func file(at url: URL, hosts: [String], bytesMax: Int, seconds: Double) async throws -> Data

    /// Fetches a file from the server itself, with the extension's token, which goes nowhere else: a redirection ends the fetch.
    func media(at url: URL, token: String, bytesMax: Int, seconds: Double) async throws -> Data
}

/// Foundation's client, without cookies, cache and shared credentials.
package struct URLSessionHTTP: ExtensionHTTP {
    /// An error: the response is not of a web server, or too large.
    private struct NoAnswer: Error {}

    /// Longer answers are not of this server: 20 messages of 32,768 bytes, and room for JSON's escapes.
    private static let bytesMax = 4_194_304

    package init() {}

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
    /// Over a connection of its own, as every request.
    package func file(at url: URL, hosts: [String], bytesMax: Int, seconds: Double) async throws -> Data {
        if let fault = FileFetch.fault(of: url, hosts: hosts) { throw fault }
        return try await Self.fetch(
            URLRequest(url: url, timeoutInterval: seconds), hosts: hosts, bytesMax: bytesMax, seconds: seconds)
    }

    package func media(at url: URL, token: String, bytesMax: Int, seconds: Double) async throws -> Data {
        var request = URLRequest(url: url, timeoutInterval: seconds)
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        return try await Self.fetch(request, hosts: nil, bytesMax: bytesMax, seconds: seconds)
    }

    /// Also what it leads to must be behind an encrypted connection, and of the hosts; without any it must not lead elsewhere.
    static func fetch(_ request: URLRequest, hosts: [String]?, bytesMax: Int, seconds: Double) async throws -> Data {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = seconds
        configuration.timeoutIntervalForResource = seconds
        let fetch = FileFetch(hosts: hosts, bytesMax: bytesMax)
        let session = URLSession(configuration: configuration, delegate: fetch, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: request)
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
