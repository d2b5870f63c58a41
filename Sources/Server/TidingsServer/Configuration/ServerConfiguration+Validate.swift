import APNsModel
import Foundation
import ServerCore
import TidingsModel

extension ServerConfiguration {
    /// In bytes: the length of the hash (RFC 7518 §3.2).
    package static let tokenSecretBytesMin = 32

    /// In the order of the keys; empty if the server can start. Looks at the values only; files and ports are tried when the server
    /// starts.
    package func validate() -> [ConfigurationFault] {
        var faults = ConfigurationKey.all.compactMap { $0.fault(in: self) }
        let listeners = self.listeners
        for (index, listener) in listeners.enumerated() where listener.port != 0 {
            for other in listeners[..<index] where listener.port == other.port && listener.host == other.host {
                let (port, taken) = ("\(listener.listener.rawValue).port", "\(other.listener.rawValue).port")
                faults.append(
                    field: port, rule: "must not be \(other.listener.owner), got \(listener.port)",
                    remedy: "give \(port) and \(taken) different values")
            }
        }
        if self.apps.isEmpty {
            faults.append(
                field: "apps", rule: "must name at least one app",
                remedy: "list the ids under apps and give each one app.ID.token_secret")
        }
        var seen: Set<AppID> = []
        for app in self.apps {
            if !seen.insert(app.id).inserted {
                faults.append(field: "apps", rule: "must not repeat \"\(app.id)\"", remedy: "drop one of them")
            }
            faults += app.faults()
        }
        return faults
    }
}

extension ServerConfiguration.App {
    /// Each topic makes lanes.
    private static let pushTopicsMax = 16

    fileprivate func faults() -> [ConfigurationFault] {
        let prefix = "app.\(self.id)"
        var faults: [ConfigurationFault] = []
        do throws(InvalidField) {
            _ = try AppID.validated(self.id.rawValue, field: "apps")
        } catch {
            faults.append(field: error.field, rule: "\(error.rule), got \"\(self.id)\"", remedy: "rename the app")
        }
        let min = ServerConfiguration.tokenSecretBytesMin
        if self.tokenSecret.value.utf8.count < min {
            faults.append(
                field: "\(prefix).token_secret",
                rule: "must be at least \(min) bytes, got \(self.tokenSecret.value.utf8.count)",
                remedy: "draw one with: openssl rand -hex 32")
        }
        faults += self.tokens.faults(prefix: prefix, secret: self.tokenSecret)
        for key in self.apiKeys { faults += key.faults(prefix: "\(prefix).api_key.\(key.id)") }
        if let apns = self.apns { faults += apns.faults(prefix: "\(prefix).apns") }
        for topic in self.pushTopics where !APNsFormat.isTopic(topic.utf8) {
            faults.append(
                field: "\(prefix).push.topics",
                rule: "must be topics of 1 to 255 letters, digits, hyphens, underscores and dots, got \"\(topic)\"",
                remedy: "list the bundle identifiers of the app's builds")
        }
        if self.pushTopics.count > Self.pushTopicsMax {
            faults.append(
                field: "\(prefix).push.topics",
                rule: "must be at most \(Self.pushTopicsMax), got \(self.pushTopics.count)",
                remedy: "list the bundle identifiers of the app's builds")
        }
        for account in self.offeredAccounts {
            do throws(InvalidField) {
                _ = try UserID.validated(account, field: "\(prefix).offered_accounts")
                // What people of other apps call it.
                _ = try UserID.validated("\(self.id)/\(account)", field: "\(prefix).offered_accounts")
            } catch {
                faults.append(
                    field: error.field, rule: "\(error.rule), in \"\(account)\"",
                    remedy:
                        "list the ids of the app's MP accounts; with the app's id and a slash they have at most 64 bytes"
                )
            }
        }
        if let count = self.membersMax, !(1...3_000).contains(count) {
            faults.append(
                field: "\(prefix).members_max", rule: "must be 1 to 3000, got \(count)",
                remedy: "leave it out for policy.members_max")
        }
        if let options = self.push.options {
            do throws(InvalidField) {
                try self.push.check(options, isClient: false, path: "\(prefix).push.options")
            } catch {
                faults.append(
                    field: error.field, rule: error.rule,
                    remedy: "declare it in \(prefix).push.entitlements or \(prefix).push.image_hosts")
            }
        }
        for (tag, words) in self.words.byLanguage.sorted(by: { $0.key < $1.key }) {
            faults += words.faults(tag: tag, prefix: "\(prefix).words.\(tag)", list: "\(prefix).languages")
        }
        if !self.words.hasLanguage {
            faults.append(
                field: "\(prefix).language", rule: "must be a language with words, got \"\(self.words.language)\"",
                remedy: "name one of \(prefix).languages, or a built-in one: en, zh")
        }
        return faults
    }
}

