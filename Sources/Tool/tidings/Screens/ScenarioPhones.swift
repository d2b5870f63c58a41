import APNsSimulator
import Foundation
import Logging
import PhoneCore
import PhoneTerminal
import ScenarioCore
import VirtualPhone

/// Runs the cases of scenarios with an app's own code: each on a phone of its own, as `tidings phone` has it, in processes and in real
/// time.
final class ScenarioPhones {
    /// For the phones of cases without a server; started for the first of them.
    private var apns: (simulator: APNsSimulator, folder: TemporaryFolder, courierPort: Int)?
    /// No two phones have one name at the local APNs.
    private var phones = 0

    /// Runs a case.
    ///
    /// - Throws: `ScenarioProblem` if the file names an executable that is not there.
    func run(_ one: ScenarioCase, of path: String) async throws(ScenarioProblem) -> CaseResult {
        guard let code = one.code else { return one.run() }
        let app = try Self.find(code.app, from: path, key: "executable")
        var serviceExtension: String?
        if let named = code.serviceExtension {
            serviceExtension = try Self.find(named, from: path, key: "extension")
        }
        do {
            return try await self.run(one, code, executable: app, serviceExtension: serviceExtension)
        } catch {
            let difference = Difference(
                position: one.position, key: "start", expected: ["a phone with the app"], actual: ["\(error)"],
                differing: [0])
            return CaseResult(one, differences: [difference])
        }
    }

    func close() async {
        await self.apns?.simulator.stop()
        self.apns?.folder.remove()
        self.apns = nil
    }

    /// From the file's folder; a name without a slash also beside the tool.
    private static func find(
        _ named: OwnCode.Executable, from path: String, key: String
    ) throws(ScenarioProblem) -> String {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        var candidates = [URL(fileURLWithPath: named.path, relativeTo: folder).standardizedFileURL.path]
        if !named.path.contains("/") {
            let tool = URL(fileURLWithPath: ownExecutable()).deletingLastPathComponent()
            candidates.append(tool.appendingPathComponent(named.path).path)
        }
        if let found = candidates.first(where: Self.isExecutableFile) { return found }
        throw ScenarioProblem(
            position: named.position,
            message: "\(key) must be an executable file, and there is none at \(candidates.joined(separator: " or "))")
    }

    private static func isExecutableFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return false }
        return !isFolder.boolValue && FileManager.default.isExecutableFile(atPath: path)
    }

    private func run(
        _ one: ScenarioCase, _ code: OwnCode, executable: String, serviceExtension: String?
    ) async throws -> CaseResult {
        let folder = try TemporaryFolder("scenario-phone")
        return try await withCleanUp({ folder.remove() }) {
            let topic = one.app.installed.bundleID.rawValue
            var server: ScenarioServer?
            if let setup = code.server { server = try await ScenarioServer.start(setup, topic: topic) }
            return try await withCleanUp({ await server?.stop() }) {
                let courier = if let server { server.courierPort } else { try await self.ownCourierPort() }
                var app = PhoneHost.App(
                    installed: one.app.installed, executable: executable, extensionExecutable: serviceExtension)
                for (name, text) in code.environment { app.environment[name] = try Self.fill(text, server) }
                let host = try PhoneHost(configuration: self.configuration(one, app, courier, folder.path))
                try await host.start()
                return try await withCleanUp({ await host.stop() }) {
                    var play = CasePlay(one, code, on: host, server: server, folder: folder.path)
                    return await play.run()
                }
            }
        }
    }

    static func fill(_ text: String, _ server: ScenarioServer?) throws -> String {
        guard let server else { return text }
        return try ServerWords.fill(text) { try server.value(of: $0) }
    }

    private func configuration(
        _ one: ScenarioCase, _ app: PhoneHost.App, _ courierPort: Int, _ folder: String
    ) -> PhoneHost.Configuration {
        self.phones += 1
        let answers: Bool? =
            switch one.phone.authorization {
            case .authorized, .provisional, .ephemeral: true
            case .denied: false
            case .notDetermined: nil
            }
        var configuration = PhoneHost.Configuration(
            phoneID: "phone-\(self.phones)", osVersion: one.phone.version, folder: "\(folder)/phone",
            courier: PhoneHost.Endpoint(host: "127.0.0.1", port: courierPort), apps: [app],
            settings: one.phone.settings, answersPrompts: answers)
        configuration.picture = PhoneTerminal.picture(screen:views:columns:rows:)
        return configuration
    }

    private func ownCourierPort() async throws -> Int {
        if let apns = self.apns { return apns.courierPort }
        let folder = try TemporaryFolder("scenario-apns")
        do {
            var configuration = APNsSimulator.Configuration(stateFolder: "\(folder.path)/apns-state")
            configuration.port = 0
            configuration.channelPort = 0
            configuration.courierPort = 0
            configuration.controlPort = 0
            // What it would say is not the scenario's.
            let logger = Logger(label: "tidings.apns") { _ in SwiftLogNoOpLogHandler() }
            let simulator = try APNsSimulator(configuration: configuration, logger: logger)
            let addresses = try await simulator.start()
            self.apns = (simulator, folder, addresses.courierPort)
            return addresses.courierPort
        } catch {
            folder.remove()
            throw error
        }
    }
}
