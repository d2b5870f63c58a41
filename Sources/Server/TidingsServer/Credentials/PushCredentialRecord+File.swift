import APNsClient
import APNsModel
import Foundation
import StoreModel
import TidingsModel

extension PushCredentialRecord {
    /// A credential as a file has it, sealed.
    ///
    /// - Parameters:
    ///   - topics: the bundle identifiers that a key was made for; empty for each of its team.
    ///   - environments: the sides that a key is good on; both if nil.
    /// - Throws: `InvalidField` naming `key_id`, `team_id`, `topics` or `environments`.
    init(
        _ file: CredentialFile, of app: AppID, topics: [String] = [], environments: [PushEnvironment]? = nil,
        keys: MasterKeys, at now: Int64, state: State = .uploaded
    ) throws {
        let credential = try file.credential()
        let id = "p" + Hexadecimal.text(UInt64.random(in: .min ... .max))
        let sealed = try keys.seal(credential, of: app, id: id)
        switch file.facts.content {
        case .tokenKey(let keyID, let teamID):
            self.init(
                id: id, kind: .tokenKey, sealed: sealed, fingerprint: file.facts.fingerprint, keyID: keyID,
                teamID: teamID, topics: topics, environments: environments ?? PushEnvironment.allCases, createdAt: now,
                state: state)
        case .certificate(let certificate):
            try InvalidField.check(topics.isEmpty, "topics", "must be left out: a certificate has its own")
            try InvalidField.check(environments == nil, "environments", "must be left out: a certificate has its own")
            var subject = certificate.userID
            if case .certificate(let own) = certificate.authentication { subject = own.subject }
            self.init(
                id: id, kind: .certificate, sealed: sealed, fingerprint: file.facts.fingerprint,
                teamID: certificate.teamID, subject: subject, topics: certificate.topics.map(\.name),
                environments: certificate.environments, createdAt: now, expiresAt: certificate.expiresAt, state: state)
        }
    }
}

extension ServerConfiguration.App {
    /// The key that the section names; nil if it names none.
    ///
    /// - Throws: a fault naming the key of the configuration.
    func credentialFile() throws(ConfigurationFault) -> CredentialFile? {
        guard let apns = self.apns else { return nil }
        let prefix = "app.\(self.id).apns"
        guard let bytes = FileManager.default.contents(atPath: apns.keyPath) else {
            throw ConfigurationFault(
                field: "\(prefix).key_path", rule: "must name a readable file, got \"\(apns.keyPath)\"",
                remedy: "give the path of the .p8 file from Apple's developer account")
        }
        do throws(InvalidField) {
            let file = try CredentialFile(Array(bytes), keyID: apns.keyID, teamID: apns.teamID)
            _ = try file.credential()
            return file
        } catch {
            throw ConfigurationFault(
                field: "\(prefix).\(error.field == "file" ? "key_path" : error.field)", rule: error.rule,
                remedy: "check the key file and its ids")
        }
    }

    /// The credential that pushes of the app go out with from now on, without a proof, as they did before.
    /// - Parameter topics: those of the app beside the section's own.
    func pushCredential(
        _ file: CredentialFile, topics: [String], _ keys: MasterKeys, at now: Int64
    ) throws -> PushCredentialRecord {
        let own = self.apns.map { [$0.topic] } ?? []
        return try PushCredentialRecord(
            file, of: self.id, topics: own + topics.filter { !own.contains($0) },
            environments: self.apns.map { [$0.environment] }, keys: keys, at: now, state: .active)
    }
}
