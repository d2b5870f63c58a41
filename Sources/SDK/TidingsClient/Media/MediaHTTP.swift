import ClientCore
package import Foundation
import TidingsModel

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request about media, small enough to be held in memory.
package struct MediaHTTPRequest: Hashable, Sendable {
    package var method: String
    package var url: URL
    package var token: String
    package var headers: [String: String] = [:]
    package var body = Data()
}

package struct MediaHTTPAnswer: Hashable, Sendable {
    package var status: Int
    /// By their names in lower case.
    package var headers: [String: String] = [:]
    package var body = Data()
}

package protocol MediaHTTP: Sendable {
    /// Throws where no answer came; ends early when its task is cancelled.
    func send(_ request: MediaHTTPRequest) async throws -> MediaHTTPAnswer
}

/// Foundation's client, without cookies, cache and shared credentials. A redirection is an answer like any other: the token goes nowhere
/// else.
package struct URLSessionMediaHTTP: MediaHTTP {
    private struct NoAnswer: Error {}

    /// In seconds, for one part: longer than the server waits for a body.
    private static let seconds = 60.0

    package init() {}

    package func send(_ request: MediaHTTPRequest) async throws -> MediaHTTPAnswer {
        var wanted = URLRequest(url: request.url, timeoutInterval: Self.seconds)
        wanted.httpMethod = request.method
        wanted.setValue("Bearer \(request.token)", forHTTPHeaderField: "Authorization")
        for (name, value) in request.headers { wanted.setValue(value, forHTTPHeaderField: name) }
        if !request.body.isEmpty { wanted.httpBody = request.body }
        let configuration = URLSessionConfiguration.ephemeral
        // Foundation on Linux looks at the session's limit only.
        configuration.timeoutIntervalForRequest = Self.seconds
        configuration.timeoutIntervalForResource = 2 * Self.seconds
        let session = URLSession(configuration: configuration, delegate: StaysHere(), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let (data, response) = try await session.data(for: wanted)
        guard let answer = response as? HTTPURLResponse else { throw NoAnswer() }
        var headers: [String: String] = [:]
        for (name, value) in answer.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            headers[name.lowercased()] = value
        }
        return MediaHTTPAnswer(status: answer.statusCode, headers: headers, body: data)
    }
}

private final class StaysHere: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

extension MediaAnswer {
    init(_ answer: MediaHTTPAnswer) {
        func number(_ name: String) -> Int64? { answer.headers[name].flatMap { Int64($0) } }
        let isProblem = answer.status >= 400
        let problem = isProblem ? try? JSONValue(parsing: [UInt8](answer.body)) : nil
        // `bytes 0-9/100` (RFC 9110 §14.4).
        let total = answer.headers["content-range"]?.split(separator: "/").last.flatMap { Int64($0) }
        self.init(
            status: answer.status, offset: number("upload-offset"), location: answer.headers["location"], total: total,
            tag: answer.headers["etag"], received: isProblem ? 0 : Int64(answer.body.count),
            code: problem?["code"]?.stringValue, retryAfter: number("retry-after"))
    }
}
