import ArgumentParser
import Foundation

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a message reaching a phone in each of its states; exit status 0 only if every step held.",
        discussion: """
            Starts a server, a local APNs, the example app's backend and two virtual phones in processes of their own on \
            fresh temporary state, signs two people in on the app's screen, and plays five steps: in the foreground; in the background; frozen, with tap; frozen without a word; the server killed right \
            after an acknowledgement. With --stay the console's pages are filled, everything is left running and the addresses are printed.
            """)

    @Flag(help: "Leave everything running after the steps, until Ctrl-C.") var stay = false

    func run() async throws {
        let timeline = Timeline()
        let fixed = [(ExampleBackend.usualPort, "the example's backend"), (DemoPhones.usualPort, "the phones")]
        for (port, use) in fixed where self.stay && !isPortFree(port) {
            throw ToolFailure(
                """
                port \(port) (\(use)) on 127.0.0.1 is in use. End what uses it first, or play the demo on free ports: tidings demo
                """)
        }
        let phonesPort = self.stay ? DemoPhones.usualPort : try freePort()
        let site = try await LocalServer.start(
            name: "demo", withAPNs: true, settings: self.stay ? DemoSeeds.settings : [:],
            ports: self.stay ? [7_400, 7_480, 7_443, 7_444, 7_445, 7_481] : nil,
            withSearch: true, phonesPort: phonesPort)
        let stage = DemoStage(
            site: site, timeline: timeline, phonesPort: phonesPort,
            backendPort: self.stay ? ExampleBackend.usualPort : nil)
        try await withCleanUp({
            await stage.close()
            site.remove()
        }) {
            do {
                try await ProgressLine.during("starting two phones with the app") { try await stage.open() }
                try await stage.play()
                timeline.finish()
                guard self.stay else { return }
                try await ProgressLine.during("filling the console's pages") {
                    try await DemoSeeds(site: site).plant()
                }
                try await self.linger(site, stage)
            } catch let failure as DemoFailure {
                timeline.fail(failure)
                await stage.printLogs()
                throw ExitCode(1)
            }
        }
    }

    private func linger(_ site: LocalServer, _ stage: DemoStage) async throws {
        print(
            lines: """

                Everything is running; Ctrl-C, or closing the terminal, ends it.
                  gateway      \(site.gatewayAddress)
                  HTTP API     \(site.apiAddress)   (GET /healthz, /readyz, /metrics, /openapi.yaml)
                  backend      \(stage.backend?.address ?? "")   (where the app signs in: \(DemoStage.people))
                  local APNs   https://localhost:\(site.apnsPort), log at http://127.0.0.1:\(site.controlPort)/log
                  phones       http://127.0.0.1:\(DemoPhones.usualPort)/v1/phones with the token of \(site.phonesTokenPath)
                  state        \(site.folder.path)
                  to look at   \(DemoSeeds.line)

                Send something yourself:
                  TIDINGS_API_KEY=\(site.apiKey) \(ownCommand()) message send \(LocalServer.app) --from carol --to bob "hello"

                The console, in a browser on this machine; Phones shows the two phones to touch:
                  \(try await self.console(site))
                """)
        fflush(nil)
        await Leftovers.waitForSignal()
    }
}

extension Demo {
    fileprivate func console(_ site: LocalServer) async throws -> String {
        let link = try await ConsoleCommand.linkForTerminal(database: site.database, name: ConsoleCommand.usualName)
        let command = "\(ownCommand()) console link --store \(site.database)"
        guard let link else { return "\(command)   (prints a link that signs you in, at a terminal)" }
        return "\(link)   (good once, for ten minutes; press Sign in)\n  another link: \(command)"
    }
}

struct DemoFailure: Error {
    var expected: String
    var found: String
}

final class Timeline {
    private let start = ContinuousClock.now
    private var steps = 0

    /// The width of each column: with two spaces between and the reason behind them all fits into 120.
    static let widths = [7, 13, 34, 28, 28]

    init() { print(TextTable.row(["time", "who", "what", "shown", "reason"], widths: Self.widths), .bold) }

    func step(_ title: String) {
        self.steps += 1
        print(lines: "\n(\(self.steps)) \(title)", .bold)
    }

    /// - Parameter callback: what iOS calls for it, on a line of its own.
    func add(_ who: String, _ what: String, shown: String = "", callback: String = "", reason: String = "") {
        let time = String(format: "%.3f", self.start.duration(to: .now) / .seconds(1))
        print(TextTable.row([time, who, what, shown, reason], widths: Self.widths))
        if !callback.isEmpty { print(TextTable.row(["", "  callback", callback], widths: Self.widths)) }
        fflush(nil)
    }

    func fail(_ failure: DemoFailure) {
        print(lines: "\nFAILED in step (\(self.steps))", .red)
        print(lines: "  expected: \(failure.expected)\n  found:    \(failure.found)")
    }

    func finish() { print(lines: "\nall \(self.steps) steps held", .green) }
}
