import PhoneCore
import TidingsModel

// Expected against actual.
extension ScenarioPhone {
    func differences(from expectation: Expectation, at position: ScenarioPosition) -> [Difference] {
        let common = self.differences(from: expectation.checks)
        var candidates = expectation.alternatives.map { alternative in
            (checks: expectation.checks + alternative, differences: common + self.differences(from: alternative))
        }
        let count = candidates.count
        if candidates.isEmpty { candidates = [(expectation.checks, common)] }
        let all = candidates.map { candidate in
            // Faults nobody speaks of fail the case, whatever else holds.
            let isSpokenOf = candidate.checks.contains { $0.key == .faults }
            return candidate.differences + (isSpokenOf ? [] : self.faultDifferences(at: position))
        }
        guard let closest = all.enumerated().min(by: { $0.element.count < $1.element.count }) else { return [] }
        guard count > 0 else { return closest.element }
        // What is common to all alternatives is told as it is.
        return closest.element.enumerated().map { index, difference in
            guard index >= common.count, difference.key != ExpectKey.faults.rawValue else { return difference }
            var difference = difference
            difference.key += " (alternative \(closest.offset + 1) of \(count), the closest)"
            return difference
        }
    }

    private func differences(from checks: [ExpectedValue]) -> [Difference] {
        checks.compactMap { $0.difference(from: self.observed($0.key)) }
    }

    func faultDifferences(at position: ScenarioPosition) -> [Difference] {
        guard !self.trace[.faults].isEmpty else { return [] }
        return [Difference(unexpected: self.trace[.faults], at: position)]
    }

    private func observed(_ key: ExpectKey) -> [ObservedRow] {
        switch key {
        case .callbacks: return self.trace.calls.map { .call($0) }
        case .shown:
            return self.trace.presentations.filter { !PresentationPart.parts(of: $0.record).isEmpty }.map {
                .presentation(ExpectedPresentation(label: $0.label, parts: PresentationPart.parts(of: $0.record)))
            }
        case .activities:
            return self.core.screen.activities.map {
                .activity(self.labels.label(ofActivity: $0.activity), contentState: $0.contentState)
            }
        default: return self.texts(key).map { .text($0) }  // tidy: the others are texts
        }
    }

    private func texts(_ key: ExpectKey) -> [String] {
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
        case .inForeground: return [screen.foregroundApp == Self.bundle ? "yes" : "no"]
        case .screen: return [screen.foregroundScreen ?? ""]
        case .texts:
            return screen.list.map { entry in
                let content = entry.notification.request.content
                return [content.title, content.subtitle, content.body].filter { !$0.isEmpty }.joined(separator: " | ")
            }
        case .calls: return screen.calls.map { $0.isAnswered ? "\($0.call.caller) answered" : $0.call.caller }
        case .people: return screen.list.compactMap { $0.notification.request.content.communication?.words }
        case .options: return screen.list.map { $0.notification.request.content.options }
        case .runState: return [self.runState]
        case .donations: return self.core.donations(of: Self.bundle).map(\.words)
        case .reasons: return self.trace.presentations.map(\.record.reason.rawValue)
        case .wakes, .results, .started, .ended, .activityChanges, .undelivered, .faults, .server, .opened,
            .customMessages, .settled, .told, .way, .attached:
            return self.trace[key]
        case .callbacks, .shown, .activities, .says: return []
        }
    }
}

extension Difference {
    /// Faults that no expectation speaks of.
    package init(unexpected faults: [String], at position: ScenarioPosition) {
        self.init(
            position: position, key: ExpectKey.faults.rawValue, expected: [], actual: faults,
            differing: Array(faults.indices))
    }
}

extension ExpectedValue {
    /// nil if it is what was seen.
    func difference(from actual: [ObservedRow]) -> Difference? {
        let all = self.choices.map { ($0, $0.differing(from: actual)) }
        guard let closest = all.enumerated().min(by: { $0.element.1.count < $1.element.1.count }),
            !closest.element.1.isEmpty
        else { return nil }
        let (choice, differing) = closest.element
        let isOne = all.count == 1
        return Difference(
            position: self.position,
            key: self.key.rawValue + (isOne ? "" : " (value \(closest.offset + 1) of \(all.count), the closest)"),
            expected: choice.rows.map { choice.isAnywhere ? "anywhere: \($0.text)" : $0.text },
            actual: actual.enumerated().map { index, row in
                row.text(like: !choice.isAnywhere && index < choice.rows.count ? choice.rows[index] : nil)
            }, differing: differing)
    }
}

extension DonatedMessage {
    var words: String {
        let group = self.groupName.map { " in \($0)" } ?? ""
        let who = self.isOutgoing ? "to \((self.recipients + [""]).first ?? "")" : "from \(self.sender ?? "")"
        return "\(who)\(group): \(self.content ?? "")"
    }
}

extension CommunicationDetails {
    fileprivate var words: String {
        var parts = [self.sender]
        if let group = self.group { parts.append(group) }
        parts.append("to \(self.recipientCount)")
        if self.mentionsPerson { parts.append("mention") }
        if self.isReply { parts.append("reply") }
        if self.portrait != nil { parts.append("portrait") }
        return parts.joined(separator: " | ")
    }
}

extension NotificationContent {
    /// Sound, level, category, thread, relevance and the app's own members, as far as they are not as usual.
    fileprivate var options: String {
        var parts: [String] = []
        switch self.sound {
        case .standard: break
        case .named(let name): parts.append(name)
        case .critical(let name, _): parts.append("critical \(name ?? "default")")
        case nil: parts.append("silent")
        }
        if self.interruptionLevel != .active { parts.append("\(self.interruptionLevel)") }
        if !self.categoryIdentifier.isEmpty, self.categoryIdentifier != PushInfo.category {
            parts.append(self.categoryIdentifier)
        }
        let conversation = (try? NotificationPayload(userInfo: .object(self.userInfo)))?.conversation
        if self.threadIdentifier != conversation?.description ?? "" { parts.append("in \(self.threadIdentifier)") }
        if self.relevanceScore != 0 { parts.append("\(self.relevanceScore)") }
        let own = self.userInfo.members.filter { !PushOptions.reservedKeys.contains($0.key) }
        parts += own.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.text)" }
        return parts.joined(separator: " | ")
    }
}

extension ExpectedRows {
    func differing(from actual: [ObservedRow]) -> [Int] {
        guard !self.isAnywhere else { return self.missing(in: actual) }
        return (0..<max(actual.count, self.rows.count)).filter { index in
            guard index < actual.count, index < self.rows.count else { return true }
            return !self.rows[index].matches(actual[index])
        }
    }

    /// Expected rows without an actual row of their own, by bipartite matching: a row that matches several gives one
    /// up for a stricter row.
    private func missing(in actual: [ObservedRow]) -> [Int] {
        var holders: [Int?] = Array(repeating: nil, count: actual.count)
        return self.rows.indices.filter { row in
            var tried = Set<Int>()
            return !self.place(row, in: actual, &holders, &tried)
        }
    }

    private func place(_ row: Int, in actual: [ObservedRow], _ holders: inout [Int?], _ tried: inout Set<Int>) -> Bool {
        for place in actual.indices where self.rows[row].matches(actual[place]) && tried.insert(place).inserted {
            guard let holder = holders[place] else {
                holders[place] = row
                return true
            }
            if self.place(holder, in: actual, &holders, &tried) {
                holders[place] = row
                return true
            }
        }
        return false
    }
}

enum ObservedRow: Equatable {
    case text(String)
    case call(ObservedCall)
    case presentation(ExpectedPresentation)
    case activity(String, contentState: JSONValue)

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
