import ArgumentParser
import Foundation
import TidingsModel

struct BenchDevices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Fill a server with people whose devices have registered for pushes and are gone.",
        discussion: """
            Each device gets a token from the local APNs, signs in at the gateway as a phone does, registers the token, waits for the \
            answer and closes its connection. People are called user0, user1, … and their devices user0-0, user0-1, …; those that are \
            there already register once more. The server needs limits that let it (limits.mode: none) and policy.devices_max. The app's \
            token secret is read from TIDINGS_TOKEN_SECRET.
            """)

    @Option(help: "The server's gateway port on this machine.") var gatewayPort: Int
    @Option(help: "The local APNs' control port.") var controlPort: Int
    @Option(help: "The app (tenant).") var app = "demo"
    @Option(help: "The app's bundle identifier.") var topic = "com.example.chat"
    @Option(help: "How many people.") var people = 100
    @Option(help: "Devices of each of them.") var each = 10
    @Option(help: "Devices that are being signed in at a time.") var inFlight = 100
    @Flag(help: "Print one JSON object instead of lines.") var json = false

    func validate() throws {
        try check("--gateway-port", self.gatewayPort, in: 1...65_535)
        try check("--control-port", self.controlPort, in: 1...65_535)
        try check("--people", self.people, in: 1...10_000_000)
        try check("--each", self.each, in: 1...100)
        try check("--in-flight", self.inFlight, in: 1...1_000)
    }

    func run() async throws {
        guard let secret = Secrets.find(nil, "TIDINGS_TOKEN_SECRET") else {
            throw ToolFailure("the app's token secret is needed: set TIDINGS_TOKEN_SECRET")
        }
        let start = ContinuousClock.now
        let token = try LocalServer.userTokens(of: AppID(self.app), secret: secret)
        let load = try await DeviceLoad(
            DeviceLoad.Plan(
                gatewayPort: self.gatewayPort, controlPort: self.controlPort, topic: self.topic, people: self.people,
                each: self.each, inFlight: self.inFlight), token: token)
        try await withCleanUp({ await load.shutDown() }) {
            try await ProgressLine.during("signing in \(self.people * self.each) devices") { try await load.run() }
        }
        let seconds = start.duration(to: .now) / .seconds(1)
        let devices = self.people * self.each
        if self.json {
            let number: JSONValue = JSONNumber(seconds).map { .number($0) } ?? .null
            print(
                JSONValue.members([
                    ("people", .int(self.people)), ("devices", .int(devices)), ("seconds", number),
                ]))
        } else {
            print("devices: \(devices) of \(self.people) people in \(String(format: "%.1f", seconds)) s")
            print("per second: \(Int(Double(devices) / seconds))")
        }
    }
}
