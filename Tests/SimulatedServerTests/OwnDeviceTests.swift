import ServerCore
import SimulatedServer
import StoreModel
import Testing
import TidingsModel

/// Two apps with people of the same names, and devices of which some have the same id.
@Suite struct `A person's devices` {
    private static let start = Now(monotonic: 0, wall: 1_767_225_600_000)
    private static let people: [(key: UserKey, devices: [DeviceID])] = [
        (UserKey(app: "one", user: "alice"), ["phone", "pad"]), (UserKey(app: "one", user: "bob"), ["phone", "watch"]),
        (UserKey(app: "two", user: "alice"), ["phone", "desk"]),
    ]

    /// A server with all of them connected; the token is `app/user`.
    private static func everybody() -> (server: SimulatedServer, sessions: [DeviceKey: SessionID]) {
        let server = SimulatedServer(at: Self.start) { token, now in
            let parts = token.split(separator: "/").map(String.init)
            let user = UserKey(app: AppID(parts[0]), user: UserID(parts[1]))
            return .valid(CheckedToken(user: user, expiresAt: 1 << 53), extensionToken: String(now.wall))
        }
        var sessions: [DeviceKey: SessionID] = [:]
        for (user, devices) in Self.people {
            for device in devices {
                let session = SessionID(UInt64(sessions.count + 1))
                sessions[DeviceKey(user: user, device: device)] = session
                let hello = ClientFrame.Hello(
                    versions: 1...1, token: "\(user.app)/\(user.user)", device: device, platform: "ios",
                    runState: .foreground, after: 0)
                _ = server.receive(.hello(hello), on: session, at: Self.start)
            }
        }
        return (server, sessions)
    }

    private static func answer(_ outputs: [SimulatedServer.Output]) -> ClientAnswer? {
        outputs.lazy.compactMap {
            if case .write(_, .answer(_, let answer)) = $0 { answer } else { nil }
        }.first
    }

    @Test func `are seen and signed out by nobody else, in no app`() throws {
        let everything: [DeviceID] = ["phone", "pad", "watch", "desk", "nowhere"]
        for (user, own) in Self.people {
            let (server, sessions) = Self.everybody()
            let session = try #require(sessions[DeviceKey(user: user, device: own[0])])
            guard
                case .devices(let devices)? = Self.answer(
                    server.receive(.request(1, .devices), on: session, at: Self.start))
            else {
                Issue.record("no devices")
                return
            }
            #expect(devices.map(\.id) == own.sorted())
            for device in everything where device != own[1] {
                let outputs = server.receive(.request(2, .signOutDevice(device)), on: session, at: Self.start)
                guard case .refused(let problem)? = Self.answer(outputs) else {
                    Issue.record("\(user) was not refused \(device)")
                    return
                }
                #expect(problem.field == "device")
                #expect(outputs.count == 1, "\(user) reached \(device): \(outputs)")
            }
            let outputs = server.receive(.request(3, .signOutDevice(own[1])), on: session, at: Self.start)
            #expect(Self.answer(outputs) == .done(0))
            let other = try #require(sessions[DeviceKey(user: user, device: own[1])])
            let closed = outputs.compactMap { if case .close(let session) = $0 { session } else { nil } }
            #expect(closed == [other])
        }
    }
}
