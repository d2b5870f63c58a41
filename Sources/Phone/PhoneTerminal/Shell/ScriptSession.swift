import Glibc
import Synchronization
import TidingsModel
import VirtualPhone

/// Prints each step, the trace as it comes, and on a failure what the phone shows.
struct ScriptSession {
    private let phone: PhoneHost
    private let title: String
    private let script: Script
    /// Printed when a step fails.
    private var machine: TerminalMachine
    /// Of the newest line of the trace that was printed.
    private var printed = 0
    /// Since the last command.
    private var recent: [PhoneTraceLine] = []

    private enum Stop: Error {
        case failed(String)
        case signalled(Int32)
        case quit
    }

    init(phone: PhoneHost, title: String, script: Script) {
        self.phone = phone
        self.title = title
        self.script = script
        self.machine = TerminalMachine(size: TerminalDevice()?.size ?? TerminalSize(columns: 100, rows: 30))
    }

    /// Returns the exit status: 0, 1 if a step failed, or 128 and the number of the signal that ended it.
    func run() async -> Int32 {
        var session = self
        let interruption = Interruption()
        TerminalInput.start(keys: false) { event in
            if case .signal(let number) = event { interruption.number.withLock { $0 = number } }
        }
        for step in self.script.steps {
            Output.line("line \(step.number): \(VisibleText.of(step.text))")
            do throws(Stop) {
                try await session.runStep(step, interruption)
            } catch {
                switch error {
                case .failed(let reason): return session.fail(step, reason)
                case .signalled(let number): return 128 + number
                case .quit: return 0
                }
            }
        }
        await session.catchUp()
        return 0
    }

    private final class Interruption: Sendable {
        let number = Mutex<Int32?>(nil)
    }

    private mutating func runStep(_ step: Script.Step, _ interruption: Interruption) async throws(Stop) {
        switch step.action {
        case .command(.quit): throw .quit
        case .command(let command): try await self.runCommand(command)
        case .wait(let milliseconds): try await self.wait(atMost: milliseconds, interruption) { _ in false }
        case .waitFor(let text, let milliseconds):
            let isThere = try await self.wait(atMost: milliseconds, interruption) { $0.shows(text) }
            guard isThere else { throw .failed("\"\(text)\" did not appear in \(milliseconds) ms") }
        case .expect(let text):
            await self.catchUp()
            guard self.shows(text) else { throw .failed("\"\(text)\" is not there") }
        case .expectNot(let text):
            await self.catchUp()
            guard !self.shows(text) else { throw .failed("\"\(text)\" is there") }
        case .picture(let columns, let rows):
            await self.catchUp()
            let picture = PhoneTerminal.picture(of: self.machine.snapshot, columns: columns, rows: rows)
            for line in picture { Output.line(line) }
        }
    }

    private mutating func runCommand(_ command: TerminalCommand) async throws(Stop) {
        await self.catchUp()
        self.recent = []
        do throws(InvalidField) {
            if case .select(let choice) = command {
                try self.machine.select(choice)
            } else if let command = try command.command(on: self.machine.snapshot, selection: self.machine.selection) {
                try await self.phone.perform(command)
            }
        } catch { throw .failed("\(error)") }
        await self.catchUp()
    }

    /// Checks every 20 ms. Returns whether the condition holds before the time is over.
    @discardableResult
    private mutating func wait(
        atMost milliseconds: Int, _ interruption: Interruption, until holds: (ScriptSession) -> Bool
    ) async throws(Stop) -> Bool {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while true {
            await self.catchUp()
            if holds(self) { return true }
            if let number = interruption.number.withLock({ $0 }) { throw .signalled(number) }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return false }
            try? await Task.sleep(for: min(left, .milliseconds(20)))
        }
    }

    /// Prints what the trace has got since the last time.
    private mutating func catchUp() async {
        for event in (try? await self.phone.trace(after: self.printed)) ?? [] {
            let line = PhoneTraceLine(event)
            Output.line(line.text)
            self.recent.append(line)
            _ = self.machine.handle(.traced(line))
            self.printed = event["n"]?.intValue.map { Int($0) } ?? self.printed
        }
        if let snapshot = try? await self.phone.snapshot() { _ = self.machine.handle(.refreshed(snapshot)) }
    }

    private func shows(_ text: String) -> Bool {
        let wanted = VisibleText.of(text)
        return self.machine.snapshot.lines.contains { $0.contains(wanted) }
            || self.recent.contains { $0.text.contains(wanted) || $0.short.contains(wanted) }
    }

    private func fail(_ step: Script.Step, _ reason: String) -> Int32 {
        for line in PhoneView(title: self.title).frame(of: self.machine).lines { Output.line(line) }
        Output.line("line \(step.number): \(VisibleText.of(step.text)): failed: \(VisibleText.of(reason))")
        return 1
    }
}
