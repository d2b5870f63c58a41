import ArgumentParser
import Foundation
import Logging
import TidingsModel
import TidingsServer

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: """
            Run the server: WebSocket gateway on 7400, HTTP API on 7480, routes for phones on 7481, loopback unless told \
            otherwise.
            """,
        discussion: """
            Values come from flags, then environment variables (TIDINGS_GATEWAY_PORT for gateway.port), then the file, then \
            the defaults; every key is listed in docs/server/configuration.md and by --keys. SIGTERM drains: clients are asked to \
            come back, nothing is lost. Exit status 78 for a faulty configuration, 1 for any other failure.
            """)

    @Option(name: [.short, .long], help: "Configuration file (YAML).") var config: String?
    @Option(
        name: .customLong("set"), parsing: .singleValue,
        help: ArgumentHelp(
            "Set one key, for example --set gateway.port=7401. May be given again.", valueName: "key=value"))
    var settings: [String] = []
    @Option(
        help: ArgumentHelp(
            "Show the virtual phones of `tidings phones`, which runs there: the same as --set console.phones=…",
            valueName: "host:port"))
    var phones: String?
    @Flag(help: "Print every key with its default, then exit.") var keys = false
    @Flag(help: "Check the configuration and the key files it names, then exit.") var check = false

    func run() async throws {
        // A log reader that goes away must not end the server.
        signal(SIGPIPE, SIG_IGN)
        if self.keys {
            let defaults = ServerConfiguration()
            for key in ConfigurationKey.all { print("\(key.name) = \(key.value(in: defaults))    # \(key.summary)") }
            return
        }
        var overrides = try pairs(self.settings, of: "--set", "key=value")
        if let phones = self.phones {
            guard overrides.updateValue(phones, forKey: "console.phones") == nil else {
                throw ValidationError("--phones and --set console.phones cannot both be given")
            }
        }
        // Files of the server hold everybody's messages and tokens.
        umask(0o077)
        do {
            let configuration = try await ServerConfiguration.load(
                file: self.config, environment: ProcessInfo.processInfo.environment, overrides: overrides)
            if self.check {
                let silent = Logger(label: "tidings.check") { _ in SwiftLogNoOpLogHandler() }
                try TidingsServer(configuration: configuration, logger: silent).check()
                print("the configuration is good")
                return
            }
            let logging = try configuration.logging()
            defer { for output in logging.outputs { output.flush() } }
            let server = TidingsServer(
                configuration: configuration, logger: logging.server, audit: logging.audit, outputs: logging.outputs,
                version: toolVersion)
            try await server.runUntilSignalled()
        } catch let faults as ConfigurationFaults {
            let output = LogOutput.standardError
            output.write("tidings cannot start:\n")
            for fault in faults.faults { output.write("  \("\(fault)".printable)\n") }
            output.flush()
            // EX_CONFIG of sysexits(3).
            throw ExitCode(78)
        }
    }
}
