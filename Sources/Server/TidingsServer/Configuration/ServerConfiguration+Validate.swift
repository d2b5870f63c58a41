import Foundation
import StoreModel
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
        if !self.search.path.isEmpty, self.search.path == self.store.path {
            faults.append(
                field: "search.path", rule: "must not be store.path, got \"\(self.search.path)\"",
                remedy: "name a file of its own")
        }
        for (field, path) in [("store.path", self.store.path), ("search.path", self.search.path)]
        where self.webhooksPath == path {
            faults.append(
                field: "webhooks.path", rule: "must not be \(field), got \"\(path)\"", remedy: "name a file of its own")
        }
        if !self.console.phones.isEmpty, PhonesAddress(self.console.phones) == nil {
            faults.append(
                field: "console.phones",
                rule: "must be host:port with a host of this machine, got \"\(self.console.phones)\"",
                remedy: "write for example 127.0.0.1:7482, or leave it out for no phones")
        }
        do throws(InvalidField) {
            _ = try self.apns.parsedProxy
        } catch {
            faults.append(
                field: "apns.\(error.field)", rule: error.rule, remedy: "write for example proxy.example.com:3128")
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
    fileprivate func faults() -> [ConfigurationFault] {
        let prefix = "app.\(self.id)"
        var faults: [ConfigurationFault] = []
        do throws(InvalidField) {
            _ = try AppID.validated(self.id.rawValue, field: "apps")
        } catch {
            faults.append(field: error.field, rule: "\(error.rule), got \"\(self.id)\"", remedy: "rename the app")
        }
        let min = ServerConfiguration.tokenSecretBytesMin
        if self.tokenSecret.value.utf8.count < min, !self.isCredentialAlone {
            faults.append(
                field: "\(prefix).token_secret",
                rule: "must be at least \(min) bytes, got \(self.tokenSecret.value.utf8.count)",
                remedy: "draw one with: openssl rand -hex 32")
        }
        if let previous = self.previousSecret {
            let count = previous.value.utf8.count
            if count < min || previous == self.tokenSecret {
                faults.append(
                    field: "\(prefix).token_secret_previous",
                    rule: count < min
                        ? "must be at least \(min) bytes, got \(count)" : "must not be the present token_secret",
                    remedy: "give the secret that was in use before, or leave it out")
            }
        }
        for key in self.apiKeys { faults += key.faults(prefix: "\(prefix).api_key.\(key.id)") }
        faults += self.clientKeyFaults(prefix: "\(prefix).client_keys")
        if let apns = self.apns { faults += apns.faults(prefix: "\(prefix).apns") }
        for fault in self.settings.faults(in: self.id) + self.settings.tokens.addressFaults {
            let key = Self.key(of: fault.field)
            faults.append(
                field: key.isEmpty ? prefix : "\(prefix).\(key)", rule: fault.rule,
                remedy: Self.remedy(for: fault, prefix))
        }
        return faults
    }

    private func clientKeyFaults(prefix: String) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        for key in self.clientKeys {
            do throws(InvalidField) {
                try ClientKeyRecord(id: key.key, name: key.name, createdAt: 0).validate()
            } catch {
                faults.append(
                    field: prefix, rule: "\(error.rule), got \"\(key.key)\"",
                    remedy: "draw one with: echo pk_$(openssl rand -hex 16)")
            }
        }
        if Set(self.clientKeys.map(\.name)).count < self.clientKeys.count {
            faults.append(field: prefix, rule: "must not name one twice", remedy: "give each key a name of its own")
        }
        return faults
    }

    /// The key of the file for a member of the JSON form.
    private static func key(of member: String) -> String {
        let words = "words.languages"
        return switch member {
        case "settings": ""
        case "tokens.audiences": "token_audiences"
        case "tokens.jwks": "token_jwks"
        case "words.language": "language"
        case words: "languages"
        default: member.hasPrefix("\(words).") ? "words.\(member.dropFirst(words.count + 1))" : member
        }
    }

    private static func remedy(for fault: InvalidField, _ prefix: String) -> String {
        switch fault.field {
        case "push.topics": "list the bundle identifiers of the app's builds"
        case "offered_accounts":
            "list the ids of the app's MP accounts; with the app's id and a slash they have at most 64 bytes"
        case "tags": "list names of 1 to 64 bytes without spaces"
        case "members_max", "devices_max": "leave it out for policy.\(fault.field)"
        case "tokens.audiences": "name what stands for this server in the claim aud, or leave it out for the app's id"
        case "tokens.jwks":
            fault.rule == "must not be empty"
                ? "give the path or the address of a JSON web key set, or leave it out"
                : "keys that came over an open line could be anybody's"
        case "words.languages": "write for example de or pt-BR"
        case "words.language": "name one of \(prefix).languages, or a built-in one: en, zh"
        case let field where field.hasPrefix("push.options"):
            "declare it in \(prefix).push.entitlements or \(prefix).push.image_hosts"
        case let field where field.hasSuffix(".several") && fault.rule.contains("{count}"):
            "write for example \"{count} new messages\""
        case let field where field.hasSuffix(".kinds") && !fault.rule.hasPrefix("must be 1 to"):
            "write for example \"RC:ImgMsg=[Image]\""
        case let field where field.hasPrefix("words."): "a language without built-in words needs all of its own"
        default: "set less of it"
        }
    }
}

extension AppSettings.TokenRules {
    /// The faults that take more than looking at the text to find.
    var addressFaults: [InvalidField] {
        guard case .address(let address, _)? = self.keySource, WebAddress.host(of: address) != nil,
            TokenKeyDownload.address(address) == nil
        else { return [] }
        let rule = "must be a path, or begin with https:// (http:// on this machine), got \"\(address)\""
        return [InvalidField(field: "tokens.jwks", rule: rule)]
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
        return faults
    }
}
