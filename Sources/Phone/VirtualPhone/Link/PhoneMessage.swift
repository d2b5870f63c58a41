package import PhoneCore
package import TidingsModel

// One JSON object a line in both directions. A line that cannot be read is the writer's fault and ends the process.

/// A line from the phone to one of its processes.
package enum HostMessage: Equatable, Sendable, JSONTagged {
    /// A callback to make, and what `applicationState` reads meanwhile and from then on.
    case call(CallbackNumber, Callback, ApplicationState)
    /// `applicationState` reads this from now on.
    case state(ApplicationState)
    /// The answer to a question.
    case answer(QueryNumber, QueryAnswer)
    /// A value for the app's own interface (`PhoneInput`).
    case input(JSONValue)
    /// To a content extension: a notification to show.
    case show(DeliveredNotification)
    /// To a content extension: what the person did; answered by `ProcessMessage.responded` with the same number.
    case respond(UInt64, UserResponse)
    /// Leave at once: the phone is being switched off.
    case exit

    /// How the cases are written as JSON.
    package static let tag = JSONTag(
        "type", meaning: "a message of a phone",
        names: [
            "call": ["_0": "number", "_1": "callback", "_2": "state"], "answer": ["_0": "number", "_1": "answer"],
            "input": ["_0": "value"], "show": ["_0": "notification"],
            "respond": ["_0": "number", "_1": "response"],
        ])
}

/// A line from a process to its phone.
package enum ProcessMessage: Equatable, Sendable, JSONTagged {
    /// The first line: who is there, and which delegate methods and life-cycle the app says it has.
    case hello(ProcessHello)
    /// Something for the phone's core.
    case event(ProcessEvent)
    /// What the app's screen shows now.
    case screen(JSONValue)
    /// A line for the trace.
    case log(level: String, text: String)
    /// The process broke a rule that only its side can see.
    case fault(String)
    /// A content extension's answer to an action.
    case responded(UInt64, ContentExtensionAnswer)

    /// How the cases are written as JSON.
    package static let tag = JSONTag(
        "type", meaning: "a message of a process",
        names: [
            "hello": ["_0": ""], "screen": ["_0": "value"], "fault": ["_0": "text"],
            "responded": ["_0": "number", "_1": "answer"],
        ])
}

/// How a process introduces itself.
package struct ProcessHello: Equatable, Sendable, Codable {
    /// The secret the phone gave it at its start.
    package var token: String
    /// The declared delegate methods, as raw bits; nil for an extension.
    package var methods: DelegateMethods?
    /// The declared life-cycle; nil for an extension.
    package var lifecycle: LifecycleStyle?

    /// An introduction.
    package init(token: String, methods: DelegateMethods? = nil, lifecycle: LifecycleStyle? = nil) {
        self.token = token
        self.methods = methods
        self.lifecycle = lifecycle
    }
}
