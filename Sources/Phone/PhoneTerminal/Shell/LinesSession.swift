import Glibc
import VirtualPhone

/// Prints the trace as lines until a signal or the control channel ends the phone.
struct LinesSession {
    let phone: PhoneHost

    /// Returns the exit status.
    func run() async -> Int32 {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        TerminalInput.start(keys: false) { _ in continuation.yield() }
        let phone = self.phone
        let tasks = [
            Task {
                for await event in phone.events() { Output.line(PhoneTraceLine(event).text) }
                continuation.yield()
            },
            Task {
                await phone.waitUntilQuit()
                continuation.yield()
            },
        ]
        for await _ in stream { break }
        for task in tasks { task.cancel() }
        return 0
    }
}

/// Flushed at once.
enum Output {
    static func line(_ text: String) {
        print(text)
        fflush(nil)
    }
}
