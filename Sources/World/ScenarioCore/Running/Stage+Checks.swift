import PhoneCore
import TidingsModel

// Expected against actual.
extension Stage {
    func differences(from expectation: Expectation, at position: ScenarioPosition) -> [Difference] {
        var differences = expectation.checks.compactMap { self.difference(from: $0) }
        if !expectation.checks.contains(where: { $0.key == .faults }) {
            differences += self.faultDifferences(at: position)
        }
        return differences
    }

    /// Faults nobody expected.
    func faultDifferences(at position: ScenarioPosition) -> [Difference] {
        guard !self.trace.faults.isEmpty else { return [] }
        return [
            Difference(
                position: position, key: ExpectKey.faults.rawValue, expected: [], actual: self.trace.faults,
                differing: Array(self.trace.faults.indices))
        ]
    }

    private func difference(from check: ExpectedValue) -> Difference? {
        let actual = self.observed(check.key)
        let count = max(actual.count, check.rows.count)
        let differing = (0..<count).filter { index in
            guard index < actual.count, index < check.rows.count else { return true }
            return !check.rows[index].matches(actual[index])
        }
        guard !differing.isEmpty else { return nil }
        return Difference(
            position: check.position, key: check.key.rawValue, expected: check.rows.map(\.text),
            actual: actual.enumerated().map { index, row in
                row.text(like: index < check.rows.count ? check.rows[index] : nil)
            }, differing: differing)
    }

    /// What is there to be looked at.
    private func observed(_ key: ExpectKey) -> [ObservedRow] {
        switch key {
        case .callbacks: return self.trace.calls.map { .call($0) }
        case .shown:
            return self.trace.presentations.filter { !PresentationPart.parts(of: $0.record).isEmpty }.map {
                .presentation(ExpectedPresentation(label: $0.label, parts: PresentationPart.parts(of: $0.record)))
            }
        case .reasons: return self.trace.presentations.map { .text($0.record.reason.rawValue) }
        case .wakes: return self.trace.wakes.map { .text($0) }
        case .results: return self.trace.results.map { .text($0) }
        case .started: return self.trace.started.map { .text($0) }
        case .ended: return self.trace.ended.map { .text($0) }
        case .activityChanges: return self.trace.activityChanges.map { .text($0) }
        case .activities:
            return self.core.screen.activities.map {
                .activity(self.labels.label(ofActivity: $0.activity), contentState: $0.contentState)
            }
        case .faults: return self.trace.faults.map { .text($0) }
        case .server: return self.trace.server.map { .text($0) }
        case .opened: return self.trace.opened.map { .text($0) }
        case .customMessages: return self.trace.customMessages.map { .text($0) }
        case .settled: return self.trace.settled.map { .text($0) }
        case .state, .badge, .list, .banners, .panel, .summary, .prompt, .lock, .inFront, .prewarmed, .screen, .texts,
            .runState:
            return self.now(key).map { .text($0) }
        }
    }

    /// What is so now.
    private func now(_ key: ExpectKey) -> [String] {
        let screen = self.core.screen
        switch key {
        case .state: return [self.state.word]
        case .badge: return [String(screen.badge(of: Self.bundle))]
        case .list: return screen.list.map { self.labels.label(of: $0.key.identifier) }
        case .banners: return screen.banners.map { self.labels.label(of: $0.key.identifier) }
        case .panel: return [screen.alertPanel].compactMap { $0.map { self.labels.label(of: $0.key.identifier) } }
        case .summary: return screen.heldForSummary.map { self.labels.label(of: $0.key.identifier) }
        case .prewarmed: return [self.process != nil && self.process != self.launched ? "yes" : "no"]
        case .prompt: return [screen.permissionPrompt == nil ? "no" : "yes"]
        case .lock: return [screen.lock.rawValue]
        case .inFront: return [screen.frontApp == Self.bundle ? "yes" : "no"]
        case .screen: return [screen.frontScreen ?? ""]
        case .texts:
            return screen.list.map { entry in
                let content = entry.notification.request.content
                return [content.title, content.subtitle, content.body].filter { !$0.isEmpty }.joined(separator: " | ")
            }
        case .runState: return [self.runState]
        case .callbacks, .shown, .reasons, .wakes, .results, .started, .ended, .faults, .activityChanges, .activities,
            .server, .opened, .customMessages, .settled:
            return []
        }
    }
}

/// One row of what is there.
enum ObservedRow: Equatable {
    case text(String)
    case call(ObservedCall)
    case presentation(ExpectedPresentation)
    case activity(String, contentState: JSONValue)

    /// As it stands beside what was expected: with the parts that were asked for.
    func text(like row: ExpectedRow?) -> String {
        switch self {
        case .text(let text): return text
        case .presentation(let presentation): return presentation.text
        case .activity(let name, let state):
            guard case .activity(_, contentState: .some)? = row else { return name }
            return "\(name): \(state.text)"
        case .call(let call):
            guard case .call(let expected)? = row else { return call.text }
            var text = call.text
            if expected.state != nil, !CallWords.stateMatters.contains(call.name) { text += " [\(call.state.word)]" }
            if expected.at != nil { text += " at \(call.at) ms" }
            return text
        }
    }
}

extension ExpectedRow {
    func matches(_ row: ObservedRow) -> Bool {
        switch (self, row) {
        case (.text(let expected), .text(let actual)): return expected == actual
        case (.part(let expected), .text(let actual)): return actual.contains(expected)
        case (.call(let expected), .call(let actual)):
            guard expected.name == actual.name, expected.arguments == actual.arguments else { return false }
            if let state = expected.state, state != actual.state { return false }
            if let label = expected.label, label != actual.label { return false }
            if let at = expected.at, at != actual.at { return false }
            return true
        case (.presentation(let expected), .presentation(let actual)):
            if let label = expected.label, label != actual.label { return false }
            return expected.parts == actual.parts
        case (.activity(let expected, let state), .activity(let actual, let actualState)):
            return expected == actual && (state ?? actualState) == actualState
        case (.text, _), (.part, _), (.call, _), (.presentation, _), (.activity, _): return false
        }
    }

    /// As a scenario writes it.
    var text: String {
        switch self {
        case .text(let text): return text
        case .part(let text): return "… \(text) …"
        case .presentation(let presentation): return presentation.text
        case .activity(let name, let state): return state.map { "\(name): \($0.text)" } ?? name
        case .call(let call):
            let arguments = (call.state.map { [$0.word] } ?? []) + call.arguments
            let isTap = call.name == "didReceive" && arguments == ["default"]
            let list = arguments.isEmpty || isTap ? "" : "(\(arguments.joined(separator: ", ")))"
            let label = call.label.map { " of \($0)" } ?? ""
            return call.name + list + label + (call.at.map { " at \($0) ms" } ?? "")
        }
    }
}

extension ExpectedPresentation {
    var text: String {
        let parts = self.parts.map(\.rawValue).joined(separator: ", ")
        return self.label.map { "\($0): \(parts)" } ?? parts
    }
}
