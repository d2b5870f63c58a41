import ArgumentParser

struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Measure under load: a server of its own, or the APNs client against an APNs that runs; or fill a server with devices.",
        subcommands: [BenchServer.self, BenchAPNs.self, BenchDevices.self], defaultSubcommand: BenchServer.self)
}
