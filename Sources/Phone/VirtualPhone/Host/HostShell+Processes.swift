import NIOCore
import PhoneCore
import TidingsModel

extension HostShell {
    /// How long a process that has ended may keep its connection: a child of its own may have inherited it.
    static let lastWordsSeconds: Int64 = 5

    private final class Speaker {
        var process: ProcessID?
        var isOver = false
    }

    func processHandler() -> LineHandler {
        let speaker = Speaker()
        return LineHandler(
            onLine: { [weak self] channel, line in self?.handleLine(line, of: speaker, on: channel) },
            onClose: { [weak self] channel in self?.handleClose(channel) })
    }

    private func handleLine(_ line: [UInt8], of speaker: Speaker, on channel: any Channel) {
        // Messages of a process that the phone has ended have no effect and are no fault.
        if speaker.isOver || speaker.process.map({ self.processes[$0] == nil }) == true { return }
        do throws(InvalidField) {
            try self.handleMessage(
                try ProcessMessage(line: line, depthMax: Self.messageDepthMax), of: speaker, on: channel)
        } catch {
            self.traceFault(speaker.process?.app, "a process's \(error)")
            speaker.isOver = true
            channel.close(promise: nil)
        }
    }

    private func handleMessage(
        _ message: ProcessMessage, of speaker: Speaker, on channel: any Channel
    ) throws(InvalidField) {
        if case .hello(let hello) = message { return try self.introduce(hello, speaker, on: channel) }
        guard let process = speaker.process else { throw InvalidField(field: "hello", rule: "must be the first line") }
        switch message {
        case .log(let level, let text):
            self.appendTrace("log", process.app, [("level", .string(level)), ("text", .string(text))])
        case .fault(let text): self.traceFault(process.app, text)
        case _ where process.role == .contentExtension: self.handleContentExtension(message, of: process)
        case .hello: break
        case .event(.started), .event(.exited):
            throw InvalidField(field: "event", rule: "is known to the phone without the process's word")
        case .event(let event): self.engine.post(.process(process, event))
        case .screen(let value):
            self.screens[process.app] = value
            self.appendTrace("screen", process.app, [("screen", value)])
            self.engine.post(.process(process, .screenChanged(value.screenText)))
        case .views(let views):
            guard process.role == .app else {
                throw InvalidField(field: "type", rule: "must be said by an app only: views")
            }
            self.show(views, of: process)
        case .touched(let number, let answer): self.handleTouched(number, answer, by: process)
        case .responded: throw InvalidField(field: "type", rule: "must be said by a content extension only")
        }
    }

    private func introduce(_ hello: ProcessHello, _ speaker: Speaker, on channel: any Channel) throws(InvalidField) {
        guard !self.endedTokens.contains(hello.token) else {
            // The process ended before it introduced itself.
            speaker.isOver = true
            return channel.close(promise: nil)
        }
        guard let process = self.processes.first(where: { $0.value.token == hello.token })?.key,
            self.processes[process]?.channel == nil
        else { throw InvalidField(field: "token", rule: "must be of a process that has not introduced itself") }
        if process.role == .app,
            let app = self.engine.phone.installedApps.first(where: { $0.bundleID == process.app }),
            let difference = hello.mismatch(with: app)
        {
            self.traceFault(process.app, difference)
        }
        speaker.process = process
        self.processes[process]?.channel = channel
        let waiting = self.processes[process]?.waiting ?? []
        self.processes[process]?.waiting = []
        for message in waiting { channel.writeLine(message.json) }
        guard process.role != .contentExtension else { return }
        self.engine.post(.process(process, .started))
    }

    private func handleClose(_ channel: any Channel) {
        guard let process = self.processes.first(where: { $0.value.channel === channel })?.key else { return }
        if let end = self.processes[process]?.end { return self.removeProcess(process, end) }
        // A process without its phone is useless; its end is reported when it is reaped.
        self.processes[process]?.channel = nil
        self.processes[process]?.child?.kill()
    }

    /// Takes a child's end, which counts only when its connection ends too: its last writes may still be on their way.
    func handleChildEnd(_ process: ProcessID, _ end: ChildProcess.End) {
        self.unreaped[process] = nil
        self.ending.removeValue(forKey: process)?.succeed()
        self.appendTrace(
            "process_died", process.app, [("process", .string(process.description)), ("how", .string("\(end)"))])
        guard let hosted = self.processes[process] else { return }
        guard let channel = hosted.channel else { return self.removeProcess(process, end) }
        self.processes[process]?.end = end
        let late = NIOLoopBound(channel, eventLoop: self.loop)
        self.loop.scheduleTask(in: .seconds(Self.lastWordsSeconds)) { late.value.close(promise: nil) }
    }

    private func removeProcess(_ process: ProcessID, _ end: ChildProcess.End) {
        guard let hosted = self.processes.removeValue(forKey: process) else { return }
        self.rememberEndedToken(of: hosted)
        self.refuseTouches(of: process)
        self.reportEnd(of: process, crashed: end != .exited(status: 0))
    }

    func rememberEndedToken(of hosted: Hosted) {
        guard hosted.channel == nil else { return }
        self.endedTokens.append(hosted.token)
        if self.endedTokens.count > Self.endedTokensMax { self.endedTokens.removeFirst() }
    }

    private static let endedTokensMax = 64
    /// Two for each view that is in another.
    private static let messageDepthMax = 512
}
