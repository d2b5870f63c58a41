import StoreModel
import Testing
import TidingsModel

@Suite struct `A client key` {
    private static let secret = SealedBytes(keyID: "m1", bytes: [1, 2, 3])

    private static func key(_ number: Int, _ name: String = "ios") -> ClientKeyRecord {
        ClientKeyRecord(id: "pk_0123456789abcdef\(number)", name: name, createdAt: 5)
    }

    private static func add(_ key: ClientKeyRecord, to app: AppID = "shop", _ secret: SealedBytes = secret)
        -> ControlChange
    { .addClientKey(app, key, installationSecret: secret) }

    private static func revoke(_ number: Int) -> ControlChange { .revokeClientKey("shop", key: Self.key(number).id) }

    private static func state() throws -> ControlState {
        var state = ControlState()
        for id: AppID in ["shop", "club"] {
            _ = try state.apply(
                .createApp(id, AppSettings(), TokenSecret(id: "s1", sealed: Self.secret, createdAt: 1)), at: 1)
        }
        return state
    }

    private static func refusal(_ state: inout ControlState, _ change: ControlChange) -> String? {
        let before = state
        do throws(ServerFrame.Problem) {
            _ = try state.apply(change, at: 10)
            return nil
        } catch {
            #expect(state == before)
            return "\(error.code.rawValue) \(error.field)"
        }
    }

    @Test func `is its app's from when it is added until it is revoked, and is told still`() throws {
        var state = try Self.state()
        #expect(state.app(ofClientKey: Self.key(1).id) == nil)
        _ = try state.apply(Self.add(Self.key(1)), at: 10)
        #expect(state.app(ofClientKey: Self.key(1).id) == "shop")
        #expect(state[app: "shop"]?.revision == 2)
        _ = try state.apply(Self.revoke(1), at: 20)
        #expect(state.app(ofClientKey: Self.key(1).id) == nil)
        var revoked = Self.key(1)
        revoked.revokedAt = 20
        #expect(state[app: "shop"]?.clientKeys == [revoked])
        // Once is enough.
        _ = try state.apply(Self.revoke(1), at: 30)
        #expect(state[app: "shop"]?.clientKeys == [revoked])
        #expect(state[app: "shop"]?.revision == 3)
    }

    @Test func `brings the secret of the app's anonymous people, which stays whatever becomes of keys`() throws {
        var state = try Self.state()
        #expect(state[app: "shop"]?.installationSecret == nil)
        _ = try state.apply(Self.add(Self.key(1)), at: 10)
        _ = try state.apply(Self.revoke(1), at: 10)
        _ = try state.apply(Self.add(Self.key(2), SealedBytes(keyID: "m2", bytes: [9])), at: 10)
        #expect(state[app: "shop"]?.installationSecret == Self.secret)
        #expect(state[app: "club"]?.installationSecret == nil)
        let other = SealedBytes(keyID: "m2", bytes: [7])
        _ = try state.apply(
            .reseal("shop", [Resealed(.installationSecret, before: Self.secret, after: other)], digest: nil), at: 10)
        #expect(state[app: "shop"]?.installationSecret == other)
        _ = try state.apply(
            .reseal("shop", [Resealed(.installationSecret, before: Self.secret, after: Self.secret)], digest: nil),
            at: 10)
        #expect(state[app: "shop"]?.installationSecret == other)
    }

    @Test func `is refused with what breaks its rule, and then nothing changes`() throws {
        var state = try Self.state()
        _ = try state.apply(Self.add(Self.key(1)), at: 10)
        _ = try state.apply(Self.add(Self.key(2, "old")), at: 10)
        _ = try state.apply(Self.revoke(2), at: 10)
        let long = String(repeating: "a", count: 62)
        let changes: [(ControlChange, String)] = [
            (Self.add(Self.key(3)), "exists name"), (Self.add(Self.key(1, "new")), "exists key"),
            // Whose it is, is nobody's business; nor does one come back.
            (Self.add(Self.key(1, "new"), to: "club"), "exists key"),
            (Self.add(Self.key(2, "new"), to: "club"), "exists key"),
            (Self.add(Self.key(2, "new")), "exists key"), (Self.add(Self.key(3, "a b")), "invalid_field name"),
            (Self.add(ClientKeyRecord(id: "pk_short", name: "new", createdAt: 1)), "invalid_field key"),
            (Self.add(ClientKeyRecord(id: "tk_0123456789abcdef", name: "new", createdAt: 1)), "invalid_field key"),
            (Self.add(ClientKeyRecord(id: "pk_0123456789abcde/", name: "new", createdAt: 1)), "invalid_field key"),
            (Self.add(ClientKeyRecord(id: "pk_\(long)", name: "new", createdAt: 1)), "invalid_field key"),
            (
                Self.add(Self.key(3, "new"), SealedBytes(keyID: "", bytes: [1])),
                "invalid_field installation_secret.key"
            ),
            (Self.add(Self.key(3), to: "gone"), "invalid_field app"), (Self.revoke(9), "invalid_field key"),
        ]
        for (change, answer) in changes { #expect(Self.refusal(&state, change) == answer, "\(change)") }
        // The name of one that is revoked is free again.
        #expect(Self.refusal(&state, Self.add(Self.key(3, "old"))) == nil)
    }

    @Test func `is one of sixteen that are good, and of sixteen that were`() throws {
        var state = try Self.state()
        for number in 100..<116 { _ = try state.apply(Self.add(Self.key(number, "k\(number)")), at: 10) }
        #expect(Self.refusal(&state, Self.add(Self.key(200))) == "invalid_field client_keys")
        for number in 100..<116 { _ = try state.apply(Self.revoke(number), at: Int64(number)) }
        _ = try state.apply(Self.add(Self.key(200)), at: 10)
        _ = try state.apply(Self.revoke(200), at: 200)
        let kept = state[app: "shop"]?.clientKeys.map(\.id)
        #expect(kept == ((101..<116) + [200]).map { Self.key($0).id })
    }

    @Test func `comes with an app that is imported, if there is a secret, too`() throws {
        var state = ControlState()
        var app = ManagedApp(
            id: "shop", secrets: [TokenSecret(id: "s1", sealed: Self.secret, createdAt: 1)], createdAt: 1)
        app.clientKeys = [Self.key(1), Self.key(2, "beta")]
        #expect(Self.refusal(&state, .importApp(app)) == "invalid_field installation_secret")
        app.installationSecret = Self.secret
        #expect(Self.refusal(&state, .importApp(app)) == nil)
        #expect(state[app: "shop"] == app)
        app.id = "club"
        #expect(Self.refusal(&state, .importApp(app)) == "exists key")
    }

    @Test func `comes back the same from what a store keeps`() throws {
        var state = try Self.state()
        let without = try #require(state[app: "shop"])
        #expect(without.json["client_keys"] == nil && without.json["installation_secret"] == nil)
        _ = try state.apply(Self.add(Self.key(1)), at: 10)
        _ = try state.apply(Self.add(Self.key(2, "beta")), at: 11)
        _ = try state.apply(Self.revoke(1), at: 12)
        let app = try #require(state[app: "shop"])
        #expect(try ManagedApp(line: app.json.serialized) == app)
    }
}
