import APNsClient
import APNsModel
import Logging
import StoreModel
import TidingsModel

/// Before the server starts: makes the apps of the configuration that the store does not have, and says which sections differ from the apps
/// that are there.
struct AppImport {
    let store: any BatchStore
    let logger: Logger

    /// - Returns: the apps and operators that there are then.
    /// - Throws: `ConfigurationFaults` for a section that the store refuses, and for keys that do not open what the store holds.
    func run(
        _ apps: [ServerConfiguration.App], into control: ControlState, _ keys: MasterKeys, at now: Int64
    ) async throws -> (control: ControlState, registry: AppRegistry) {
        var control = control
        let present = try Self.registry(control, keys)
        try Self.checkCredentials(
            of: apps.filter { app in
                present.app(app.id).map { $0.record.pushCredentials.isEmpty } ?? !app.isCredentialAlone
            })
        for app in apps {
            if let known = present.app(app.id) {
                if !app.isCredentialAlone { self.warnOfDifferences(in: app, known, keys) }
                if let changed = try await self.importCredential(of: app, known.record, keys, at: now) {
                    control.put(changed)
                }
            } else if app.isCredentialAlone {
                self.logger.log(
                    .warning, "a push credential of the configuration is of no app",
                    [.app: app.id.rawValue, .advice: "make the app, and upload its credential there"])
            } else {
                control.put(try await self.make(app, keys, at: now))
                self.logger.log(
                    .notice, "an app was made from the configuration",
                    [.app: app.id.rawValue, .advice: "its section is not needed any more"])
            }
        }
        for app in control.apps {
            if let changed = try await self.reseal(app, in: apps, keys, at: now) { control.put(changed) }
        }
        return (control, try Self.registry(control, keys))
    }

    /// Brings all that is kept under the master key that is the first one now, so that the ones before are needed no more.
    ///
    /// - Returns: the app as it is then; nil if nothing had to be done.
    private func reseal(
        _ app: ManagedApp, in sections: [ServerConfiguration.App], _ keys: MasterKeys, at now: Int64
    ) async throws -> ManagedApp? {
        let section = sections.first { $0.id == app.id && !$0.isCredentialAlone }
        guard let change = try keys.reseal(app, section: section) else { return nil }
        let changed = try await self.submit(change, of: app.id, at: now)
        self.logger.log(
            .notice, "an app's secrets are kept under another master key now",
            [.app: app.id.rawValue, .key: keys.sealingKeyID])
        return changed
    }

    static func checkCredentials(of apps: [ServerConfiguration.App]) throws(ConfigurationFaults) {
        var faults: [ConfigurationFault] = []
        for app in apps {
            do throws(ConfigurationFault) { _ = try app.credentialFile() } catch { faults.append(error) }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    }

    private static func registry(_ control: ControlState, _ keys: MasterKeys) throws(ConfigurationFaults) -> AppRegistry
    {
        do throws(MasterKeys.Fault) {
            return try AppRegistry(control, keys: keys)
        } catch {
            throw ConfigurationFaults(
                field: "store.master_key_path", rule: error.rule,
                remedy: "give the file that was there when the secret was made; keys are added to it, never replaced")
        }
    }

    private func warnOfDifferences(in section: ServerConfiguration.App, _ app: AppRegistry.App, _ keys: MasterKeys) {
        let names = section.differences(from: app, keys)
        guard !names.isEmpty else { return }
        self.tellDifference(section.id, names, "use tidings app apply, or drop the section")
    }

    private func tellDifference(_ app: AppID, _ names: [String], _ advice: String) {
        self.logger.log(
            .warning, "the configuration differs from the app; the store wins",
            [.app: app.rawValue, .field: names.joined(separator: ", "), .advice: advice])
    }

    /// - Returns: the app with the credential, if it had none at all; nil if it stays as it is.
    private func importCredential(
        of section: ServerConfiguration.App, _ app: ManagedApp, _ keys: MasterKeys, at now: Int64
    ) async throws -> ManagedApp? {
        guard section.apns != nil else { return nil }
        guard app.pushCredentials.isEmpty else {
            // The file may be gone by now: it is not needed any more.
            let file = try? section.credentialFile()
            if let file, !app.pushCredentials.contains(where: { $0.fingerprint == file.facts.fingerprint }) {
                self.tellDifference(section.id, ["apns"], "upload it as a push credential, or drop apns")
            }
            return nil
        }
        guard let record = try self.credential(of: section, app.settings, keys, at: now) else { return nil }
        _ = try await self.submit(.changePushCredential(section.id, .add(record)), of: section.id, at: now)
        let activate = PushCredentialChange.activate(id: record.id, inPlaceOf: nil, unproven: true)
        return try await self.submit(.changePushCredential(section.id, activate), of: section.id, at: now)
    }

    /// - Parameter settings: of the app, whose topics the key was used for, too.
    private func credential(
        of section: ServerConfiguration.App, _ settings: AppSettings, _ keys: MasterKeys, at now: Int64
    ) throws -> PushCredentialRecord? {
        let file: CredentialFile?
        do throws(ConfigurationFault) {
            file = try section.credentialFile()
        } catch {
            throw ConfigurationFaults([error])
        }
        return try file.map { try section.pushCredential($0, topics: settings.pushTopics, keys, at: now) }
    }

    private func make(
        _ section: ServerConfiguration.App, _ keys: MasterKeys, at now: Int64
    ) async throws -> ManagedApp {
        var record = try section.record(keys, at: now)
        if let credential = try self.credential(of: section, section.settings, keys, at: now) {
            record.pushCredentials = [credential]
        }
        return try await self.submit(.importApp(record), of: section.id, at: now)
    }

    private func submit(
        _ change: ControlChange, of id: AppID, at now: Int64
    ) async throws -> ManagedApp {
        switch await self.store.carryOut(.changeControl(.by(ControlAuthor(.configuration), change), at: now)) {
        case .control(.app(let app)): return app
        case .refused(let problem):
            let names = ["name": "api_keys", "key": "client_keys"]
            let field = names[problem.field] ?? problem.field
            throw ConfigurationFaults(
                field: "app.\(id).\(field)", rule: problem.rule, remedy: "correct the section")
        case .failed(let reason): throw StoreFailure(reason: reason)
        default: throw StoreFailure(reason: "it answered a change of \"\(id)\" with something else")
        }
    }
}
