public import TidingsModel

/// The finger's input in the app's own interface, which a phone without a display cannot show: values the host hands in with its `input`
/// command. Linux only; an app for Apple's systems has buttons.
public enum PhoneInput {
    /// The values handed in from now on, in order. Values that came before the first reader are kept for it; a second
    /// reader shares the stream with the first.
    public static var values: AsyncStream<JSONValue> {
        PhoneProcess.current.facade(InputQueue.self) { InputQueue() }.stream
    }

    static func yield(_ value: JSONValue, in process: PhoneProcess) {
        process.facade(InputQueue.self) { InputQueue() }.continuation.yield(value)
    }
}

private final class InputQueue: Sendable {
    let stream: AsyncStream<JSONValue>
    let continuation: AsyncStream<JSONValue>.Continuation

    init() { (self.stream, self.continuation) = AsyncStream.makeStream(of: JSONValue.self) }
}

/// Reports the app's screen to a phone that cannot look. Linux only.
public enum PhoneScreen {
    /// Reports the screens from the root to the visible one, for example `["Conversations", "Chat PR:alice"]`.
    public static func report(_ value: JSONValue) { PhoneProcess.current.send(.screen(value)) }
}

/// Lines for the phone's trace. Linux only.
public enum PhoneLog {
    /// Writes a line; `level` is a word such as `info`.
    public static func write(_ text: String, level: String = "info") {
        PhoneProcess.current.send(.log(level: level, text: text))
    }
}
