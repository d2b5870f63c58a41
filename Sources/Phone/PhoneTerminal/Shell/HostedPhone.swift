package import PhoneCore
import TidingsModel
package import VirtualPhone

/// A phone as the terminal knows it: the lines of its control channel, without the channel.
package struct HostedPhone: Sendable {
    private let host: PhoneHost
    private let apps: [BundleID]

    /// A phone that is switched on, and its installed apps.
    package init(host: PhoneHost, apps: [BundleID]) {
        self.host = host
        self.apps = apps
    }

    /// Does what a line of the control channel asks for.
    ///
    /// - Throws: `InvalidField` as the control channel answers it; nothing was changed.
    @discardableResult
    func ask(_ request: JSONValue) async throws(InvalidField) -> JSONValue {
        try await self.host.perform(try PhoneCommand(json: request, apps: self.apps))
    }

    /// What it shows.
    func look() async throws(InvalidField) -> PhonePicture {
        PhonePicture(screen: try await self.ask(["do": "screen"]))
    }

    /// The kept lines of its trace with a number above the given one.
    func trace(after number: Int64) async throws(InvalidField) -> [JSONValue] {
        try await self.ask(["do": "trace", "after": .int(number)])["events"]?.arrayValue ?? []
    }

    /// Its trace from now on.
    func events() -> AsyncStream<JSONValue> { self.host.events() }

    /// Waits until somebody switches it off.
    func waitUntilQuit() async { await self.host.waitUntilQuit() }
}
