import APNsTestSupport
import Foundation
import Logging
import Testing
import TidingsModel

@testable import APNsSimulator

/// Runs a body with a started simulator on free ports and a folder that is removed afterwards.
func withSimulator(
    _ change: (inout APNsSimulator.Configuration) -> Void = { _ in },
    _ body: (APNsSimulator.Addresses, APNsSimulator.Configuration) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/apns-simulator-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var configuration = APNsSimulator.Configuration(stateFolder: folder)
    configuration.port = 0
    configuration.courierPort = 0
    configuration.controlPort = 0
    configuration.channelPort = 0
    change(&configuration)
    let simulator = try APNsSimulator(configuration: configuration)
    let addresses = try await simulator.start()
    do {
        try await body(addresses, configuration)
    } catch {
        await simulator.stop()
        throw error
    }
    await simulator.stop()
}

let testTimeLimit = TimeLimitTrait.Duration.minutes(5)

@Suite(.timeLimit(testTimeLimit)) struct `A simulator` {
    @Test func `writes what a provider needs, and uses it again at the next start`() async throws {
        try await withSimulator { first, configuration in
            let bytes = try #require(FileManager.default.contents(atPath: first.credentialPath))
            let credential = try JSONValue(parsing: bytes)
            #expect(credential["team_id"]?.stringValue == first.teamID)
            #expect(credential["key_id"]?.stringValue == first.keyID)
            #expect(credential["p8_path"]?.stringValue == first.privateKeyPath)
            #expect(credential["ca_path"]?.stringValue == first.authorityPath)
            #expect(first.privateKeyPath.hasSuffix("/AuthKey_\(first.keyID).p8"))
            let key = FileManager.default.contents(atPath: first.privateKeyPath)
            #expect(key.map { String(decoding: $0, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----") } == true)
            let mode = try FileManager.default.attributesOfItem(atPath: first.privateKeyPath)[.posixPermissions]
            #expect(mode as? Int == 0o600)

            let authority = FileManager.default.contents(atPath: first.authorityPath)
            let again = try APNsSimulator(configuration: configuration)
            let second = try await again.start()
            await again.stop()
            #expect(second.keyID == first.keyID)
            #expect(FileManager.default.contents(atPath: second.authorityPath) == authority)
        }
    }

    @Test func `names the option or file that stops it`() async throws {
        func fault(_ configuration: APNsSimulator.Configuration) async -> String? {
            do {
                let simulator = try APNsSimulator(configuration: configuration)
                _ = try await simulator.start()
                await simulator.stop()
                return nil
            } catch {
                return (error as? InvalidField)?.field
            }
        }
        try await withSimulator { addresses, good in
            func changed(_ change: (inout APNsSimulator.Configuration) -> Void) async -> String? {
                var configuration = good
                change(&configuration)
                return await fault(configuration)
            }
            #expect(await changed { _ in } == nil)
            #expect(await changed { $0.port = addresses.port } == "port")
            #expect(await changed { $0.productionPort = addresses.port } == "production_port")
            #expect(await changed { $0.courierPort = addresses.port } == "courier_port")
            #expect(await changed { $0.channelPort = addresses.port } == "channel_port")
            #expect(await changed { $0.productionChannelPort = addresses.port } == "production_channel_port")
            #expect(await changed { $0.roundTripMilliseconds = -1 } == "rtt_ms")
            #expect(await changed { $0.bandwidthKilobits = 0 } == "bandwidth_kbit")
            #expect(await changed { $0.idleSeconds = 0 } == "idle_seconds")
            #expect(await changed { $0.devicePushesPerHour = 0 } == "device_rate.per_hour")
            #expect(await changed { $0.stateDatabase = addresses.authorityPath } == "state_db")
            #expect(await changed { $0.faultsFile = good.stateFolder + "/missing.json" } == "faults")
            #expect(await changed { $0.faultsFile = addresses.credentialPath } == "faults.team_id")
            #expect(await changed { $0.controlPort = addresses.port } == "control_port")
            #expect(await changed { $0.port = 70_000 } == "port")
            #expect(await changed { $0.teamID = "short" } == "team_id")
            #expect(await changed { $0.teamID = "OTHERTEAM1" } == "team_id")
            #expect(await changed { $0.topics = [] } == "topics")
            #expect(await changed { $0.topics = ["com.example.chat", "com example"] } == "topics[1]")
            #expect(await changed { $0.topics = ["com.example.chat.voip"] } == "topics[0]")
            #expect(await changed { $0.stateFolder = addresses.authorityPath } == "state_folder")
            let broken = good.stateFolder + "/broken"
            try FileManager.default.createDirectory(atPath: broken, withIntermediateDirectories: true)
            try "{}".write(toFile: broken + "/credential.json", atomically: true, encoding: .utf8)
            #expect(await changed { $0.stateFolder = broken } == "credential.json")
        }
    }
}

