import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The app's own backend (Examples/Backend): checks passwords, and hands out user tokens to whoever has a session.
struct BackendClient: Sendable {
    let address: URL

    struct Session: Decodable, Sendable {
        var session: String
        var user: String
        var app: String
        var serverUrl: URL
        var apiUrl: URL
    }

    private struct Issued: Decodable { var token: String }
    private struct Nothing: Decodable {}
    private struct Problem: Decodable {
        var code: String
        var detail: String
    }

    /// - Throws: `BackendRefusal`.
    func signIn(user: String, password: String) async throws -> Session {
        try await self.post("sign-in", body: ["user": user, "password": password])
    }

    /// A user token for Tidings.
    ///
    /// - Throws: `BackendRefusal`, `.signedOut` if the session has ended.
    func userToken(session: String) async throws -> String {
        let issued: Issued = try await self.post("token", session: session)
        return issued.token
    }

    /// Ends the session.
    ///
    /// - Throws: `BackendRefusal`.
    func signOut(session: String) async throws {
        let _: Nothing = try await self.post("sign-out", session: session)
    }

    private func post<Answer: Decodable>(
        _ path: String, body: [String: String] = [:], session: String? = nil
    ) async throws -> Answer {
        var request = URLRequest(url: self.address.appendingPathComponent(path), timeoutInterval: 15)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let session { request.setValue("Bearer \(session)", forHTTPHeaderField: "Authorization") }
        request.httpBody = try JSONEncoder().encode(body)
        let (data, response): (Data, URLResponse)
        do {
            (data, response) = try await URLSession.shared.data(for: request)
        } catch {
            throw BackendRefusal.unreachable(self.address)
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        if (200..<300).contains(status),
            let answer = try? decoder.decode(Answer.self, from: data.isEmpty ? Data("{}".utf8) : data)
        {
            return answer
        }
        let problem = try? decoder.decode(Problem.self, from: data)
        switch problem?.code {
        case "wrong_password"?: throw BackendRefusal.wrongPassword
        case "signed_out"?: throw BackendRefusal.signedOut
        default: throw BackendRefusal.other(problem?.detail ?? "status \(status)")
        }
    }
}

/// Why the backend did not do what it was asked; a sentence for the person.
enum BackendRefusal: Error, Equatable, CustomStringConvertible {
    case wrongPassword
    case signedOut
    case unreachable(URL)
    case other(String)

    var description: String {
        switch self {
        case .wrongPassword: "User name or password is wrong."
        case .signedOut: "You have been signed out."
        case .unreachable(let address): "\(address.absoluteString) does not answer."
        case .other(let detail): "The server says: \(detail)"
        }
    }
}
