import Crypto
import Foundation
import NIOSSL
import TidingsModel

struct SimulatorMaterial: Sendable {
    var teamID: String
    var keyID: String
    var publicKeys: [String: P256.Signing.PublicKey]
    var authority: LocalAuthority
    var chain: [NIOSSLCertificate]
    var serverKey: NIOSSLPrivateKey
    var privateKeyPath: String
    var authorityPath: String
    var credentialPath: String
}

struct StateFolder: Sendable {
    let path: String

    private var authorityPath: String { self.file("ca.pem") }
    private var authorityKeyPath: String { self.file("ca.key") }
    private var serverPath: String { self.file("server.pem") }
    private var serverKeyPath: String { self.file("server.key") }
    private var credentialPath: String { self.file("credential.json") }

    init(path: String) {
        self.path = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    private func file(_ name: String) -> String { self.path + "/" + name }

    /// - Throws: `InvalidField` naming the file and the remedy.
    func material(_ configuration: APNsSimulator.Configuration) throws(InvalidField) -> SimulatorMaterial {
        do {
            try FileManager.default.createDirectory(
                atPath: self.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw InvalidField(field: "state_folder", rule: "must be a folder that can be written: \(self.path)")
        }
        try self.makeCertificates(host: configuration.host)
        let (keyID, key) = try self.credential(teamID: configuration.teamID)
        var publicKeys = self.publicKeys()
        publicKeys[keyID] = key.publicKey
        do {
            return SimulatorMaterial(
                teamID: configuration.teamID, keyID: keyID, publicKeys: publicKeys,
                authority: try LocalAuthority(
                    certificate: try String(contentsOfFile: self.authorityPath, encoding: .utf8),
                    key: try String(contentsOfFile: self.authorityKeyPath, encoding: .utf8)),
                chain: try NIOSSLCertificate.fromPEMFile(self.serverPath),
                serverKey: try NIOSSLPrivateKey(file: self.serverKeyPath, format: .pem),
                privateKeyPath: self.keyPath(keyID), authorityPath: self.authorityPath,
                credentialPath: self.credentialPath)
        } catch {
            throw InvalidField(
                field: "state_folder",
                rule: "has an unreadable ca.pem, ca.key, server.pem or server.key; remove all four: \(self.path)")
        }
    }

    private func makeCertificates(host: String) throws(InvalidField) {
        let paths = [self.authorityPath, self.authorityKeyPath, self.serverPath, self.serverKeyPath]
        if paths.allSatisfy({ FileManager.default.fileExists(atPath: $0) }) { return }
        let authority: LocalAuthority.Pair
        let server: LocalAuthority.Pair
        do {
            let made = try LocalAuthority(now: Date())
            (authority, server) = (try made.pair, try made.server(host: host, now: Date()))
        } catch {
            throw InvalidField(field: "host", rule: "must fit into a certificate: \(host): \(error)")
        }
        try self.write(authority.certificate, to: self.authorityPath)
        try self.write(authority.key, to: self.authorityKeyPath)
        try self.write(server.certificate, to: self.serverPath)
        try self.write(server.key, to: self.serverKeyPath)
    }

    func keyPath(_ keyID: String) -> String { self.file("AuthKey_\(keyID).p8") }

    private func publicKeys() -> [String: P256.Signing.PublicKey] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.path)) ?? []
        var keys: [String: P256.Signing.PublicKey] = [:]
        for name in names where name.hasPrefix("AuthKey_") && name.hasSuffix(".p8") {
            let keyID = String(name.dropFirst(8).dropLast(3))
            keys[keyID] = FileManager.default.contents(atPath: self.keyPath(keyID)).flatMap {
                try? P256.Signing.PrivateKey(pemRepresentation: String(decoding: $0, as: UTF8.self)).publicKey
            }
        }
        return keys
    }

    func makeKey(_ keyID: String) throws(InvalidField) -> P256.Signing.PrivateKey {
        let key = P256.Signing.PrivateKey()
        try self.write(key.pemRepresentation + "\n", to: self.keyPath(keyID))
        return key
    }

    /// Ten capital letters and digits, as at Apple's.
    static func newKeyID() -> String {
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        return String((0..<10).map { _ in letters[Int.random(in: letters.indices)] })
    }

    private func credential(teamID: String) throws(InvalidField) -> (keyID: String, P256.Signing.PrivateKey) {
        guard FileManager.default.fileExists(atPath: self.credentialPath) else {
            return try self.makeCredential(teamID)
        }
        let remedy = "remove it to get a new one: \(self.credentialPath)"
        guard let bytes = FileManager.default.contents(atPath: self.credentialPath),
            let json = try? JSONValue(parsing: bytes), let keyID = json["key_id"]?.stringValue,
            let heldTeamID = json["team_id"]?.stringValue, let keyPath = json["p8_path"]?.stringValue
        else { throw InvalidField(field: "credential.json", rule: "cannot be read; \(remedy)") }
        try InvalidField.check(
            heldTeamID == teamID, "team_id", "must be \(heldTeamID) as in credential.json; or \(remedy)")
        // The folder may have been moved: the key beside the credential counts.
        let beside = self.keyPath(keyID)
        let path = FileManager.default.fileExists(atPath: beside) ? beside : keyPath
        guard let text = FileManager.default.contents(atPath: path),
            let key = try? P256.Signing.PrivateKey(pemRepresentation: String(decoding: text, as: UTF8.self))
        else {
            throw InvalidField(field: "credential.json", rule: "names a key that cannot be read: \(path); \(remedy)")
        }
        return (keyID, key)
    }

    private func makeCredential(_ teamID: String) throws(InvalidField) -> (keyID: String, P256.Signing.PrivateKey) {
        let keyID = Self.newKeyID()
        let key = try self.makeKey(keyID)
        let credential = JSONValue.members([
            ("team_id", .string(teamID)), ("key_id", .string(keyID)), ("p8_path", .string(self.keyPath(keyID))),
            ("ca_path", .string(self.authorityPath)),
        ])
        try self.write(credential.text + "\n", to: self.credentialPath)
        return (keyID, key)
    }

    /// Readable by its owner only, whole or not at all.
    private func write(_ text: String, to path: String) throws(InvalidField) {
        let draft = path + ".new"
        let isWritten = FileManager.default.createFile(
            atPath: draft, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        try InvalidField.check(
            isWritten && rename(draft, path) == 0, "state_folder", "must be a folder that can be written: \(path)")
    }
}
