import ArgumentParser
import ScenarioCore
import Scenarios

struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario",
        abstract: "Run scenario files: what a phone does with notifications, and what an app is called with.",
        discussion: """
            A scenario is a YAML file that describes a phone, an app, what happens and what is expected. Each case runs on a \
            simulated phone with a virtual clock, at once. With app.executable it runs that app's own code as 'tidings phone' does, \
            in processes and in real time: what stands on its screen is expected, and touched. Prints one line for each case and, for a case that differs, a \
            table of expected against actual. A folder stands for every .yaml file in it.

            The format is described in docs/testing/scenarios.md; --explain lists all its keys.

            Exit status: 0 if every case is as expected, 1 if one differs, 2 if a file cannot be read or says something \
            that is not allowed; every problem is printed as file:line:column with the allowed values.
            """)

    @Argument(help: "Scenario files, or folders of them.") var files: [String] = []
    @Option(help: "Run only cases whose file, title or name contains this text.") var filter: String?
    @Flag(help: "Print everything that happened in each case, with times in seconds since its trace began.")
    var trace = false
    @Flag(help: "Print the results as one JSON object instead.") var json = false
    @Flag(help: "List every key of the format with its type and meaning, and stop.") var explain = false

    func validate() throws {
        guard self.explain || !self.files.isEmpty else {
            throw ValidationError("name at least one scenario file or folder, or give --explain")
        }
    }

    func run() async throws {
        if self.explain { return ScenarioFormat.lines.forEach { print($0) } }
        let phones = ScenarioPhones()
        let run = await ScenarioRun(self.files, filter: self.filter) { path, one throws(ScenarioProblem) in
            try await phones.run(one, of: path)
        }
        await phones.close()
        if self.json {
            print(run.json(showsTrace: self.trace))
        } else {
            run.lines(showsTrace: self.trace).forEach { print($0) }
        }
        guard run.exitStatus == 0 else { throw ExitCode(run.exitStatus) }
    }
}
