import Foundation
import PhoneCore
import PhoneTerminal
import ScenarioCore
import VirtualPhone

/// The steps of one case on its phone: what they do and wait for is done by the runner of scripts.
struct CasePlay {
    private let one: ScenarioCase
    private let code: OwnCode
    private let app: BundleID
    private let server: ScenarioServer?
    private let outputPath: String
    private var runner: ScriptRunner
    private let log = CaseLog()
    private let end: ContinuousClock.Instant
    /// The identifiers of notifications that have another name in the file.
    private var identifiers: [String: String] = [:]

    private enum Stop: Error {
        case impossible(String)
        case differs([Difference])
    }

    init(_ one: ScenarioCase, _ code: OwnCode, on phone: PhoneHost, server: ScenarioServer?, folder: String) {
        self.one = one
        self.code = code
        self.app = one.app.installed.bundleID
        self.server = server
        self.outputPath = "\(folder)/phone/apps/\(one.app.installed.bundleID)/output.log"
        let log = self.log
        self.runner = ScriptRunner(phone) { log.add($0) }
        self.end = .now + .milliseconds(code.caseTime)
    }

    mutating func run() async -> CaseResult {
        var result = CaseResult(self.one)
        do throws(Stop) {
            try await self.setUp()
        } catch {
            return await self.failed(result, error, at: self.one.position)
        }
        for step in self.one.steps {
            self.log.add(step: step.words)
            do throws(Stop) {
                if case .expect(let expectation) = step.action { result.checks += expectation.checkCount }
                try await self.run(step)
            } catch {
                return await self.failed(result, error, at: step.position)
            }
        }
        await self.runner.catchUp()
        if let last = self.one.steps.last, !self.log.faults.isEmpty {
            return await self.failed(
                result, .differs([Difference(unexpected: self.log.faults, at: last.position)]), at: last.position)
        }
        result.trace = self.log.lines
        return result
    }

    /// Sets the other conditions before the first step.
    private mutating func setUp() async throws(Stop) {
        let refresh: [PhoneEvent] =
            switch self.one.phone.backgroundRefresh {
            case .available: []
            case .denied: [.person(.backgroundRefreshChanged(isOn: false))]
            case .restricted: [.system(.backgroundRefreshRestricted(true))]
            }
        for event in self.one.phone.conditions + refresh {
            guard let action = event.scriptAction(app: self.app) else { continue }
            try await self.run(action)
        }
    }

    private func failed(_ result: CaseResult, _ stop: Stop, at position: ScenarioPosition) async -> CaseResult {
        var result = result
        switch stop {
        case .impossible(let reason): result.differences.append(Difference(step: position, VisibleText.of(reason)))
        case .differs(let differences): result.differences += differences
        }
        var runner = self.runner
        result.picture =
            (try? await runner.run(
                .picture(columns: PhoneCommand.pictureColumns, rows: PhoneCommand.pictureRows))) ?? []
        let output = (try? String(contentsOfFile: self.outputPath, encoding: .utf8)) ?? ""
        let tail = output.split(separator: "\n").suffix(Self.outputLinesMax)
        if !tail.isEmpty {
            result.picture += ["the app's output ends:"] + tail.map { "  \(VisibleText.of(String($0)))" }
        }
        result.trace = self.log.lines
        return result
    }

    private static let outputLinesMax = 15

    // MARK: Steps

    private mutating func run(_ step: Step) async throws(Stop) {
        guard self.left > 0 else {
            throw .impossible("the case has taken longer than its caseTime, \(self.code.caseTime) ms")
        }
        switch step.action {
        case .expect(let expectation): try await self.expect(expectation, at: step.position)
        case .screen(let step): try await self.run(step)
        case .act(let label, let act): try await self.touchNotification(label, act)
        default:  // tidy: the others are steps of a script, or none
            guard let actions = step.action.scriptActions(app: self.app) else {
                throw .impossible("is for the simulated app")
            }
            for action in actions { try await self.run(action) }
        }
    }

    /// Milliseconds of the case's time.
    private var left: Int { max(0, Int(ContinuousClock.now.duration(to: self.end) / .milliseconds(1))) }
    private var stepTime: Int { min(Int(self.code.stepTime), self.left) }

    private mutating func run(_ action: Script.Action) async throws(Stop) {
        var action = action
        if case .wait(let milliseconds) = action { action = .wait(milliseconds: min(milliseconds, self.left)) }
        do throws(ScriptRunner.Stop) { try await self.runner.run(action) } catch { throw Self.stop(error) }
    }

    private static func stop(_ stop: ScriptRunner.Stop) -> Stop {
        switch stop {
        case .failed(let reason): .impossible(reason)
        case .signalled, .quit: .impossible("the run was ended")
        }
    }

    private mutating func run(_ step: ScreenStep) async throws(Stop) {
        let time = self.stepTime
        do throws(ScriptRunner.Stop) {
            switch step {
            case .touch(let view, let action): try await self.runner.touch(view, action, atMost: time)
            case .enter(let text, let view, let submits):
                let filled = try self.fill(text)
                try await self.runner.touch(view, .enter(filled), atMost: time)
                if submits { try await self.runner.touch(view, .submit, atMost: time) }
            case .scroll(let direction, let view, let until?):
                try await self.runner.scroll(direction, in: view, until: until, atMost: time)
            case .scroll(let direction, let view, nil):
                try await self.runner.touch(view, .scroll(direction), atMost: time)
            case .input(let value): try await self.runner.run(.command(.input(value)))
            case .message(let message): self.identifiers[message.label] = try await self.send(message)
            }
        } catch { throw Self.stop(error) }
    }