@Suite(.timeLimit(testTimeLimit)) struct `A phone at the courier` {
    private static let register =
        #"{"type":"register","id":7,"topic":"com.example.chat","environment":"sandbox"}"# + "\n"

    @Test func `is greeted, gets one token, and is told what it did wrong`() async throws {
        try await withSimulator { addresses, _ in
            let phone = try await LineSocket.connect(port: addresses.courierPort)
            try await phone.write(Self.register)
            #expect(try await phone.next() == ["type": "error", "field": "type", "rule": "must be hello first"])
            try await phone.write(#"{"type":"hello","phone":"alice"}"# + "\n")
            #expect(try await phone.next() == ["type": "welcome"])
            // Two requests in one segment, the second in two.
            try await phone.write(Self.register + String(Self.register.prefix(20)))
            let registered = try #require(try await phone.next())
            #expect(registered["id"] == 7)
            #expect(registered["topic"] == "com.example.chat")
            #expect(registered["token"]?.stringValue?.utf8.count == 64)
            try await phone.write(String(Self.register.dropFirst(20)))
            #expect(try await phone.next() == registered)
            try await phone.write("hello\n")
            #expect(try await phone.next()?["field"] == "line")
            try await phone.write(String(repeating: "x", count: 5_000))
            #expect(try await phone.next()?["field"] == "line")
            #expect(try await phone.next() == nil)
        }
    }

    @Test func `is told that another with its id has taken its place`() async throws {
        try await withSimulator { addresses, _ in
            let hello = #"{"type":"hello","phone":"alice"}"# + "\n"
            let first = try await LineSocket.connect(port: addresses.courierPort)
            try await first.write(hello)
            #expect(try await first.next() == ["type": "welcome"])
            let second = try await LineSocket.connect(port: addresses.courierPort)
            try await second.write(hello)
            #expect(try await second.next() == ["type": "welcome"])
            let told = try #require(try await first.next())
            #expect(told["field"] == "phone")
            #expect(told["rule"]?.stringValue?.hasPrefix("must be the id of one phone") == true)
            #expect(try await first.next() == nil)
        }
    }

    @Test func `is listed with its token, which the operator can end`() async throws {
        try await withSimulator { addresses, _ in
            let phone = try await LineSocket.connect(port: addresses.courierPort)
            try await phone.write(#"{"type":"hello","phone":"alice"}"# + "\n" + Self.register)
            _ = try await phone.next()
            let token = try #require(try await phone.next()?["token"]?.stringValue)
            func devices() async throws -> JSONValue {
                let (status, json) = try await LineSocket.http("GET", "/devices", port: addresses.controlPort)
                #expect(status == 200)
                return json
            }
            let listed = try #require(try await devices().arrayValue?.first)
            #expect(listed["token"]?.stringValue == token)
            #expect(listed["phone"] == "alice")
            #expect(listed["connected"] == true)
            #expect(listed["retired_ms"] == .null)
            let path = "/devices/\(token)/retire"
            #expect(try await LineSocket.http("POST", path, port: addresses.controlPort).0 == 200)
            #expect(try await devices().arrayValue?.first?["retired_ms"]?.intValue != nil)
            let (status, problem) = try await LineSocket.http("POST", path, port: addresses.controlPort)
            #expect(status == 404)
            #expect(problem["field"] == "token")
        }
    }
}
