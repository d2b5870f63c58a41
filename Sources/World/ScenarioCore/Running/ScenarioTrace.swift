import PhoneCore
import TidingsModel

package struct ScenarioTraceLine: Hashable, Sendable {
    /// Milliseconds since the trace began.
    package var at: Int64
    package var kind: String
    package var text: String

    package init(at: Int64, kind: String, text: String) { (self.at, self.kind, self.text) = (at, kind, text) }
}

/// The observations since the last `expect` or `clear`, and all of them for `--trace`.
struct ScenarioTrace {
    private(set) var lines: [ScenarioTraceLine] = []
    private(set) var calls: [ObservedCall] = []
    private(set) var presentations: [(label: String, record: PresentationRecord)] = []
    private var texts: [ExpectKey: [String]] = [:]
    private var began: Int64 = 0
    private var marked: Int64 = 0
    private var isRunning = false

    subscript(key: ExpectKey) -> [String] { self.texts[key] ?? [] }

    mutating func clear(at moment: Int64) {
        if !self.isRunning {
            self.isRunning = true
            self.began = moment
            self.lines = []
        }
        self.mark(at: moment)
    }

    mutating func mark(at moment: Int64) {
        self.marked = moment
        self.calls = []
        self.presentations = []
        self.texts = [:]
    }

    /// - Parameter key: the key of an `expect` that looks at it; nil if none does.
    mutating func append(_ key: ExpectKey?, _ text: String, kind: String, line: String? = nil, at moment: Int64) {
        if let key { self.texts[key, default: []].append(text) }
        self.lines.append(ScenarioTraceLine(at: moment - self.began, kind: kind, text: line ?? text))
    }

    mutating func append(server text: String, at moment: Int64) {
        self.append(.server, text, kind: "server", at: moment)
    }

    mutating func append(undelivered label: String, _ reason: UndeliveredReason, at moment: Int64) {
        let text = "\(reason.rawValue) of \(label)"
        self.append(.undelivered, text, kind: "apns", line: "\(reason.rawValue): \(label)", at: moment)
    }

    mutating func append(_ entry: PhoneRecord.Entry, at moment: Int64, labels: Labels) {
        switch entry {
        case .callback(let record):
            let (name, arguments, subject) = CallWords.observed(record.callback)
            let call = ObservedCall(
                name: name, state: record.applicationState, arguments: arguments,
                label: subject.flatMap { labels.label(of: $0) }, at: moment - self.marked)
            self.calls.append(call)
            self.append(nil, call.text, kind: "calls", at: moment)
        case .completion(_, let result):
            let key: ExpectKey? = if case .fetch = result { .results } else { nil }
            self.append(key, Self.words(result), kind: "answers", at: moment)
        case .presentation(let record):
            let isActivity = record.reason == .liveActivity
            let label =
                isActivity ? labels.label(ofActivity: record.identifier) : labels.label(of: record.identifier)
            self.presentations.append((label, record))
            let parts = PresentationPart.parts(of: record).map(\.rawValue).joined(separator: ", ")
            let text = "\(label): \(parts.isEmpty ? "nothing" : parts) (\(record.reason.rawValue))"
            self.append(nil, text, kind: "shows", at: moment)
        case .wake(let identifier, let outcome):
            let line = "\(labels.label(of: identifier)): \(outcome.rawValue)"
            self.append(.wakes, outcome.rawValue, kind: "wake", line: line, at: moment)
        case .processEnded(let process, let reason):
            let line = "\(process.role.rawValue): \(reason.rawValue)"
            self.append(.ended, reason.rawValue, kind: "ends", line: line, at: moment)
        case .refused(let delivery, let reason):
            self.append(undelivered: labels.label(ofDelivery: delivery), UndeliveredReason(reason), at: moment)
        case .fault(let text): self.append(.faults, text, kind: "fault", at: moment)
        case .state(let state): self.append(nil, state.word, kind: "state", at: moment)
        case .processStarted(let process): self.append(.started, process.role.rawValue, kind: "starts", at: moment)
        case .activity(let update):
            let text = "\(update.change.rawValue) of \(labels.label(ofActivity: update.activity))"
            let line = "\(text): \(update.contentState.text)"
            self.append(.activityChanges, text, kind: "activity", line: line, at: moment)
        case .arrival(let arrival):
            let text = "\(labels.label(of: arrival.identifier)): \(arrival.pushClass.rawValue)"
            self.append(nil, text, kind: "arrives", at: moment)
        case .badge(let count): self.append(nil, String(count), kind: "badge", at: moment)
        default: self.append(nil, "\(entry)", kind: "notes", at: moment)
        }
    }

    private static func words(_ result: CallbackResult) -> String {
        switch result {
        case .returned: "returned"
        case .fetch(let result): "\(result)"
        case .presentation(let options): "options \(options.rawValue)"
        case .content(let content): "content \"\(content.title)\" \"\(content.body)\""
        }
    }
}

struct ObservedCall: Equatable {
    var name: String
    var state: ApplicationState
    var arguments: [String]
    var label: String?
    /// Milliseconds since the last `expect` or `clear`.
    var at: Int64

    var text: String {
        var arguments = self.arguments
        if CallWords.stateMatters.contains(self.name) { arguments.insert(self.state.word, at: 0) }
        if self.name == "didReceive", arguments == ["default"] { arguments = [] }
        let list = arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))"
        return self.name + list + (self.label.map { " of \($0)" } ?? "")
    }
}
