import Foundation
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `A sealed secret` {
    private static let first = MasterKeys.drawLine(id: "1")
    private static let second = MasterKeys.drawLine(id: "2")

    private func opened(_ sealed: SealedBytes, by text: String, app: AppID = "shop", id: String = "s1") -> String? {
        try? MasterKeys(parsing: text).unseal(sealed, of: app, id: id)
    }

    @Test func `opens with its key in its own place, and shows nothing of what it is`() throws {
        let keys = try MasterKeys(parsing: Self.first)
        let sealed = try keys.seal("a secret", of: "shop", id: "s1")
        #expect(sealed.keyID == "1")
        #expect(self.opened(sealed, by: Self.first) == "a secret")
        #expect(!String(decoding: sealed.bytes, as: UTF8.self).contains("secret"))
        // The same secret looks another way each time.
        #expect(try keys.seal("a secret", of: "shop", id: "s1") != sealed)
    }

    @Test func `is refused in the place of another, and when a bit of it has changed`() throws {
        let sealed = try MasterKeys(parsing: Self.first).seal("a secret", of: "shop", id: "s1")
        #expect(self.opened(sealed, by: Self.first, app: "mail") == nil)
        #expect(self.opened(sealed, by: Self.first, id: "s2") == nil)
        for index in sealed.bytes.indices {
            var bent = sealed
            bent.bytes[index] ^= 1
            #expect(self.opened(bent, by: Self.first) == nil, "byte \(index)")
        }
        #expect(self.opened(SealedBytes(keyID: "1", bytes: []), by: Self.first) == nil)
        let keys = try MasterKeys(parsing: Self.first)
        #expect(throws: MasterKeys.Fault.self) { try keys.unseal(sealed, .pushCredential, of: "shop", id: "s1") }
    }

    @Test func `names app, secret and key when the key is missing or another one`() throws {
        let sealed = try MasterKeys(parsing: Self.first).seal("a secret", of: "shop", id: "s1")
        let without = try MasterKeys(parsing: Self.second)
        #expect(
            throws: MasterKeys.Fault(
                rule: "must hold the key \"1\", under which the token secret \"s1\" of \"shop\" is kept")
        ) { try without.unseal(sealed, of: "shop", id: "s1") }
        let wrong = try MasterKeys(parsing: MasterKeys.drawLine(id: "1"))
        #expect(
            throws: MasterKeys.Fault(
                rule:
                    "must hold another key \"1\": with this one the token secret \"s1\" of \"shop\" cannot be opened")
        ) { try wrong.unseal(sealed, of: "shop", id: "s1") }
    }

    @Test func `still opens when another key is put before its own, and the new one seals`() throws {
        let old = try MasterKeys(parsing: Self.first).seal("a secret", of: "shop", id: "s1")
        let both = Self.second + Self.first
        #expect(self.opened(old, by: both) == "a secret")
        #expect(try MasterKeys(parsing: both).seal("another", of: "shop", id: "s2").keyID == "2")
    }
}

@Suite struct `Master keys` {
    private static let bytes = Data(repeating: 7, count: 32).base64EncodedString()

    private static let form = "must hold in each line an id, a space and 32 bytes in Base64"

    @Test func `are lines, or stand with semicolons between`() throws {
        let both = "new \(Self.bytes)\nold \(Data(repeating: 8, count: 32).base64EncodedString())\n\n"
        for text in [both, both.replacing("\n", with: ";"), both.replacing("\n", with: "\r\n")] {
            let keys = try MasterKeys(parsing: text)
            #expect(try keys.seal("x", of: "shop", id: "s").keyID == "new")
        }
    }

    @Test(arguments: [
        ("", "must hold 1 to 16 keys, got 0"), ("1", Self.form), ("1 \(Self.bytes) 2", Self.form),
        ("1 AAAA", Self.form),
        ("é \(Self.bytes)", Self.form), ("\(String(repeating: "x", count: 33)) \(Self.bytes)", Self.form),
        ("1 not/base64*", Self.form), ("1 \(Self.bytes);1 \(Self.bytes)", "must not name \"1\" twice"),
        ((1...17).map { "\($0) \(Self.bytes)" }.joined(separator: ";"), "must hold 1 to 16 keys, got 17"),
    ])
    func `are refused in any other form`(text: String, rule: String) {
        #expect(throws: MasterKeys.Fault(rule: rule)) { try MasterKeys(parsing: text) }
    }

