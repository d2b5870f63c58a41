import Glibc
import Synchronization
import VirtualPhone

/// Prints each step, the trace as it comes, and on a failure what the phone shows.
struct ScriptSession {
    let phone: PhoneHost
    let title: String
    let script: Script

    private final class Interruption: Sendable {
        let number = Mutex<Int32?>(nil)
    }

    /// Returns the exit status: 0, 1 if a step failed, or 128 and the number of the signal that ended it.
    func run() async -> Int32 {
        let interruption = Interruption()
        TerminalInput.start(keys: false) { event in
            if case .signal(let number) = event { interruption.number.withLock { $0 = number } }
        }
        var runner = ScriptRunner(self.phone, signal: { interruption.number.withLock { $0 } }) { Output.line($0.text) }
        for step in self.script.steps {
            Output.line("line \(step.number): \(VisibleText.of(step.text))")
            do throws(ScriptRunner.Stop) {
                for line in try await runner.run(step.action) { Output.line(line) }
            } catch {
                switch error {
                case .failed(let reason): return self.fail(step, reason, runner)
                case .signalled(let number): return 128 + number
                case .quit: return 0
                }
            }
        }
        await runner.catchUp()
        return 0
    }

    private func fail(_ step: Script.Step, _ reason: String, _ runner: ScriptRunner) -> Int32 {
        var machine = runner.machine
        if let size = TerminalDevice()?.size { _ = machine.handle(.resized(size)) }
        for line in PhoneView(title: self.title).frame(of: machine).lines { Output.line(line) }
        Output.line("line \(step.number): \(VisibleText.of(step.text)): failed: \(VisibleText.of(reason))")
        return 1
    }
}
