import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Asks Tidings for user tokens: `POST /v1/apps/{app}/tokens` with the API key.
struct UserTokenSource: Sendable {
    /// Where Tidings' HTTP API is.
    let address: URL
    let app: String
    let apiKey: String
    /// How long a token is good.
    let seconds: Int

    /// What the phone gets of it.
    struct Issued: Codable, Sendable {
        var token: String
        var user: String
        /// Milliseconds since 1970.
        var expiresAt: Int64
    }

    private struct Question: Encodable {
        var user: String
        var expiresInSeconds: Int
    }

    private struct Told: Decodable {
        var code: String
        var detail: String
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return encoder
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    /// - Throws: `BackendProblem`: `disabled` (403) for somebody who is banned there, `unavailable` (503) while Tidings does not answer,
    ///   `misconfigured` (500) if it takes the key or the question not.
    func token(of user: String) async throws -> Issued {
        let address = self.address.appendingPathComponent("v1/apps/\(self.app)/tokens")
        var request = URLRequest(url: address, timeoutInterval: 10)
        request.httpMethod = "POST"
        request.setValue("Bearer \(self.apiKey)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try Self.encoder.encode(Question(user: user, expiresInSeconds: self.seconds))
        let (data, response): (Data, URLResponse)
        do {
            (data, response) = try await URLSession.shared.data(for: request)
        } catch {
            throw Self.unavailable("Tidings does not answer at \(self.address): is its server running? \(error)")
        }
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        if status == 201, let issued = try? Self.decoder.decode(Issued.self, from: data) { return issued }
        let told = try? JSONDecoder().decode(Told.self, from: data)
        switch told?.code {
        case "disabled": throw BackendProblem(.forbidden, "disabled", "this user is banned")
        case _ where status == 429 || status >= 500:
            throw Self.unavailable(
                "Tidings cannot answer now (status \(status)): \(told?.detail ?? "it gave no reason")")
        default:
            throw BackendProblem(
                .internalServerError, "misconfigured", "the backend is not set up for this; its log says why",
                cause: "Tidings refused to issue a token (status \(status)): \(told?.detail ?? "it gave no reason")")
        }
    }

    private static func unavailable(_ cause: String) -> BackendProblem {
        BackendProblem(
            .serviceUnavailable, "unavailable", "there are no user tokens now: try again in a moment",
            retryAfterSeconds: 1,
            cause: cause)
    }
}
