import StoreMachine
import StoreModel
import Testing
import TidingsModel

private let adasPhone = DeviceKey(user: UserKey(app: "shop", user: "ada"), device: "phone")
private let bosPad = DeviceKey(user: UserKey(app: "shop", user: "bo"), device: "pad")
private let clubPhone = DeviceKey(user: UserKey(app: "club", user: "ada"), device: "phone")
private let registration = PushRegistration(token: "ab12", environment: .production, topic: "com.example.voip")

@Suite struct `A token for calls in the store` {
    private static func opened() throws -> MemoryStore {
        let store = MemoryStore()
        _ = store.open()
        for device in [adasPhone, bosPad, clubPhone] {
            _ = try store.apply(.signIn(device, platform: "ios", at: 1), epoch: 1)
        }
        return store
    }

    private static func token(of key: DeviceKey, in store: MemoryStore) throws -> VoIPToken? {
        guard case .user(let record) = try store.apply(.loadUser(key.user), epoch: 1) else { return nil }
        return record.devices.first { $0.key == key }?.voIP
    }

    @Test func `is the device's beside its other token`() throws {
        let store = try Self.opened()
        let other = PushRegistration(token: "cd34", environment: .production, topic: "com.example")
        _ = try store.apply(.setPushState(adasPhone, .registered(other, at: 2)), epoch: 1)
        #expect(try store.apply(.setVoIPToken(adasPhone, VoIPToken(registration, at: 3)), epoch: 1) == .done)
        #expect(try Self.token(of: adasPhone, in: store) == VoIPToken(registration, at: 3))
        guard case .user(let record) = try store.apply(.loadUser(adasPhone.user), epoch: 1) else { return }
        #expect(record.devices.map(\.push) == [.registered(other, at: 2)])
        _ = try store.apply(.setPushState(adasPhone, .none), epoch: 1)
        #expect(try Self.token(of: adasPhone, in: store) != nil)
        #expect(try store.apply(.setVoIPToken(adasPhone, nil), epoch: 1) == .done)
        #expect(try Self.token(of: adasPhone, in: store) == nil)
    }

    @Test func `is taken from every other device of the app, for topic and environment`() throws {
        let store = try Self.opened()
        _ = try store.apply(.setVoIPToken(adasPhone, VoIPToken(registration, at: 3)), epoch: 1)
        _ = try store.apply(.setVoIPToken(clubPhone, VoIPToken(registration, at: 3)), epoch: 1)
        #expect(try store.apply(.setVoIPToken(bosPad, VoIPToken(registration, at: 4)), epoch: 1) == .taken([adasPhone]))
        #expect(try Self.token(of: adasPhone, in: store) == nil)
        #expect(try Self.token(of: clubPhone, in: store) != nil)
        var sandbox = registration
        sandbox.environment = .sandbox
        #expect(try store.apply(.setVoIPToken(adasPhone, VoIPToken(sandbox, at: 5)), epoch: 1) == .done)
        #expect(try Self.token(of: bosPad, in: store) != nil)
    }

    @Test func `is not cleared by what APNs says of another`() throws {
        let store = try Self.opened()
        _ = try store.apply(.setVoIPToken(adasPhone, VoIPToken(registration, at: 3)), epoch: 1)
        var old = registration
        old.token = "0000"
        #expect(try store.apply(.setVoIPToken(adasPhone, nil, about: old), epoch: 1) == .done)
        #expect(try Self.token(of: adasPhone, in: store) != nil)
        #expect(try store.apply(.setVoIPToken(adasPhone, nil, about: registration), epoch: 1) == .done)
        #expect(try Self.token(of: adasPhone, in: store) == nil)
    }

    @Test func `outlives a sign-in and ends with a sign-out`() throws {
        let store = try Self.opened()
        _ = try store.apply(.setVoIPToken(adasPhone, VoIPToken(registration, at: 3)), epoch: 1)
        _ = try store.apply(.signIn(adasPhone, platform: "ios", at: 4), epoch: 1)
        #expect(try Self.token(of: adasPhone, in: store) != nil)
        _ = try store.apply(.signOut(adasPhone, at: 5), epoch: 1)
        #expect(try Self.token(of: adasPhone, in: store) == nil)
        #expect(try store.apply(.setVoIPToken(adasPhone, VoIPToken(registration, at: 6)), epoch: 1) == .done)
        #expect(try Self.token(of: adasPhone, in: store) == nil)
        _ = try store.apply(.signIn(adasPhone, platform: "ios", at: 7), epoch: 1)
        #expect(try Self.token(of: adasPhone, in: store) == nil)
    }

    @Test func `of an unknown device is refused`() throws {
        let store = try Self.opened()
        let unknown = DeviceKey(user: adasPhone.user, device: "none")
        guard case .refused = try store.apply(.setVoIPToken(unknown, nil), epoch: 1) else {
            Issue.record("not refused")
            return
        }
    }
}
