import ArgumentParser
import StoreModel
import TidingsModel

extension AppCommand {
    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an app, or its settings, as a file says, and print what has changed.",
            discussion: """
                The file is YAML or JSON with the members id and settings, as 'tidings app export' prints it; a setting that it leaves \
                out is the default. Client keys that the app does not have are added, and none is revoked. Nothing is changed if somebody else changes the app meanwhile. The token secret of an app that \
                is made is printed, this once.
                """)
        @OptionGroup var options: OperatorOptions
        @Argument(help: "The file.") var file: String
        @Flag(help: "Print what would change, and change nothing.") var dryRun = false
        @Flag(help: "Print JSON instead of lines.") var json = false

        func run() async throws {
            let file = try AppFile(path: self.file)
            let wanted = try file.wholeSettings()
            let path = "apps/\(APIOptions.escaped(file.id))"
            let app: JSONValue?
            do {
                app = try await self.options.request("GET", path)
            } catch let refusal as HTTP.Refusal where refusal.status == 404 {
                app = nil
            }
            var done = AppliedSettings(
                app: file.id, isNew: app == nil, isDone: !self.dryRun,
                changes: SettingsChange.all(from: app?["settings"] ?? AppSettings().json, to: wanted))
            let keys = file.newClientKeys(besides: app)
            if !self.dryRun {
                done.tokenSecret = try await self.apply(file, over: app, hasChanged: !done.changes.isEmpty)
                for (name, key) in keys {
                    try await self.options.request(
                        "POST", "\(path)/client-keys", body: ["name": .string(name), "key": key])
                }
            }
            done.changes += keys.map { SettingsChange(name: "client_keys.\($0.key)", before: nil, after: $0.value) }
            if self.json { print(done.json) } else { done.lines.forEach { print($0) } }
        }

        /// The token secret of an app that is made.
        private func apply(_ file: AppFile, over app: JSONValue?, hasChanged: Bool) async throws -> String? {
            guard let app else {
                let made = try await self.options.request(
                    "POST", "apps", body: ["id": .string(file.id), "settings": file.settings])
                return made["token_secret"]?["secret"]?.stringValue
            }
            guard hasChanged else { return nil }
            let revision = app["revision"]?.intValue.map { ["If-Match": "\"\($0)\""] } ?? [:]
            try await self.options.request(
                "PUT", "apps/\(APIOptions.escaped(file.id))/settings", headers: revision, body: file.settings)
            return nil
        }
    }
}

extension AppFile {
    /// In the order of the file. One that the app has revoked is asked for, and refused.
    func newClientKeys(besides app: JSONValue?) -> [(key: String, value: JSONValue)] {
        let there = (app?["client_keys"]?.arrayValue ?? []).filter { $0["revoked_at"]?.intValue == nil }
        return self.clientKeys.members.filter { member in !there.contains { $0["key"] == member.value } }
            .map { ($0.key, $0.value) }
    }
}

/// The result of `tidings app apply`, carried out or not.
struct AppliedSettings: Equatable {
    var app: String
    var isNew: Bool
    var isDone: Bool
    /// The changes; for a new app from the defaults.
    var changes: [SettingsChange]
    var tokenSecret: String?

    var lines: [String] {
        let changes = self.changes.map { "  \($0.line)" }
        let secret = self.tokenSecret.map { ["token secret: \($0)"] } ?? []
        if self.isNew { return ["\(self.app) \(self.isDone ? "is made" : "would be made")"] + changes + secret }
        guard !changes.isEmpty else { return ["\(self.app) is as the file says"] }
        return ["\(self.app) \(self.isDone ? "is changed" : "would be changed")"] + changes
    }

    var json: JSONValue {
        JSONMembers.given([
            "app": self.app, "is_new": self.isNew, "is_done": self.isDone, "changes": self.changes.map(\.json),
            "token_secret": self.tokenSecret,
        ]).json
    }
}

/// One setting of an app that differs.
struct SettingsChange: Equatable {
    /// Names with dots between, for example `push.text`.
    var name: String
    /// Nil for none.
    var before: JSONValue?
    var after: JSONValue?

    /// In the order of the names, those that are there no more behind the others.
    static func all(from before: JSONValue, to after: JSONValue) -> [SettingsChange] {
        let (old, new) = (self.leaves(of: before), self.leaves(of: after))
        let changed = new.members.filter { old[$0.key] != $0.value }
            .map { SettingsChange(name: $0.key, before: old[$0.key], after: $0.value) }
        let gone = old.members.filter { new[$0.key] == nil }
            .map { SettingsChange(name: $0.key, before: $0.value, after: nil) }
        return changed + gone
    }

    /// Returns the settings that are set, by their whole names. A list is one value, and so are an app's own members of pushes.
    private static func leaves(of settings: JSONValue) -> JSONObject {
        var leaves = JSONObject()
        func walk(_ value: JSONValue, _ name: String) {
            guard case .object(let object) = value, name != "push.options.custom" else {
                if value != .null { leaves[name] = value }
                return
            }
            for (key, member) in object.members { walk(member, name.isEmpty ? key : "\(name).\(key)") }
        }
        walk(settings, "")
        return leaves
    }

    var line: String { "\(self.name): \(self.before?.text ?? "none") -> \(self.after?.text ?? "none")" }

    var json: JSONValue {
        ["name": .string(self.name), "before": self.before ?? .null, "after": self.after ?? .null]
    }
}
