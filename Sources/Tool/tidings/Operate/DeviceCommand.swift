import ArgumentParser
import TidingsModel

struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "List the devices a person is signed in on, and sign them out.",
        discussion: "The API key needs the scope settings.",
        subcommands: [List.self, SignOut.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the devices of a person, one a line.",
            discussion: """
                Each with its lease, when it was seen last unless it is connected, its push token shortened, the badge that the last push \
                told it, and what it has reported of notifications.
                """)
        @OptionGroup var person: PersonOptions

        func run() async throws {
            let user = APIOptions.escaped(self.person.user)
            let devices = try await self.person.options.list("users/\(user)/devices", "devices")
            if devices.isEmpty { print("\(self.person.user) is signed in on no device") }
            for device in devices { print(Self.line(device)) }
        }

        static func line(_ device: JSONValue) -> String {
            func text(_ name: String) -> String { device[name]?.stringValue ?? "" }
            let reason = device["push_reason"]?.stringValue.map { " (\($0))" } ?? ""
            let topic = device["push_topic"]?.stringValue.map { " \($0) \(text("push_environment"))" } ?? ""
            let token = device["push_token"]?.stringValue.map { " \($0)" } ?? ""
            let until = device["lease_until"]?.intValue == nil ? "" : " until \(TextTable.time(device["lease_until"]))"
            let seen = device["last_seen_at"]?.intValue == nil ? "" : "  seen \(TextTable.time(device["last_seen_at"]))"
            let badge = device["badge"]?.intValue.map { "  badge \($0)" } ?? ""
            let line =
                "\(text("id"))  \(text("platform"))  \(text("lease"))\(until)\(seen)  push \(text("push"))\(reason)"
                + "\(topic)\(token)\(badge)"
            guard let status = device["status"] else { return line }
            let off = StatusLine.off(status).map { " (\($0))" } ?? ""
            return line + "  notifications \(StatusLine.authorization(status))\(off)"
        }
    }

    struct SignOut: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign-out",
            abstract: "Sign a person out on one device, or on all.",
            discussion: """
                Connections are closed and push tokens forgotten. Whoever still holds a good user token can sign in again.
                """)
        @OptionGroup var person: PersonOptions
        @Argument(help: "The device.") var device: String?
        @Flag(help: "On all devices.") var all = false

        func validate() throws {
            guard (self.device == nil) == self.all else { throw ValidationError("give a device, or --all") }
        }

        func run() async throws {
            let part = self.device.map { "/\(APIOptions.escaped($0))" } ?? ""
            _ = try await self.person.request("DELETE", "devices\(part)")
        }
    }
}
