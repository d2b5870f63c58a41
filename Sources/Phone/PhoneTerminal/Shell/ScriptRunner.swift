package import PhoneCore
import TidingsModel
package import VirtualPhone

/// Does the steps of a script on a phone, one after another, and waits as they say: for `tidings phone --script`, and for scenarios with an
/// app's own code.
package struct ScriptRunner {
    package enum Stop: Error, Equatable {
        case failed(String)
        case signalled(Int32)
        case quit
    }

    private let phone: PhoneHost
    /// The signal that is to end it; nil if none came.
    private let signal: @Sendable () -> Int32?
    private let tell: (PhoneTraceLine) -> Void
    /// The state of the phone as far as it is known.
    private(set) var machine = TerminalMachine(size: TerminalSize(columns: 100, rows: 30))
    /// The number of the newest line of the trace that was printed.
    private var told = 0
    /// Since the last command.
    private var recent: [PhoneTraceLine] = []

    /// - Parameter tell: is given each line of the trace, as it comes.
    package init(
        _ phone: PhoneHost, signal: @escaping @Sendable () -> Int32? = { nil },
        tell: @escaping (PhoneTraceLine) -> Void
    ) {
        self.phone = phone
        self.signal = signal
        self.tell = tell
    }

    package var snapshot: PhoneSnapshot { self.machine.snapshot }

    /// Returns the lines that the step prints.
    @discardableResult
    package mutating func run(_ action: Script.Action) async throws(Stop) -> [String] {
        switch action {
        case .command(.quit): throw .quit
        case .command(let command): try await self.run(command)
        case .perform(let command): try await self.perform { _ throws(InvalidField) in command }
        case .wait(let milliseconds): try await self.wait(atMost: milliseconds) { _ in false }
        case .waitFor(let text, let milliseconds):
            let isThere = try await self.wait(atMost: milliseconds) { $0.shows(text) }
            guard isThere else { throw .failed("\"\(text)\" did not appear in \(milliseconds) ms") }
        case .expect(let text):
            await self.catchUp()
            guard self.shows(text) else { throw .failed("\"\(text)\" is not there") }
        case .expectNot(let text):
            await self.catchUp()
            guard !self.shows(text) else { throw .failed("\"\(text)\" is there") }
        case .picture(let columns, let rows):
            await self.catchUp()
            return PhoneTerminal.picture(of: self.snapshot, columns: columns, rows: rows)
        }
        return []
    }

    private mutating func run(_ command: TerminalCommand) async throws(Stop) {
        try await self.perform { machine throws(InvalidField) in
            if case .select(let choice) = command {
                try machine.select(choice)
                return nil
            }
            return try command.command(on: machine.snapshot, selection: machine.selection)
        }
    }

    private mutating func perform(
        _ command: (inout TerminalMachine) throws(InvalidField) -> PhoneCommand?
    ) async throws(Stop) {
        await self.catchUp()
        self.recent = []
        do throws(InvalidField) {
            if let command = try command(&self.machine) { try await self.phone.perform(command) }
        } catch { throw .failed("\(error)") }
        await self.catchUp()
    }

    /// Waits until the app is active and shows a view of that name, or any view if there is none, and touches it.
    package mutating func touch(
        _ view: String?, _ action: ViewAction, atMost milliseconds: Int
    ) async throws(Stop) {
        try await self.wait(atMost: milliseconds) { $0.snapshot.canTouch(view) }
        // The phone itself says why not.
        try await self.run(.command(.touch(view: view, action)))
    }

    /// Scrolls until a text is on the screen.
    package mutating func scroll(
        _ direction: ViewAction.Direction, in view: String?, until text: String, atMost milliseconds: Int
    ) async throws(Stop) {
        try await self.wait(atMost: milliseconds) { $0.snapshot.canTouch(view) }
        for _ in 0..<Self.scrollsMax {
            if self.snapshot.screenTexts.contains(text) { return }
            do throws(Stop) {
                try await self.run(.command(.touch(view: view, .scroll(direction))))
            } catch {
                guard case .failed(let reason) = error else { throw error }
                throw .failed("\"\(text)\" is nowhere \(direction.rawValue) the screen: \(reason)")
            }
        }
        guard self.snapshot.screenTexts.contains(text) else {
            throw .failed("\"\(text)\" did not come in \(Self.scrollsMax) scrolls")
        }
    }

    private static let scrollsMax = 50

    /// Checks every 20 ms. Returns whether the condition holds before the time is over.
    @discardableResult
    package mutating func wait(
        atMost milliseconds: Int, until holds: (ScriptRunner) -> Bool
    ) async throws(Stop) -> Bool {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while true {
            await self.catchUp()
            if holds(self) { return true }
            if let number = self.signal() { throw .signalled(number) }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return false }
            try? await Task.sleep(for: min(left, .milliseconds(20)))
        }
    }

    /// Tells what the trace has got since the last time.
    package mutating func catchUp() async {
        for event in (try? await self.phone.trace(after: self.told)) ?? [] {
            let line = PhoneTraceLine(event)
            self.tell(line)
            self.recent.append(line)
            _ = self.machine.handle(.traced(line))
            self.told = event["n"]?.intValue.map { Int($0) } ?? self.told
        }
        if let snapshot = try? await self.phone.snapshot() { _ = self.machine.handle(.refreshed(snapshot)) }
    }

    private func shows(_ text: String) -> Bool {
        let wanted = VisibleText.of(text)
        return self.snapshot.lines.contains { $0.contains(wanted) }
            || self.recent.contains { $0.text.contains(wanted) || $0.short.contains(wanted) }
    }
}