extension ServerConfiguration.TokenRules {
    fileprivate func faults(prefix: String, secret: Secret) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        let min = ServerConfiguration.tokenSecretBytesMin
        if let previous = self.previousSecret {
            let count = previous.value.utf8.count
            if count < min || previous == secret {
                faults.append(
                    field: "\(prefix).token_secret_previous",
                    rule: count < min
                        ? "must be at least \(min) bytes, got \(count)" : "must not be the present token_secret",
                    remedy: "give the secret that was in use before, or leave it out")
            }
        }
        if self.audiences.contains("") {
            faults.append(
                field: "\(prefix).token_audiences", rule: "must not hold an empty text",
                remedy: "name what stands for this server in the claim aud, or leave it out for the app's id")
        }
        switch self.keySource {
        case .file(let path)? where path.isEmpty:
            faults.append(
                field: "\(prefix).token_jwks", rule: "must not be empty",
                remedy: "give the path or the address of a JSON web key set, or leave it out")
        case .address(let address, _)? where TokenKeyDownload.Address(address) == nil:
            faults.append(
                field: "\(prefix).token_jwks",
                rule: "must be a path, or begin with https:// (http:// on this machine), got \"\(address)\"",
                remedy: "keys that came over an open line could be anybody's")
        case .file?, .address?, nil: break
        }
        return faults
    }
}

extension NotificationWords {
    /// Far more than a phone shows in a line.
    private static let bytesMax = 256

    fileprivate func faults(tag: String, prefix: String, list: String) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        do throws(InvalidField) {
            try PersonSettings(language: tag).validate()
        } catch {
            faults.append(field: list, rule: "\(error.rule), got \"\(tag)\"", remedy: "write for example de or pt-BR")
        }
        let texts =
            Self.pushMembers.map { ($0.name, self[keyPath: $0.path]) }
            + self.kinds.sorted { $0.key < $1.key }.map { ("kinds", $0.value) }
        for (name, text) in texts where !(1...Self.bytesMax).contains(text.utf8.count) {
            faults.append(
                field: "\(prefix).\(name)", rule: "must be 1 to \(Self.bytesMax) bytes, got \(text.utf8.count)",
                remedy: "a language without built-in words needs all of its own")
        }
        if !self.several.isEmpty, !self.several.contains("{count}") {
            faults.append(
                field: "\(prefix).several", rule: "must contain {count}, got \"\(self.several)\"",
                remedy: "write for example \"{count} new messages\"")
        }
        for name in self.kinds.keys.sorted() {
            do throws(InvalidField) {
                _ = try ObjectName.validated(name.rawValue, field: "\(prefix).kinds")
            } catch {
                faults.append(
                    field: error.field, rule: "\(error.rule), got \"\(name)\"",
                    remedy: "write for example \"RC:ImgMsg=[Image]\"")
            }
        }
        return faults
    }
}

extension ServerConfiguration.APIKey {
    fileprivate func faults(prefix: String) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        if self.sha256.utf8.count != 64 || !self.sha256.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
            faults.append(
                field: "\(prefix).sha256", rule: "must be 64 hexadecimal digits",
                remedy: "hash the key with: printf %s KEY | sha256sum")
        }
        if self.scopes.isEmpty {
            let words = APIScope.allCases.map(\.rawValue).joined(separator: ", ")
            faults.append(
                field: "\(prefix).scopes", rule: "must name at least one scope", remedy: "choose from \(words)")
        }
        return faults
    }
}

extension ServerConfiguration.APNs {
    fileprivate func faults(prefix: String) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        for (name, value) in [("team_id", self.teamID), ("key_id", self.keyID)]
        where value.utf8.count != 10 || !value.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) {
            faults.append(
                field: "\(prefix).\(name)", rule: "must be 10 letters and digits, got \"\(value)\"",
                remedy: "copy it from Apple's developer account")
        }
        for (name, value) in [("key_path", self.keyPath), ("topic", self.topic)] where value.isEmpty {
            faults.append(
                field: "\(prefix).\(name)", rule: "must not be empty",
                remedy: name == "topic" ? "give the app's bundle identifier" : "give the path of the .p8 file")
        }
        if !(1...65_535).contains(self.port) {
            faults.append(
                field: "\(prefix).port", rule: "must be 1 to 65535, got \(self.port)",
                remedy: "443 or 2197 for Apple's servers, 7443 for the local APNs")
        }
        return faults
    }
}