    private func fill(_ text: String) throws(ScriptRunner.Stop) -> String {
        do { return try ScenarioPhones.fill(text, self.server) } catch { throw .failed("\(error)") }
    }

    private func send(_ message: ServerMessage) async throws(ScriptRunner.Stop) -> String {
        guard let server = self.server else { throw .failed("the case has no server") }
        do { return try await server.send(message) } catch { throw .failed("\(error)") }
    }

    private mutating func touchNotification(_ label: String, _ act: PersonAct) async throws(Stop) {
        do throws(ScriptRunner.Stop) {
            let wanted = self.identifiers[label] ?? label
            try await self.runner.wait(atMost: self.stepTime) { $0.snapshot.notice(wanted) != nil }
            guard let notice = self.runner.snapshot.notice(wanted) else {
                let there = self.runner.snapshot.list.map { self.label(of: $0.identifier) }
                throw .failed(
                    "\(label) is not in the list; there: \(there.isEmpty ? "nothing" : there.joined(separator: ", "))")
            }
            if let action = act.command(on: notice.identifier, app: self.app) {
                try await self.runner.run(action)
            } else if case .action(let name, let text) = act {
                try await self.runner.run(try Self.press(name, text, of: notice))
            }
        } catch { throw Self.stop(error) }
    }

    private static func press(
        _ name: String, _ text: String?, of notice: PhoneSnapshot.Notice
    ) throws(ScriptRunner.Stop) -> Script.Action {
        guard let action = notice.actions.first(where: { $0.identifier == name || $0.title == name }) else {
            let all = notice.actions.map(\.identifier)
            throw .failed("has no button \(name); there: \(all.isEmpty ? "none" : all.joined(separator: ", "))")
        }
        return .perform(.action(notification: notice.identifier, action: action.identifier, text: text))
    }

    // MARK: Expectations

    private mutating func expect(_ expectation: Expectation, at position: ScenarioPosition) async throws(Stop) {
        let time = min(Int(expectation.within ?? self.code.stepTime), self.left)
        let log = self.log
        let play = self
        var differences: [Difference] = []
        do throws(ScriptRunner.Stop) {
            try await self.runner.wait(atMost: time) { runner in
                differences = expectation.differences(
                    from: play.observed(runner.snapshot, faults: log.faults), at: position)
                return differences.isEmpty
            }
        } catch { throw Self.stop(error) }
        guard differences.isEmpty else { throw .differs(differences) }
        log.faults = []
    }

    /// Returns the app's own report of its screen.
    private static func words(of app: PhoneSnapshot.App) -> [String] {
        (app.stack.isEmpty ? [] : ["stack: \(app.stack.joined(separator: " > "))"]) + app.details
    }

    private func label(of identifier: String) -> String {
        self.identifiers.first { $0.value == identifier }?.key ?? identifier
    }

    private func observed(_ snapshot: PhoneSnapshot, faults: [String]) -> ObservedPhone {
        var phone = ObservedPhone()
        let app = snapshot.apps.first { $0.bundle == self.app.rawValue }
        let lock: LockState =
            snapshot.isBeforeFirstUnlock ? .beforeFirstUnlock : snapshot.isLocked ? .locked : .unlocked
        phone.screen = snapshot.screenTexts
        phone.faults = faults
        phone.values = [
            .state: [app.flatMap { AppState(rawValue: $0.state)?.word } ?? "unknown"],
            .badge: ["\(app?.badge ?? 0)"],
            .list: snapshot.list.map { self.label(of: $0.identifier) },
            .banners: snapshot.banners.map { self.label(of: $0.identifier) },
            .panel: [snapshot.alertPanel].compactMap { $0.map { self.label(of: $0.identifier) } },
            .texts: snapshot.list.map { notice in
                [notice.title, notice.subtitle, notice.body].filter { !$0.isEmpty }.joined(separator: " | ")
            },
            .calls: snapshot.calls.map { $0.isAnswered ? "\($0.caller) answered" : $0.caller },
            .says: app.map(Self.words(of:)) ?? [],
            .prompt: [snapshot.permissionPrompt == nil ? "no" : "yes"],
            .lock: [lock.rawValue],
            .inForeground: [snapshot.foregroundApp == self.app.rawValue ? "yes" : "no"],
        ]
        return phone
    }
}

extension PhoneSnapshot {
    /// `newest` is the first of the list.
    fileprivate func notice(_ identifier: String) -> Notice? {
        identifier == "newest" ? self.list.first : self.list.first { $0.identifier == identifier }
    }
}

/// The events since the case began.
private final class CaseLog {
    private let start = ContinuousClock.now
    private(set) var lines: [ScenarioTraceLine] = []
    /// Since the last expectation that held.
    var faults: [String] = []

    func add(_ line: PhoneTraceLine) {
        self.add(line.kind, line.words)
        if line.kind == "fault" { self.faults.append(line.short) }
    }

    func add(step words: String) { self.add("step", words) }

    private func add(_ kind: String, _ text: String) {
        let at = Int64(self.start.duration(to: .now) / .milliseconds(1))
        self.lines.append(ScenarioTraceLine(at: at, kind: kind, text: text))
    }
}
