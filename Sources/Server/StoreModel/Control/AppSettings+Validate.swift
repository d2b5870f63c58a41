import APNsModel
package import TidingsModel

extension AppSettings {
    /// The largest size of the JSON form: every change of an app is a record of the journal with all its settings.
    package static let bytesMax = 262_144
    package static let membersMaxRange = 1...3_000
    package static let devicesMaxRange = 1...100

    /// Throws the first of `faults(in:)`.
    package func validate(in app: AppID) throws(InvalidField) {
        if let fault = self.faults(in: app).first { throw fault }
    }

    /// Returns the faults, by the path of the member in JSON; empty if there are none. Looks at the values only: files and addresses are
    /// tried by their readers.
    package func faults(in app: AppID) -> [InvalidField] {
        var faults: [InvalidField] = []
        func check(_ checks: () throws(InvalidField) -> Void) {
            do throws(InvalidField) { try checks() } catch { faults.append(error) }
        }
        check { () throws(InvalidField) in
            if !self.name.isEmpty { try DisplayName.check(self.name, field: "name", lettersMax: nil) }
            try InvalidField.check(self.name.utf8.count, atMost: Self.nameBytesMax, "name", unit: " bytes")
        }
        for topic in self.pushTopics where !APNsFormat.isTopic(topic.utf8) {
            let rule = "must be topics of 1 to 255 letters, digits, hyphens, underscores and dots, got \"\(topic)\""
            faults.append(InvalidField(field: "push.topics", rule: rule))
        }
        check { () throws(InvalidField) in
            try InvalidField.check(self.pushTopics.count, atMost: Self.pushTopicsMax, "push.topics")
        }
        for account in self.offeredAccounts {
            do throws(InvalidField) {
                _ = try UserID.validated(account, field: "offered_accounts")
                // What people of other apps call it.
                _ = try UserID.validated("\(app)/\(account)", field: "offered_accounts")
            } catch {
                faults.append(InvalidField(field: error.field, rule: "\(error.rule), in \"\(account)\""))
            }
        }
        check { () throws(InvalidField) in
            try InvalidField.check(self.tags.count, atMost: Self.tagsMax, "tags")
            for tag in self.tags { try PersonLabels.check(tag, "tags") }
        }
        for (field, value, range) in [
            ("members_max", self.membersMax, Self.membersMaxRange),
            ("devices_max", self.devicesMax, Self.devicesMaxRange),
        ] {
            guard let value, !range.contains(value) else { continue }
            let rule = "must be \(range.lowerBound) to \(range.upperBound), got \(value)"
            faults.append(InvalidField(field: field, rule: rule))
        }
        if let options = self.push.options {
            check { () throws(InvalidField) in
                try options.validate("push.options")
                try self.push.check(options, isClient: false, path: "push.options")
            }
        }
        faults += self.words.faults + self.tokens.faults
        let bytes = self.json.serialized.count
        if bytes > Self.bytesMax {
            let rule = "must be at most \(Self.bytesMax) bytes of JSON, got \(bytes)"
            faults.append(InvalidField(field: "settings", rule: rule))
        }
        return faults
    }
}

extension AppSettings.TokenRules {
    fileprivate var faults: [InvalidField] {
        var faults: [InvalidField] = []
        if self.audiences.contains("") {
            faults.append(InvalidField(field: "tokens.audiences", rule: "must not hold an empty text"))
        }
        switch self.keySource {
        case .file(let path)? where path.isEmpty:
            faults.append(InvalidField(field: "tokens.jwks", rule: "must not be empty"))
        case .address(let address, _)? where WebAddress.host(of: address) == nil:
            let rule = "must be a path, or begin with https:// (http:// on this machine), got \"\(address)\""
            faults.append(InvalidField(field: "tokens.jwks", rule: rule))
        case .file?, .address?, nil: break
        }
        return faults
    }
}

extension AppWords {
    fileprivate var faults: [InvalidField] {
        var faults = self.byLanguage.sorted { $0.key < $1.key }.flatMap { $0.value.faults(tag: $0.key) }
        if !self.hasLanguage {
            let rule = "must be a language with words, got \"\(self.language)\""
            faults.append(InvalidField(field: "words.language", rule: rule))
        }
        return faults
    }
}

extension NotificationWords {
    /// Far more than a phone shows in a line.
    private static let bytesMax = 256

    fileprivate func faults(tag: String) -> [InvalidField] {
        let path = "words.languages.\(tag)"
        var faults: [InvalidField] = []
        do throws(InvalidField) {
            try PersonSettings(language: tag).validate()
        } catch {
            faults.append(InvalidField(field: "words.languages", rule: "\(error.rule), got \"\(tag)\""))
        }
        let texts =
            Self.pushMembers.map { ($0.name, self[keyPath: $0.path]) }
            + self.kinds.sorted { $0.key < $1.key }.map { ("kinds", $0.value) }
        for (name, text) in texts where !(1...Self.bytesMax).contains(text.utf8.count) {
            let rule = "must be 1 to \(Self.bytesMax) bytes, got \(text.utf8.count)"
            faults.append(InvalidField(field: "\(path).\(name)", rule: rule))
        }
        for (name, text) in texts where !text.isEmpty {
            do throws(InvalidField) { try InvalidField.checkVisible(text, "\(path).\(name)") } catch {
                faults.append(error)
            }
        }
        if !self.several.isEmpty, !self.several.contains("{count}") {
            let rule = "must contain {count}, got \"\(self.several)\""
            faults.append(InvalidField(field: "\(path).several", rule: rule))
        }
        for name in self.kinds.keys.sorted() {
            do throws(InvalidField) {
                _ = try ObjectName.validated(name.rawValue, field: "\(path).kinds")
            } catch {
                faults.append(InvalidField(field: error.field, rule: "\(error.rule), got \"\(name)\""))
            }
        }
        return faults
    }
}
