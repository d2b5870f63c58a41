import NIOCore
import TidingsModel

/// One connection of the control channel: `{"id":1,"do":"launch"}` → `{"id":1,"ok":true,"result":{}}` or
/// `{"id":1,"ok":false,"field":"app","rule":"…"}`; `{"do":"subscribe","after":0}` streams `{"event":…}` lines, first
/// the kept ones with a number above `after`.
final class ControlChannel {
    private weak var host: HostShell?

    init(host: HostShell) { self.host = host }

    /// The handler keeps this object.
    var handler: LineHandler {
        LineHandler(
            onLine: { channel, line in self.handleLine(line, on: channel) },
            onClose: { [weak host] channel in host?.forgetControl(channel) })
    }

    private func handleLine(_ line: [UInt8], on channel: any Channel) {
        guard !line.isEmpty, let host = self.host else { return }
        let json = try? JSONValue(parsing: line)
        let id = json?["id"] ?? .null
        do throws(InvalidField) {
            guard let json, json.objectValue != nil else {
                throw InvalidField(field: "line", rule: "must be one JSON object")
            }
            if json["do"] == "subscribe" { return try self.subscribe(json, id: id, on: channel, host) }
            let command = try PhoneCommand(json: json, apps: host.apps)
            let result = try host.execute(command)
            channel.writeLine(.members([("id", id), ("ok", true), ("result", result)]))
        } catch {
            channel.writeLine(
                .members([("id", id), ("ok", false), ("field", .string(error.field)), ("rule", .string(error.rule))]))
        }
    }

    private func subscribe(
        _ json: JSONValue, id: JSONValue, on channel: any Channel, _ host: HostShell
    ) throws(InvalidField) {
        let after: Int? = try JSONFields(json).optional("after")
        channel.writeLine(.members([("id", id), ("ok", true), ("result", .members([]))]))
        host.trace.subscribe(channel, after: after)
    }
}
