import Foundation
import TidingsAppGroup
import TidingsModel

@testable import TidingsNotificationService

/// A server that answers what it was told to, or nothing at all.
final class WebDouble: ExtensionHTTP {
    private struct State {
        var sent: [ExtensionHTTPRequest] = []
        var answers: [String: JSONValue] = [:]
        var files: [String: Data] = [:]
        var asked: [String] = []
        var isSilent = false
        var meanwhile: (@Sendable () -> Void)?
    }
    private struct Unreachable: Error {}
    private let state = Locked(State())

    /// What was sent, in order.
    var sent: [ExtensionHTTPRequest] { self.state.withLock { $0.sent } }

    /// The files that were asked for, in order.
    var asked: [String] { self.state.withLock { $0.asked } }
    func put(_ file: Data, at url: String) { self.state.withLock { $0.files[url] = file } }

    func file(at url: URL, hosts: [String], bytesMax: Int, seconds: Double) async throws -> Data {
        let (file, isSilent) = self.state.withLock { state in
            state.asked.append(url.absoluteString)
            return (state.files[url.absoluteString], state.isSilent)
        }
        if isSilent {
            let never = AsyncStream<Never> { _ in }
            for await _ in never {}
        }
        guard let file, file.count <= bytesMax else { throw Unreachable() }
        return file
    }

    /// The files of the server are asked for with the token: it stands before the address.
    func media(at url: URL, token: String, bytesMax: Int, seconds: Double) async throws -> Data {
        guard let marked = URL(string: "\(token):\(url.absoluteString)") else { throw Unreachable() }
        return try await self.file(at: marked, hosts: [], bytesMax: bytesMax, seconds: seconds)
    }

    func reset() { self.state.withLock { $0 = State() } }
    func answer(_ path: String, with json: JSONValue) { self.state.withLock { $0.answers[path] = json } }
    /// What happens while the next request is under way.
    func meanwhile(_ work: @escaping @Sendable () -> Void) { self.state.withLock { $0.meanwhile = work } }
    /// From now on nothing is answered until the asker gives up.
    func beSilent() { self.state.withLock { $0.isSilent = true } }

    func send(_ request: ExtensionHTTPRequest) async throws -> (status: Int, body: [UInt8]) {
        let (answer, isSilent, meanwhile) = self.state.withLock { state in
            state.sent.append(request)
            defer { state.meanwhile = nil }
            return (state.answers[request.url.path], state.isSilent, state.meanwhile)
        }
        meanwhile?()
        if isSilent {
            // Ends when the task is cancelled.
            let never = AsyncStream<Never> { _ in }
            for await _ in never {}
        }
        guard let answer else { throw Unreachable() }
        return (200, answer.serialized)
    }
}
