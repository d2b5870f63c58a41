import TidingsModel

// The rules of an app's webhooks, which are a part of those of `ControlState`.
//
// - An app has twenty at most, each with a name that none of its others has.
// - Where it goes is an absolute address, as it stands in a request: without user, password and fragment. Which addresses are connected to
//   is not decided here.
// - What happened before it was made, or enabled, it is not told.
// - Its replaced secret is dropped as an API key's is: with the next change of the app after its end.
extension ControlState {
    mutating func apply(
        _ change: WebhookChange, to id: AppID, at now: Int64
    ) throws(ServerFrame.Problem) -> ControlAnswer {
        try self.changeApp(id, at: now) { app throws(ServerFrame.Problem) in try app.apply(change, at: now) }
    }
}

extension ManagedApp {
    package static let webhooksMax = 20

    fileprivate mutating func apply(_ change: WebhookChange, at now: Int64) throws(ServerFrame.Problem) {
        switch change {
        case .add(let record): try self.add(record, at: now)
        case .set(let id, let edit):
            let place = try self.place(ofWebhook: id)
            var record = self.webhooks[place]
            record.apply(edit, at: now)
            try self.checkName(of: record)
            try ControlState.check { () throws(InvalidField) in try record.validate() }
            self.webhooks[place] = record
        case .rotateSecret(let id, let secret, let end):
            let place = try self.place(ofWebhook: id)
            try ControlState.check { () throws(InvalidField) in
                try secret.validate("secret", upTo: SealedBytes.bytesMax)
                try InvalidField.check(
                    secret != self.webhooks[place].secret, "secret", "must be another one than before")
            }
            self.webhooks[place].previousSecret = self.webhooks[place].secret
            self.webhooks[place].previousEndsAt = end
            self.webhooks[place].secret = secret
        case .remove(let id): self.webhooks.remove(at: try self.place(ofWebhook: id))
        }
    }

    mutating func add(_ record: WebhookRecord, at now: Int64) throws(ServerFrame.Problem) {
        guard !self.webhooks.contains(where: { $0.id == record.id }) else {
            throw ControlState.taken("webhook", record.id)
        }
        try self.checkName(of: record)
        let new = WebhookRecord(
            id: record.id, name: record.name, url: record.url, kinds: record.kinds, isEnabled: record.isEnabled,
            enabledAt: now, secret: record.secret, createdAt: record.createdAt)
        try ControlState.check { () throws(InvalidField) in
            try new.validate()
            try InvalidField.check(self.webhooks.count + 1, atMost: Self.webhooksMax, "webhooks")
        }
        self.webhooks.insert(new, at: self.webhooks.sortedPlace { $0.id < new.id })
    }

    private func checkName(of record: WebhookRecord) throws(ServerFrame.Problem) {
        if self.webhooks.contains(where: { $0.name == record.name && $0.id != record.id }) {
            throw ControlState.taken("name", record.name)
        }
    }

    private func place(ofWebhook id: String) throws(ServerFrame.Problem) -> Int {
        guard let place = self.webhooks.firstIndex(where: { $0.id == id }) else {
            throw ControlState.unknown("webhook", "a webhook of the app", id)
        }
        return place
    }
}

extension WebhookRecord {
    fileprivate mutating func apply(_ edit: WebhookEdit, at now: Int64) {
        if let name = edit.name { self.name = name }
        if let url = edit.url { self.url = url }
        if let kinds = edit.kinds { self.kinds = Self.sorted(kinds) }
        guard let isEnabled = edit.isEnabled, isEnabled != self.isEnabled else { return }
        self.isEnabled = isEnabled
        if isEnabled { self.enabledAt = now }
    }

    mutating func dropEnded(at now: Int64) {
        guard self.previousEndsAt <= now else { return }
        (self.previousSecret, self.previousEndsAt) = (nil, 0)
    }

    fileprivate func validate() throws(InvalidField) {
        let isClean = self.id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        try InvalidField.check(
            (1...64).contains(self.id.utf8.count) && isClean, "webhook",
            "must be 1 to 64 characters of ASCII without spaces")
        try DisplayName.check(self.name, field: "name", lettersMax: Self.nameLettersMax)
        try Self.check(url: self.url)
        try InvalidField.check(!self.kinds.isEmpty, "types", "must not be empty")
        try self.secret.validate("secret", upTo: SealedBytes.bytesMax)
    }

    /// Checks an address as far as its text tells.
    private static func check(url: String) throws(InvalidField) {
        try InvalidField.check(url.utf8.count, in: 1...Self.urlBytesMax, "url", unit: " bytes")
        let isClean = url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        try InvalidField.check(isClean, "url", "must be characters of ASCII without spaces: escape the others")
        guard let scheme = ["https://", "http://"].first(where: { url.hasPrefix($0) }) else {
            throw InvalidField(field: "url", rule: "must begin with https://")
        }
        let rest = url.dropFirst(scheme.count)
        let authority = rest.prefix { !"/?#".contains($0) }
        try InvalidField.check(!authority.isEmpty && !authority.hasPrefix(":"), "url", "must name a host")
        try InvalidField.check(!authority.contains("@"), "url", "must be without user and password")
        try InvalidField.check(!authority.contains("%"), "url", "must have a host without percent signs")
        let port = authority.hasSuffix("]") ? nil : authority.split(separator: ":").dropFirst().last
        try InvalidField.check(
            port.map { 1...65_535 ~= Int($0) ?? 0 } ?? true, "url", "must have a port from 1 to 65535, if it has one")
        try InvalidField.check(!rest.contains("#"), "url", "must be without a fragment")
    }
}
