package import PhoneCore
package import TidingsModel

/// The needs of a case that runs an app's own code: the runner of the case finds and starts the executables.
package struct OwnCode: Equatable, Sendable {
    package var app: Executable
    package var serviceExtension: Executable?
    package var environment: [String: String] = [:]
    package var server: ServerSetup?
    /// Milliseconds.
    package var stepTime: Int64 = 10_000
    /// Milliseconds.
    package var caseTime: Int64 = 120_000

    package struct Executable: Equatable, Sendable {
        /// The path as the file has it.
        package var path: String
        package var position: ScenarioPosition
    }

    package static let bundle: BundleID = "com.example.chat"
    package static let appGroup = "group.com.example.chat"
}

package struct ServerSetup: Equatable, Sendable {
    /// Who can sign in at the example's backend; without anybody there is none.
    package var people: [Account] = []
    /// Keys of the server's configuration.
    package var settings: [String: String] = [:]

    package struct Account: Equatable, Sendable {
        package var user: String
        package var password: String
    }
}

/// A step that only a case with an app's own code can do.
package enum ScreenStep: Equatable, Sendable {
    case touch(view: String?, ViewAction)
    case enter(String, into: String?, submits: Bool)
    case scroll(ViewAction.Direction, view: String?, until: String?)
    /// For the app's own interface.
    case input(JSONValue)
    case message(ServerMessage)
}

/// A message that the case's server takes from a person without a phone.
package struct ServerMessage: Equatable, Sendable {
    /// Names it, and its notification, in the file.
    package var label: String
    package var sender: String
    package var recipient: String
    package var text: String
}

/// The texts that must stand on the screen, and those that must not.
package struct ScreenCheck: Equatable, Sendable {
    package var position: ScenarioPosition
    package var shows: [String] = []
    package var contains: [String] = []
    package var lacks: [String] = []
}
