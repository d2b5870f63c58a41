import ArgumentParser
import Foundation
import TidingsModel

struct Phones: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Host virtual iPhones for the console: every app and extension is a process of its own.",
        discussion: """
            The console shows them on its page Phones when the server is started with --phones 127.0.0.1:PORT. They are asked \
            over HTTP on loopback, and every request needs the token of --token-file, which the server reads, too: \
            Authorization: Bearer TOKEN. The first start draws it.

              GET    /v1/phones                what phones there are
              POST   /v1/phones                starts one: {"id":NAME,"user":NAME,"ios":"17","lifecycle":"scenes" or
                                               "application","delegate":"modern" or "legacy","implements":[methods]};
                                               all but id may be left out
              DELETE /v1/phones/NAME           ends one; its folder stays
              POST   /v1/phones/NAME/commands  one command of the control channel (docs/testing/phone-control.md)
              GET    /v1/phones/NAME/events    server-sent events: the trace, and what is shown; last=N or after=N

            With TIDINGS_API_KEY in the environment the example app is given a token for the phone's user; otherwise it asks \
            who signs in. SIGTERM or Ctrl-C ends the phones and all their processes.
            """)

    @Option(help: "Port on loopback; 0 takes a free one.") var port = 7_482
    @Option(help: "Folder of the phones, each with a folder of its own in it; made if missing, kept afterwards.")
    var folder = "phones"
    @Option(help: "File with the token; made if missing; FOLDER/control.token if left out.") var tokenFile: String?
    @Option(
        name: .customLong("phone"), parsing: .singleValue,
        help: ArgumentHelp(
            "A phone to begin with, for example alice, or old,ios=9,delegate=legacy; also user=, lifecycle= and implements=willPresent+didReceive. May be given again.",
            valueName: "name[,key=value…]"))
    var phones: [String] = []
    @OptionGroup var options: PhoneOptions

    func validate() throws {
        try check("--port", self.port, in: 0...65_535)
        var names: Set<String> = []
        for text in self.phones where !names.insert(try Self.setup(text).id).inserted {
            throw ValidationError("--phone must not name a phone twice, got \"\(text)\"")
        }
        guard self.phones.count <= PhonesHost.phonesMax else {
            throw ValidationError(
                "--phone may be given \(PhonesHost.phonesMax) times at most, got \(self.phones.count)")
        }
    }

    private static func setup(_ text: String) throws -> HostedPhoneSetup {
        do throws(InvalidField) { return try HostedPhoneSetup(text) } catch {
            throw ValidationError("--phone \(text): \(error.field) \(error.rule)")
        }
    }

    func run() async throws {
        // A reader of the line below that goes away must not end the phones.
        signal(SIGPIPE, SIG_IGN)
        // Apps keep what people write there.
        umask(0o077)
        // Its faults are reported now, and not when a person starts a phone.
        _ = try self.options.phoneApp()
        let path = self.tokenFile ?? "\(self.folder)/control.token"
        let token = try PhonesToken.load(path)
        let host = PhonesHost(self.options, folder: self.folder, environment: ProcessInfo.processInfo.environment)
        try await withCleanUp({ await host.stop() }) {
            let server = try await PhonesServer.start(PhonesAPI(host, token: token), port: self.port)
            for text in self.phones {
                do { _ = try await host.start(try Self.setup(text)) } catch let fault as InvalidField {
                    throw ToolFailure("--phone \(text): \(fault.field) \(fault.rule)")
                }
            }
            let names = await host.list.map(\.setup.id)
            print(
                "phones at http://127.0.0.1:\(server.port), token in \(path): "
                    + (names.isEmpty ? "none yet" : names.joined(separator: ", ")))
            fflush(nil)
            await Leftovers.waitForSignal()
        }
        // What it answers still ends with this process.
    }
}
