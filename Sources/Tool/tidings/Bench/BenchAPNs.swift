import ArgumentParser
import Foundation
import TidingsModel

struct BenchAPNs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns",
        abstract: "Measure the APNs client: notifications per second and CPU of this process per 100,000.",
        discussion: """
            Sends to whatever speaks HTTP/2 over TLS on the port: the local APNs, with the key of its credential.json and \
            device tokens of its phones, or any other server, with a made-up key and token. First every connection is \
            opened and used; then the time runs from the first notification to the last result. Only a release build \
            measures anything.
            """)

    @Option(help: "Port of the APNs to send to.") var port: Int
    @Option(help: "Its name, as in its certificate.") var host = "localhost"
    @Option(help: "PEM file with the authority of its certificate.") var trustRoots: String
    @Option(help: "The .p8 file to sign provider tokens with; a made-up key if left out.") var keyFile: String?
    @Option(help: "The key's id.") var keyID: String?
    @Option(help: "The team's id.") var teamID: String?
    @Option(help: "The topic, a bundle identifier.") var topic = "com.example.chat"
    @Option(help: "A device token to send to, in turn with others if given again; a made-up one if left out.")
    var token: [String] = []
    @Option(help: "Notifications to send.") var notifications = 100_000
    @Option(help: "Connections they are spread over.") var connections = 1
    @Option(help: "Notifications under way at a time, on all connections together.") var inFlight = 100
    @Flag(help: "Print one JSON object instead of lines.") var json = false

    func validate() throws {
        try check("--port", self.port, in: 1...65_535)
        try check("--notifications", self.notifications, in: 1...1_000_000_000)
        try check("--connections", self.connections, in: 1...100)
        guard (self.connections...100_000).contains(self.inFlight) else {
            throw ValidationError(
                "--in-flight must be at least the connections and at most 100000, got \(self.inFlight)")
        }
        let credential = [self.keyFile, self.keyID, self.teamID].compactMap { $0 }
        guard credential.isEmpty || credential.count == 3 else {
            throw ValidationError("--key-file, --key-id and --team-id must be given together, or none of them")
        }
    }

    func run() async throws {
        #if DEBUG
            printError("This is a debug build: the figures say nothing.")
        #endif
        let privateKey: String?
        do {
            privateKey = try self.keyFile.map { try String(contentsOfFile: $0, encoding: .utf8) }
        } catch {
            throw ToolFailure("--key-file \(self.keyFile ?? "") cannot be read: \(error.localizedDescription)")
        }
        let load = try APNsLoad(self, privateKey: privateKey)
        let figures = try await ProgressLine.during("sending \(self.notifications) notifications") {
            try await load.run()
        }
        if self.json { print(figures.json) } else { figures.lines.forEach { print($0) } }
    }
}