    @Test func `know the digests they have made, also after another was put before them`() throws {
        let old = try MasterKeys(parsing: "1 \(Self.bytes)")
        let digest = old.digest(of: [1, 2, 3])
        #expect(digest.count == 32)
        let line = MasterKeys.drawLine(id: "2")
        #expect(try MasterKeys(parsing: line + "1 \(Self.bytes)").isDigest(digest, of: [1, 2, 3]))
        #expect(try !MasterKeys(parsing: line).isDigest(digest, of: [1, 2, 3]))
        #expect(!old.isDigest(digest, of: [1, 2, 4]))
    }
}

@Suite struct `The file of the master keys` {
    private func load(
        _ store: ServerConfiguration.Store, holdsSecrets: Bool = false, _ log: LineLog = LineLog()
    ) -> (keys: MasterKeys?, faults: [String]) {
        do {
            return (try MasterKeys.load(store, holdsSecrets: holdsSecrets, logger: log.logger), [])
        } catch {
            return (nil, error.faults.map { "\($0.field) \($0.rule)" })
        }
    }

    private func store(_ folder: String, path: String = "") -> ServerConfiguration.Store {
        var store = ServerConfiguration.Store()
        store.path = folder + "/server.sqlite"
        store.masterKeyPath = path
        return store
    }

    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test func `is made beside the database at the first start, for the server's user alone, and told of`() async throws
    {
        try await TestServer.withFolder { folder in
            let log = LineLog()
            let first = try #require(self.load(self.store(folder), log).keys)
            let path = folder + "/server.sqlite.key"
            #expect(try self.mode(path) == 0o600)
            #expect(log.lines.count == 1)
            #expect(log.lines[0].contains("a master key was made") && log.lines[0].contains("apart from the backups"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["server.sqlite.key"])

            let sealed = try first.seal("x", of: "shop", id: "s")
            let second = try #require(self.load(self.store(folder), holdsSecrets: true, log).keys)
            #expect(try second.unseal(sealed, of: "shop", id: "s") == "x")
            #expect(log.lines.count == 1)
        }
    }

    @Test func `must be there once the store holds secrets`() async throws {
        try await TestServer.withFolder { folder in
            #expect(
                self.load(self.store(folder), holdsSecrets: true).faults == [
                    "store.master_key_path must be there: the store's secrets are sealed under the keys of \"\(folder)/server.sqlite.key\""
                ])
            let made = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(made == [])
        }
    }

    @Test func `is not made where one was named`() async throws {
        try await TestServer.withFolder { folder in
            #expect(
                self.load(self.store(folder, path: folder + "/keys")).faults == [
                    "store.master_key_path must name a file, got \"\(folder)/keys\""
                ])
        }
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o644])
    func `is refused if others may read it`(mode: Int) async throws {
        try await TestServer.withFolder { folder in
            let path = folder + "/keys"
            try MasterKeys.drawLine(id: "1").write(toFile: path, atomically: true, encoding: .utf8)
            chmod(path, mode_t(mode))
            #expect(
                self.load(self.store(folder, path: path)).faults == [
                    "store.master_key_path must name a file for the server's user alone, but \"\(path)\" has the mode \(String(mode, radix: 8))"
                ])
            chmod(path, 0o400)
            #expect(self.load(self.store(folder, path: path)).keys != nil)
        }
    }

    @Test func `is refused if it holds something else, and named`() async throws {
        try await TestServer.withFolder { folder in
            let path = folder + "/keys"
            try "1 abc".write(toFile: path, atomically: true, encoding: .utf8)
            chmod(path, 0o600)
            #expect(
                self.load(self.store(folder, path: path)).faults == [
                    "store.master_key_path must hold in each line an id, a space and 32 bytes in Base64 (in \"\(path)\")"
                ])
        }
    }

    @Test func `is not looked at where the environment has the keys`() async throws {
        try await TestServer.withFolder { folder in
            var store = self.store(folder, path: "/nonexistent")
            store.masterKeys = Secret(MasterKeys.drawLine(id: "env"))
            let keys = try #require(self.load(store).keys)
            #expect(try keys.seal("x", of: "shop", id: "s").keyID == "env")
            store.masterKeys = Secret("nonsense")
            #expect(
                self.load(store).faults == [
                    "TIDINGS_MASTER_KEY must hold in each line an id, a space and 32 bytes in Base64"
                ])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }
}
