import Glibc
import TidingsModel
import VirtualPhone

struct ScreenSession {
    private let phone: PhoneHost
    private let device: TerminalDevice
    private let view: PhoneView
    private var machine: TerminalMachine
    private var drawing: Drawing
    private var keys = KeyReader()
    private let happenings = AsyncStream.makeStream(of: Happening.self)

    private enum Happening: Sendable {
        case input(TerminalInput.Event)
        case traced(JSONValue)
        case refresh
        case refused(String)
        case ended
    }

    init(phone: PhoneHost, device: TerminalDevice, title: String) {
        self.phone = phone
        self.device = device
        self.view = PhoneView(title: title)
        self.machine = TerminalMachine(size: device.size)
        self.drawing = Drawing(hasColours: device.hasColours)
    }

    func run() async -> Int32 {
        var session = self
        let (stream, continuation) = self.happenings
        TerminalInput.start(keys: true) { continuation.yield(.input($0)) }
        let phone = self.phone
        let tasks = [
            Task {
                for await event in phone.events() { continuation.yield(.traced(event)) }
                continuation.yield(.ended)
            },
            Task {
                await phone.waitUntilQuit()
                continuation.yield(.ended)
            },
            // Banners end and badges change without a line in the trace.
            Task {
                while !Task.isCancelled {
                    continuation.yield(.refresh)
                    try? await Task.sleep(for: .milliseconds(100))
                }
            },
        ]
        defer { for task in tasks { task.cancel() } }
        self.device.enter()
        defer { self.device.leave() }
        for await happening in stream where await session.handle(happening) { break }
        return 0
    }

    /// Returns whether the session is over.
    private mutating func handle(_ happening: Happening) async -> Bool {
        switch happening {
        case .input(let input): return await self.handleInput(input)
        case .traced(let event): return await self.post(.traced(PhoneTraceLine(event)))
        case .refresh: await self.refresh()
        case .refused(let reason): return await self.post(.refused(reason))
        case .ended: return await self.post(.ended)
        }
        return false
    }

    private mutating func handleInput(_ input: TerminalInput.Event) async -> Bool {
        switch input {
        case .bytes(let bytes): return await self.press(self.keys.append(bytes))
        case .quiet: return await self.press(self.keys.flush())
        case .closed, .signal(SIGINT), .signal(SIGTERM), .signal(SIGHUP), .signal(SIGQUIT): return true
        case .signal(SIGTSTP):
            self.device.leave()
            TerminalInput.stopProgram()
            return await self.enterScreen()
        case .signal(SIGCONT): return await self.enterScreen()
        case .signal(SIGWINCH):
            guard self.device.size != self.machine.size else { return false }
            return await self.post(.resized(self.device.size))
        case .signal: return false
        }
    }

    private mutating func enterScreen() async -> Bool {
        self.device.enter()
        return await self.post(.resized(self.device.size))
    }

    private mutating func press(_ keys: [Key]) async -> Bool {
        for key in keys where await self.post(.key(key)) { return true }
        guard !keys.isEmpty else { return false }
        await self.refresh()
        return false
    }

    private mutating func refresh() async {
        if let snapshot = try? await self.phone.snapshot() { _ = self.machine.handle(.refreshed(snapshot)) }
        self.draw()
    }

    private mutating func draw() { self.device.write(self.drawing.update(to: self.view.frame(of: self.machine))) }

    /// An app may take seconds to answer; the keys that come meanwhile are the phone's.
    private func touch(_ command: PhoneCommand) {
        let (phone, continuation) = (self.phone, self.happenings.continuation)
        Task.immediate {
            do throws(InvalidField) {
                try await phone.perform(command)
                continuation.yield(.refresh)
            } catch { continuation.yield(.refused("\(error)")) }
        }
    }

    /// Returns whether the session is over.
    private mutating func post(_ event: TerminalEvent) async -> Bool {
        for effect in self.machine.handle(event) {
            switch effect {
            case .send(.touch(let app, let view, let action)):
                self.touch(.touch(app, view: view, action))
            case .send(let command):
                do throws(InvalidField) {
                    try await self.phone.perform(command)
                } catch {
                    _ = self.machine.handle(.refused("\(error)"))
                }
            case .redraw:
                self.drawing.forget()
                self.draw()
            case .quit: return true
            }
        }
        return false
    }
}
