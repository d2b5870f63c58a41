import Foundation
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
        for app in apps where !app.isCredentialAlone {
            if let known = present.app(app.id) {
                self.warnOfDifferences(in: app, known, keys)
            } else {
                control.put(try await self.make(app, keys, at: now))
                self.logger.log(
                    .notice, "an app was made from the configuration",
                    [.app: app.id.rawValue, .advice: "its section is not needed any more but for apns"])
            }
        }
        return (control, try Self.registry(control, keys))
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
        self.logger.log(
            .warning, "the configuration differs from the app; the store wins",
            [
                .app: section.id.rawValue, .field: names.joined(separator: ", "),
                .advice: "use tidings app apply, or drop the section",
            ])
    }

    private func make(
        _ section: ServerConfiguration.App, _ keys: MasterKeys, at now: Int64
    ) async throws -> ManagedApp {
        let change = ControlChange.importApp(try section.record(keys, at: now))
        let store = self.store
        let results = await withCheckedContinuation { continuation in
            store.submit([.changeControl(change, at: now)]) { continuation.resume(returning: $0) }
        }
        switch results.first {
        case .control(.app(let app))?: return app
        case .refused(let problem)?:
            let field = problem.field == "name" ? "api_keys" : problem.field
            throw ConfigurationFaults(
                field: "app.\(section.id).\(field)", rule: problem.rule, remedy: "correct the section")
        case .failed(let reason)?: throw StoreFailure(reason: reason)
        default: throw StoreFailure(reason: "it answered the import of \"\(section.id)\" with something else")
        }
    }
}
