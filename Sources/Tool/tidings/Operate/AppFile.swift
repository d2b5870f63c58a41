import Foundation
import StoreModel
import TidingsModel
import TidingsServer

/// An app with its settings as a file, in YAML or JSON, which is YAML too.
struct AppFile: Equatable {
    var id: String
    /// The settings as the HTTP API has them; a missing one is the default.
    var settings: JSONValue
    /// The client keys that are good, by name: they stand in the app's binary, wherever its server is.
    var clientKeys = JSONObject()

    init(id: String, settings: JSONValue, clientKeys: JSONObject = JSONObject()) {
        self.id = id
        self.settings = settings
        self.clientKeys = clientKeys
    }

    /// - Parameter app: as the HTTP API tells it.
    init(id: String, app: JSONValue) {
        self.init(id: id, settings: app["settings"] ?? .null)
        for key in app["client_keys"]?.arrayValue ?? [] where key["revoked_at"]?.intValue == nil {
            if let name = key["name"]?.stringValue { self.clientKeys[name] = key["key"] }
        }
    }

    init(path: String) throws {
        let text: String
        do {
            text = try FileText.read(Data(contentsOf: URL(fileURLWithPath: path)), field: path)
        } catch let fault as InvalidField {
            throw ToolFailure("\(fault)")
        } catch {
            throw ToolFailure("\(path) cannot be read: \(error.localizedDescription)")
        }
        do throws(InvalidField) {
            try self.init(text: text)
        } catch {
            throw ToolFailure("\(path): \(error.field) \(error.rule)")
        }
    }

    init(text: String) throws(InvalidField) {
        let fields = try JSONFields(try JSONValue.value(ofYAML: text), root: "file")
        self.id = try fields.get("id")
        self.settings = try fields.optional("settings") ?? .members([])
        for (name, key) in (try fields.optional("client_keys") ?? JSONValue.members([])).members {
            guard let text = key.stringValue else {
                throw InvalidField(field: "client_keys.\(name)", rule: "must be a key")
            }
            do throws(InvalidField) {
                try ClientKeyRecord(id: text, name: name, createdAt: 0).validate()
            } catch {
                throw InvalidField(field: "client_keys.\(name)", rule: error.rule)
            }
            self.clientKeys[name] = key
        }
        try fields.refuseUnknown()
    }

    /// The settings with the defaults of what the file leaves out, as the server will tell them.
    func wholeSettings() throws -> JSONValue {
        do throws(InvalidField) {
            let settings = try AppSettings(json: try JSONFields(self.settings, root: "settings"))
            try settings.validate(in: AppID(self.id))
            return settings.json
        } catch {
            throw ToolFailure("\(self.id): \(error.field) \(error.rule)")
        }
    }

    var json: JSONValue {
        var members: [(String, JSONValue)] = [("id", .string(self.id)), ("settings", self.settings)]
        if !self.clientKeys.members.isEmpty { members.append(("client_keys", .object(self.clientKeys))) }
        return .members(members)
    }

    var yaml: [String] { Self.yaml(of: self.json) }
}

// MARK: YAML

extension AppFile {
    /// One member a line; lists and what is empty stand on the line of their name.
    static func yaml(of value: JSONValue) -> [String] {
        value.members.flatMap { name, member -> [String] in
            guard case .object(let object) = member, !object.members.isEmpty else {
                return ["\(self.scalar(name)): \(self.inline(member))"]
            }
            return ["\(self.scalar(name)):"] + self.yaml(of: member).map { "  \($0)" }
        }
    }

    private static func inline(_ value: JSONValue) -> String {
        switch value {
        case .null, .bool, .number: value.text
        case .string(let text): self.scalar(text)
        case .array(let elements): "[\(elements.map(self.inline).joined(separator: ", "))]"
        case .object(let object):
            "{\(object.members.map { "\(self.scalar($0.key)): \(self.inline($0.value))" }.joined(separator: ", "))}"
        }
    }

    /// Plain if no reader of any YAML could take it for something else than this text.
    private static func scalar(_ text: String) -> String {
        let isWord = text.utf8.allSatisfy {
            self.isLetter($0) || (0x30...0x39).contains($0) || [0x2d, 0x2e, 0x5f].contains($0)
        }
        let isPlain = isWord && text.utf8.first.map { self.isLetter($0) } == true
        return isPlain && !self.wordsOfValues.contains(text.lowercased()) ? text : self.quoted(text)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) }

    /// Words that some reader of YAML takes for a Boolean or nothing.
    private static let wordsOfValues: Set<String> = ["y", "yes", "n", "no", "true", "false", "on", "off", "null"]

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5c: quoted += "\\\(scalar)"
            // Line breaks of YAML alone, what may not stand in a YAML file as it is, and what `print` would write otherwise.
            case 0xa0, 0xfffe, 0xffff: quoted += "\\u\(scalar.hexadecimal)"
            case _ where scalar.isUnprintable:
                // Those beyond have five digits.
                quoted += (scalar.value > 0xffff ? "\\U000" : "\\u") + scalar.hexadecimal
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
