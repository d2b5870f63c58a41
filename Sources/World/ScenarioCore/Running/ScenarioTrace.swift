import PhoneCore
import TidingsModel

package struct ScenarioTraceLine: Hashable, Sendable {
    /// Milliseconds since the trace began.
    package var at: Int64
    package var kind: String
    package var text: String
}

/// What was seen since the last `expect` or `clear`, and everything for `--trace`.
struct ScenarioTrace {
    private(set) var lines: [ScenarioTraceLine] = []
    private(set) var calls: [ObservedCall] = []
    private(set) var presentations: [(label: String, record: PresentationRecord)] = []
    private(set) var wakes: [String] = []
    private(set) var undelivered: [String] = []
    private(set) var results: [String] = []
    private(set) var started: [String] = []
    private(set) var ended: [String] = []
    private(set) var activityChanges: [String] = []
    private(set) var faults: [String] = []
    private(set) var server: [String] = []
    private(set) var opened: [String] = []
    private(set) var customMessages: [String] = []
    private(set) var settled: [String] = []
    private var began: Int64 = 0
    private var marked: Int64 = 0
    private var isRunning = false

    mutating func clear(at moment: Int64) {
        if !self.isRunning {
            self.isRunning = true
            self.began = moment
            self.lines = []
        }
        self.mark(at: moment)
    }

    /// What was seen so far has been looked at.
    mutating func mark(at moment: Int64) {
        self.marked = moment
        self.calls = []
        self.presentations = []
        self.wakes = []
        self.undelivered = []
        self.results = []
        self.started = []
        self.ended = []
        self.activityChanges = []
        self.faults = []
        self.server = []
        self.opened = []
        self.customMessages = []
        self.settled = []
    }

    mutating func step(_ text: String, at moment: Int64) { self.line("step", text, moment) }

    mutating func told(server text: String, at moment: Int64) {
        self.server.append(text)
        self.line("server", text, moment)
    }

    mutating func opened(_ conversation: String, at moment: Int64) {
        self.opened.append(conversation)
        self.line("opens", conversation, moment)
    }

    mutating func received(custom label: String, at moment: Int64) {
        self.customMessages.append(label)
        self.line("custom", label, moment)
    }

    mutating func settled(_ text: String, at moment: Int64) {
        self.settled.append(text)
        self.line("settles", text, moment)
    }

    /// A push that never reached the phone.
    mutating func undelivered(_ label: String, _ reason: UndeliveredReason, at moment: Int64) {
        self.undelivered.append("\(reason.rawValue) of \(label)")
        self.line("apns", "\(reason.rawValue): \(label)", moment)
    }

    mutating func courier(_ text: String, at moment: Int64) { self.line("apns", text, moment) }

    private mutating func line(_ kind: String, _ text: String, _ moment: Int64) {
        self.lines.append(ScenarioTraceLine(at: moment - self.began, kind: kind, text: text))
    }

    mutating func note(_ entry: PhoneRecord.Entry, at moment: Int64, labels: Labels) {
        switch entry {
        case .callback(let record):
            let (name, arguments, subject) = CallWords.observed(record.callback)
            let call = ObservedCall(
                name: name, state: record.applicationState, arguments: arguments,
                label: subject.flatMap { labels.label(of: $0) }, at: moment - self.marked)
            self.calls.append(call)
            self.line("calls", call.text, moment)
        case .completion(_, let result):
            if case .fetch(let result) = result { self.results.append("\(result)") }
            self.line("answers", Self.words(result), moment)
        case .presentation(let record):
            let isActivity = record.reason == .liveActivity
            let label =
                isActivity ? labels.label(ofActivity: record.identifier) : labels.label(of: record.identifier)
            self.presentations.append((label, record))
            let parts = PresentationPart.parts(of: record).map(\.rawValue).joined(separator: ", ")
            self.line("shows", "\(label): \(parts.isEmpty ? "nothing" : parts) (\(record.reason.rawValue))", moment)
        case .wake(let identifier, let outcome):
            self.wakes.append(outcome.rawValue)
            self.line("wake", "\(labels.label(of: identifier)): \(outcome.rawValue)", moment)
        case .processEnded(let process, let reason):
            self.ended.append(reason.rawValue)
            self.line("ends", "\(process.role.rawValue): \(reason.rawValue)", moment)
        case .refused(let delivery, let reason):
            self.undelivered(labels.label(ofDelivery: delivery), UndeliveredReason(reason), at: moment)
        case .fault(let text):
            self.faults.append(text)
            self.line("fault", text, moment)
        case .state(let state): self.line("state", state.word, moment)
        case .processStarted(let process):
            self.started.append(process.role.rawValue)
            self.line("starts", process.role.rawValue, moment)
        case .activity(let update):
            let text = "\(update.change.word) of \(labels.label(ofActivity: update.activity))"
            self.activityChanges.append(text)
            self.line("activity", "\(text): \(update.contentState.text)", moment)
        case .arrival(let arrival):
            self.line("arrives", "\(labels.label(of: arrival.identifier)): \(arrival.pushClass.rawValue)", moment)
        case .badge(let count): self.line("badge", String(count), moment)
        default: self.line("notes", "\(entry)", moment)
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
