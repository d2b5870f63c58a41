import Foundation
import TidingsModel

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

enum HTTP {
    /// A server's answer in place of 2xx.
    struct Refusal: Error, CustomStringConvertible {
        let status: Int
        /// The code of the problem (RFC 9457); nil if the answer is none.
        let code: String?
        let description: String

        init(status: Int, answer: JSONValue?, of request: String) {
            self.status = status
            self.code = answer?["code"]?.stringValue
            let detail = answer?["detail"]?.stringValue ?? answer?["title"]?.stringValue ?? "status \(status)"
            // A line of its own would be the server's.
            self.description = "\(request): \(detail.printable)"
        }
    }

    static func call(
        _ method: String, _ address: String, key: String? = nil, headers: [String: String] = [:],
        body: JSONValue? = nil,
        timeoutSeconds: Double = 10
    ) async throws -> (status: Int, body: [UInt8]) {
        guard let url = URL(string: address) else { throw ToolFailure("\(address) is not an address") }
        var request = URLRequest(url: url, timeoutInterval: timeoutSeconds)
        request.httpMethod = method
        if let key { request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let body {
            request.httpBody = Data(body.serialized)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        do {
            let (data, response) = try await URLSession.shared.data(for: request)
            return ((response as? HTTPURLResponse)?.statusCode ?? 0, Array(data))
        } catch {
            throw ToolFailure(
                "\(address) does not answer (\(error.localizedDescription)): is the server running there?")
        }
    }

    /// Throws `Refusal` with the problem's own words (RFC 9457) for any status but 2xx.
    static func json(
        _ method: String, _ address: String, key: String? = nil, headers: [String: String] = [:], body: JSONValue? = nil
    ) async throws -> JSONValue {
        let (status, bytes) = try await Self.call(method, address, key: key, headers: headers, body: body)
        let value = try? JSONValue(parsing: bytes)
        guard (200..<300).contains(status) else {
            throw Refusal(status: status, answer: value, of: "\(method) \(address)")
        }
        return value ?? .null
    }

    static func waitUntilReady(_ address: String, process: ManagedProcess, seconds: Int = 30) async throws {
        for _ in 0..<(seconds * 20) {
            if let (status, _) = try? await Self.call("GET", address, timeoutSeconds: 2), status == 200 { return }
            guard process.isRunning else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw ToolFailure("\(process.name) did not become ready at \(address). Its last lines:\n\(process.logTail())")
    }
}
