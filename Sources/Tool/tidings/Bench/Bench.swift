import ArgumentParser

struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure a server under load, or the APNs client; or fill a server with devices.",
        discussion: """
            'live', 'idle', 'backlog', 'group' and 'push' start a server of their own on fresh temporary state, of this same program, \
            with limits off (limits.mode: none), and end it afterwards. Only a release build on a quiet machine measures anything. \
            What is compared belongs into one sitting: machines differ, and so does one machine from hour to hour.
            """,
        subcommands: [
            BenchLive.self, BenchIdle.self, BenchBacklog.self, BenchGroup.self, BenchPush.self, BenchAPNs.self,
            BenchDevices.self,
        ], defaultSubcommand: BenchLive.self)
}
