package import PhoneCore
package import TidingsModel

/// A line from the phone to one of its processes.
package enum HostMessage: Equatable, Sendable {
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
}

/// A line from a process to its phone.
package enum ProcessMessage: Equatable, Sendable {
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
}

/// How a process introduces itself.
package struct ProcessHello: Equatable, Sendable {
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

// One JSON object a line in both directions. A line that cannot be read is the writer's fault and ends the process.

extension HostMessage {
    /// The message as one JSON object.
    package var json: JSONValue {
        switch self {
        case .call(let number, let callback, let state):
            .members([
                ("type", "call"), ("number", .int(number)), ("callback", callback.json),
                ("state", .int(state.rawValue)),
            ])
        case .state(let state): .members([("type", "state"), ("state", .int(state.rawValue))])
        case .answer(let number, let answer):
            .members([("type", "answer"), ("number", .int(number)), ("answer", answer.json)])
        case .input(let value): .members([("type", "input"), ("value", value)])
        case .show(let notification): .members([("type", "show"), ("notification", notification.json)])
        case .respond(let number, let response):
            .members([("type", "respond"), ("number", .int(number)), ("response", response.json)])
        case .exit: .members([("type", "exit")])
        }
    }

    /// Reads a message.
    ///
    /// - Throws: `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        switch try fields.string("type") {
        case "call":
            self = .call(
                try fields.int("number"), try Callback(json: try fields.value("callback")), try fields.number("state"))
        case "state": self = .state(try fields.number("state"))
        case "answer": self = .answer(try fields.int("number"), try QueryAnswer(json: try fields.value("answer")))
        case "input": self = .input(try fields.value("value"))
        case "show": self = .show(try DeliveredNotification(json: try fields.value("notification")))
        case "respond":
            self = .respond(
                try fields.int("number"), try UserResponse(json: try fields.value("response")))
        case "exit": self = .exit
        case let other: throw InvalidField(field: "type", rule: "is not a message of a phone: \(other)")
        }
    }
}

extension ProcessMessage {
    /// The message as one JSON object.
    package var json: JSONValue {
        switch self {
        case .hello(let hello):
            .members([
                ("type", "hello"), ("token", .string(hello.token)), ("methods", .optional(hello.methods?.rawValue)),
                ("lifecycle", .optional(hello.lifecycle?.rawValue)),
            ])
        case .event(let event): .members([("type", "event"), ("event", event.json)])
        case .screen(let value): .members([("type", "screen"), ("value", value)])
        case .log(let level, let text):
            .members([("type", "log"), ("level", .string(level)), ("text", .string(text))])
        case .fault(let text): .members([("type", "fault"), ("text", .string(text))])
        case .responded(let number, let answer):
            .members([("type", "responded"), ("number", .int(number)), ("answer", .int(answer.rawValue))])
        }
    }

    /// Reads a message.
    ///
    /// - Throws: `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        switch try fields.string("type") {
        case "hello":
            let methods: UInt32? = try fields["methods"] == nil ? nil : fields.int("methods")
            let lifecycle: LifecycleStyle? = try fields["lifecycle"] == nil ? nil : fields.choice("lifecycle")
            self = .hello(
                ProcessHello(
                    token: try fields.string("token"), methods: methods.map { DelegateMethods(rawValue: $0) },
                    lifecycle: lifecycle))
        case "event": self = .event(try ProcessEvent(json: try fields.value("event")))
        case "screen": self = .screen(try fields.value("value"))
        case "log": self = .log(level: try fields.string("level"), text: try fields.string("text"))
        case "fault": self = .fault(try fields.string("text"))
        case "responded": self = .responded(try fields.int("number"), try fields.number("answer"))
        case let other: throw InvalidField(field: "type", rule: "is not a message of a process: \(other)")
        }
    }
}
