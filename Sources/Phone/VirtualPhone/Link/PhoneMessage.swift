package import PhoneCore
package import TidingsModel

// One JSON object a line in both directions. A line that cannot be read is the writer's fault and ends the process.

package enum HostMessage: Equatable, Sendable, JSONTagged {
    /// The state is what `applicationState` reads meanwhile and from then on.
    case call(CallbackNumber, Callback, ApplicationState)
    case state(ApplicationState)
    case answer(QueryNumber, QueryAnswer)
    /// For the app's own interface (`PhoneInput`).
    case input(JSONValue)
    case show(DeliveredNotification)
    /// To an app that shows views, in the foreground; without a name the view in front is meant that takes it. Answered by
    /// `ProcessMessage.touched` with the same number.
    case touch(UInt64, view: String?, ViewAction)
    /// To a content extension; answered by `ProcessMessage.responded` with the same number.
    case respond(UInt64, UserResponse)
    case exit

    package static let tag = JSONTag(
        "type", meaning: "a message of a phone",
        names: [
            "call": ["_0": "number", "_1": "callback", "_2": "state"], "answer": ["_0": "number", "_1": "answer"],
            "input": ["_0": "value"], "show": ["_0": "notification"], "respond": ["_0": "number", "_1": "response"],
            "touch": ["_0": "number", "_2": "action"],
        ])
}

package enum ProcessMessage: Equatable, Sendable, JSONTagged {
    /// The first line.
    case hello(ProcessHello)
    case event(ProcessEvent)
    case screen(JSONValue)
    case log(level: String, text: String)
    /// A rule that only the process's side can see was broken.
    case fault(String)
    case responded(UInt64, ContentExtensionAnswer)
    /// All that is on the screen of an app in the foreground, each time that has changed.
    case views([ViewNode])
    case touched(UInt64, TouchAnswer)

    package static let tag = JSONTag(
        "type", meaning: "a message of a process",
        names: [
            "hello": ["_0": ""], "screen": ["_0": "value"], "fault": ["_0": "text"],
            "responded": ["_0": "number", "_1": "answer"], "touched": ["_0": "number", "_1": "answer"],
        ])
}

package enum TouchAnswer: String, Hashable, Sendable, CaseIterable, Codable {
    case done
    case notTaken = "not_taken"
    case noSuchView = "no_such_view"
}

package struct ProcessHello: Equatable, Sendable, Codable {
    /// The secret that the phone gave the process at its start.
    package var token: String
    /// nil for an extension.
    package var methods: DelegateMethods?
    /// nil for an extension.
    package var lifecycle: LifecycleStyle?
}
