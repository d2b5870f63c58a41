import NIOCore
import TidingsModel

/// One connection of the control channel: `{"id":1,"do":"launch"}` → `{"id":1,"ok":true,"result":{}}` or
/// `{"id":1,"ok":false,"field":"app","rule":"…"}`; `{"do":"subscribe","after":0}` streams `{"event":…}` lines, first
/// the kept ones with a number above `after`, and with `"views":true` what is shown, too. Answers come in the order of the
/// commands: the next one waits for an app that is touched, and those beyond `waitingMax` are refused at once.
final class ControlChannel {
    static let waitingMax = 256

    private weak var host: HostShell?
    private var waiting: [[UInt8]] = []
    private var isAnswering = false

    init(host: HostShell) { self.host = host }

    /// The handler keeps this object.
    var handler: LineHandler {
        LineHandler(
            onLine: { channel, line in self.handleLine(line, on: channel) },
            onClose: { [weak host] channel in
                self.waiting = []
                host?.forgetControl(channel)
            })
    }

    private func handleLine(_ line: [UInt8], on channel: any Channel) {
        guard !line.isEmpty else { return }
        guard self.waiting.count < Self.waitingMax else {
            let rule = "must come later: \(Self.waitingMax) wait until the app has answered a touch"
            let id = (try? JSONValue(parsing: line))?["id"] ?? .null
            return Self.refuse(InvalidField(field: "line", rule: rule), id, channel)
        }
        self.waiting.append(line)
        self.answerWaiting(on: channel)
    }

    private func answerWaiting(on channel: any Channel) {
        while !self.isAnswering, !self.waiting.isEmpty { self.answer(self.waiting.removeFirst(), on: channel) }
    }

    private func answer(_ line: [UInt8], on channel: any Channel) {
        guard let host = self.host else { return }
        let json = try? JSONValue(parsing: line)
        let id = json?["id"] ?? .null
        do throws(InvalidField) {
            guard let json, json.objectValue != nil else {
                throw InvalidField(field: "line", rule: "must be one JSON object")
            }
            if json["do"] == "subscribe" { return try self.subscribe(json, id: id, on: channel, host) }
            let command = try PhoneCommand(json: json, apps: host.apps)
            let result = try host.execute(command)
            var isNow = true
            self.isAnswering = true
            result.assumeIsolated().whenComplete { result in
                self.isAnswering = false
                switch result {
                case .success(let result): channel.writeLine(.members([("id", id), ("ok", true), ("result", result)]))
                case .failure(let error):
                    Self.refuse(
                        error as? InvalidField ?? InvalidField(field: "do", rule: "failed: \(error)"), id, channel)
                }
                if !isNow { self.answerWaiting(on: channel) }
            }
            isNow = false
        } catch { Self.refuse(error, id, channel) }
    }

    private static func refuse(_ error: InvalidField, _ id: JSONValue, _ channel: any Channel) {
        channel.writeLine(
            .members([("id", id), ("ok", false), ("field", .string(error.field)), ("rule", .string(error.rule))]))
    }

    private func subscribe(
        _ json: JSONValue, id: JSONValue, on channel: any Channel, _ host: HostShell
    ) throws(InvalidField) {
        let fields = try JSONFields(json)
        let after: Int? = try fields.optional("after")
        let wantsViews: Bool = try fields.optional("views") ?? false
        channel.writeLine(.members([("id", id), ("ok", true), ("result", .members([]))]))
        if wantsViews { host.views.subscribe(channel) }
        host.trace.subscribe(channel, after: after)
    }
}
