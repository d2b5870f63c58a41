import Foundation
import TidingsModel

/// The demo's side of one phone of `tidings phones`: commands out, answers and trace in (docs/testing/phone-control.md).
actor DemoPhone {
    let name: String
    private let address: String
    private let token: String
    private(set) var events: [JSONValue] = []
    /// The number of the newest line that was read.
    private var newest: Int64 = 0

    /// An app may take ten seconds for a touch.
    private static let timeLimitSeconds = 20.0

    /// - Parameters:
    ///   - name: as the timeline has it.
    ///   - address: of the phone, `http://127.0.0.1:PORT/v1/phones/ID`.
    init(name: String, address: String, token: String) {
        self.name = name
        self.address = address
        self.token = token
    }

    /// - Throws: `ToolFailure` with the phone's own words if it refuses, or if it is gone.
    @discardableResult
    func command(_ verb: String, _ members: [(String, JSONValue)] = []) async throws -> JSONValue {
        let (status, bytes) = try await HTTP.call(
            "POST", "\(self.address)/commands", key: self.token, body: .members([("do", .string(verb))] + members),
            timeoutSeconds: Self.timeLimitSeconds)
        let answer = try? JSONValue(parsing: bytes)
        guard status == 200, answer?["ok"]?.boolValue == true else {
            let field = answer?["field"]?.stringValue ?? ""
            throw ToolFailure("\(self.name): \(field) \(answer?["rule"]?.stringValue ?? "refused (status \(status))")")
        }
        return answer?["result"] ?? .null
    }

    /// How many lines of the trace there are.
    func mark() async throws -> Int { try await self.readTrace().count }

    /// The lines of the trace, up to now.
    @discardableResult
    func readTrace() async throws -> [JSONValue] {
        let lines = try await self.command("trace", [("after", .int(self.newest))])["events"]?.arrayValue ?? []
        // Another reader may have been quicker.
        for line in lines where line["n"]?.intValue ?? 0 > self.newest {
            self.events.append(line)
            self.newest = line["n"]?.intValue ?? self.newest
        }
        return self.events
    }

    func event(
        after mark: Int, withinSeconds seconds: Double, _ fits: @Sendable (JSONValue) -> Bool
    ) async throws -> JSONValue? {
        let deadline = ContinuousClock.now + .milliseconds(Int(seconds * 1_000))
        while true {
            if let event = try await self.readTrace().dropFirst(mark).first(where: fits) { return event }
            guard ContinuousClock.now < deadline else { return nil }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

/// The process that hosts the demo's phones, as the console reaches it, too.
struct DemoPhones {
    /// The port of `make run`.
    static let usualPort = 7_482

    let process: ManagedProcess
    private let address: String
    private let token: String

    /// Phones without anything of the people: iOS launches their apps as it launches every app, without variables.
    static func start(for site: LocalServer, port: Int, _ names: [String]) async throws -> DemoPhones {
        let own = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("CHAT_") }
        let hidden = ["TIDINGS_API_KEY", "TIDINGS_TOKEN"] + own
        let process = try ManagedProcess(
            name: "phones", executable: ownExecutable(),
            arguments: [
                "phones", "--port", "\(port)", "--folder", site.phonesFolder, "--courier",
                "127.0.0.1:\(site.courierPort)", "--bundle", LocalServer.topic,
            ] + names.flatMap { ["--phone", $0] }, folder: site.folder.path,
            environment: Dictionary(uniqueKeysWithValues: hidden.map { ($0, "") }))
        let address = "http://127.0.0.1:\(port)/v1/phones"
        for _ in 0..<600 {
            if let text = try? String(contentsOfFile: site.phonesTokenPath, encoding: .utf8) {
                let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
                let list = try? await HTTP.json("GET", address, key: token)
                let found = Set((list?["phones"]?.arrayValue ?? []).compactMap { $0["id"]?.stringValue })
                if found.isSuperset(of: names) { return DemoPhones(process: process, address: address, token: token) }
            }
            guard process.isRunning else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        await process.stop()
        throw ToolFailure("the phones did not start. Their last lines:\n\(process.logTail())")
    }

    func phone(_ user: String) -> DemoPhone {
        DemoPhone(name: "\(user)'s phone", address: "\(self.address)/\(user)", token: self.token)
    }
}
