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
                Each with its model, its lease, when it was seen last unless it is connected, its push token shortened, the badge that the last push \
                told it, and what it has reported of notifications.
                """)
        @OptionGroup var person: PersonOptions
        @Flag(help: "Print the server's JSON instead of a table.") var json = false

        func run() async throws {
            let user = APIOptions.escaped(self.person.user)
            let devices = try await self.person.options.list("users/\(user)/devices", "devices")
            if self.json { return print(JSONValue.array(devices)) }
            print(list: Self.lines(devices, of: self.person.user))
        }

        static func lines(_ devices: [JSONValue], of user: String) -> [String] {
            TextTable.list(
                ["device", "platform", "model", "lease", "last seen", "push", "badge", "notifications"],
                devices.map(Self.row), nothing: "\(user) is signed in on no device")
        }

        private static func row(_ device: JSONValue) -> [String] {
            func text(_ name: String) -> String { device[name]?.stringValue ?? "" }
            func time(_ name: String) -> String? { device[name]?.intValue.map { _ in TextTable.time(device[name]) } }
            let reason = device["push_reason"]?.stringValue.map { "(\($0))" } ?? ""
            let push = [text("push"), reason, text("push_topic"), text("push_environment"), text("push_token")]
            let off = device["status"].flatMap { StatusLine.off($0) }.map { " (\($0))" } ?? ""
            return [
                text("id"), text("platform"), device["status"]?["model"]?.stringValue ?? "",
                text("lease") + (time("lease_until").map { " until \($0)" } ?? ""),
                time("last_seen_at") ?? "", push.filter { !$0.isEmpty }.joined(separator: " "),
                device["badge"]?.intValue.map { "\($0)" } ?? "",
                device["status"].map { StatusLine.authorization($0) + off } ?? "",
            ]
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
