import NIOCore
import PhoneCore
import TidingsModel

/// What processes say and how they end.
extension HostShell {
    func processHandler() -> LineHandler {
        LineHandler(
            onLine: { [weak self] channel, line in self?.take(line, on: channel) },
            onClose: { [weak self] channel in self?.lost(channel) })
    }

    private func take(_ line: [UInt8], on channel: any Channel) {
        let process = self.processes.first { $0.value.channel === channel }?.key
        do throws(InvalidField) {
            guard let json = try? JSONValue(parsing: line) else {
                throw InvalidField(field: "line", rule: "must be one JSON object")
            }
            try self.take(try ProcessMessage(json: json), from: process, on: channel)
        } catch {
            self.note("fault", process?.app, [("text", .string("a process's \(error)"))])
            channel.close(promise: nil)
        }
    }

    private func take(
        _ message: ProcessMessage, from process: ProcessID?, on channel: any Channel
    ) throws(InvalidField) {
        if case .hello(let hello) = message { return try self.introduce(hello, on: channel) }
        guard let process else { throw InvalidField(field: "hello", rule: "must be the first line") }
        switch message {
        case .hello: break
        case .event(.started), .event(.exited):
            throw InvalidField(field: "event", rule: "is known to the phone without the process's word")
        case .event(let event): self.engine.post(.process(process, event))
        case .screen(let value):
            self.screens[process.app] = value
            self.note("screen", process.app, [("screen", value)])
            self.engine.post(.process(process, .screenChanged(value.screenText)))
        case .log(let level, let text):
            self.note("log", process.app, [("level", .string(level)), ("text", .string(text))])
        case .fault(let text): self.note("fault", process.app, [("text", .string(text))])
        }
    }

    private func introduce(_ hello: ProcessHello, on channel: any Channel) throws(InvalidField) {
        guard let process = self.processes.first(where: { $0.value.token == hello.token })?.key,
            self.processes[process]?.channel == nil
        else { throw InvalidField(field: "token", rule: "must be of a process that has not introduced itself") }
        if process.role == .app,
            let app = self.engine.phone.installedApps.first(where: { $0.bundleID == process.app }),
            let difference = hello.mismatch(with: app)
        {
            self.note("fault", process.app, [("text", .string(difference))])
        }
        self.processes[process]?.channel = channel
        let waiting = self.processes[process]?.waiting ?? []
        self.processes[process]?.waiting = []
        for message in waiting { channel.writeLine(message.json) }
        self.engine.post(.process(process, .started))
    }

    private func lost(_ channel: any Channel) {
        guard let process = self.processes.first(where: { $0.value.channel === channel })?.key else { return }
        // A process without its phone has no use; its end is reported when it is reaped.
        self.processes[process]?.child?.kill()
    }

    func ended(_ process: ProcessID, _ end: ChildProcess.End) {
        self.unreaped[process] = nil
        self.ending.removeValue(forKey: process)?.succeed()
        guard self.processes.removeValue(forKey: process) != nil else { return }
        self.note("process_died", process.app, [("process", .string(process.description)), ("how", .string("\(end)"))])
        self.engine.post(.process(process, .exited(crashed: end != .exited(status: 0))))
    }
}
