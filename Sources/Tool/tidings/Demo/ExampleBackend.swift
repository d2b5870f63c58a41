import Foundation

/// The example app's backend (Examples/Backend) as a child process, where people sign in with passwords.
final class ExampleBackend {
    /// The app's own constant.
    static let usualPort = 7_490

    let port: Int
    let process: ManagedProcess

    var address: String { "http://127.0.0.1:\(self.port)" }

    /// - Parameter people: user and password; they are given to it before it starts.
    static func start(
        for site: LocalServer, port: Int, people: [(user: String, password: String)]
    ) async throws -> ExampleBackend {
        let executable = try siblingExecutable("ChatBackend")
        let state = "\(site.folder.path)/chat-backend"
        for person in people {
            try site.folder.write(person.password + "\n", to: "password")
            let adding = try ManagedProcess(
                name: "chat-backend", executable: executable,
                arguments: [
                    "add-user", "--state", state, "--password-file", "\(site.folder.path)/password", person.user,
                ], folder: site.folder.path)
            guard await adding.ended() == 0 else {
                throw ToolFailure("\(person.user) cannot be added to the backend:\n\(adding.logTail())")
            }
        }
        try? FileManager.default.removeItem(atPath: "\(site.folder.path)/password")
        let process = try ManagedProcess(
            name: "chat-backend", executable: executable,
            arguments: [
                "--state", state, "--port", "\(port)", "--tidings", site.apiAddress, "--app", "\(LocalServer.app)",
                "--gateway", site.gatewayAddress, "--phone-routes", site.phoneAddress,
            ], folder: site.folder.path, environment: ["TIDINGS_API_KEY": site.apiKey])
        let backend = ExampleBackend(port: port, process: process)
        do {
            try await HTTP.waitUntilReady("\(backend.address)/healthz", process: process)
        } catch {
            await process.stop()
            throw error
        }
        return backend
    }

    private init(port: Int, process: ManagedProcess) { (self.port, self.process) = (port, process) }
}
