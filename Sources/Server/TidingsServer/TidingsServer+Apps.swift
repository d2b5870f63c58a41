import ServerCore
import StoreModel
import TidingsModel

extension TidingsServer {
    /// Returns the store's apps and operators, with the apps that the configuration adds.
    func prepareApps(
        _ configuration: ServerConfiguration, _ store: MessageStoreAdapter
    ) async throws -> (control: ControlState, registry: AppRegistry) {
        let control = store.opening.control
        let keys = try MasterKeys.load(
            configuration.store, holdsSecrets: control.apps.contains { !$0.secrets.isEmpty }, logger: self.logger)
        return try await AppImport(store: store, logger: self.logger)
            .run(configuration.apps, into: control, keys, at: Clocks.now().wall)
    }

    /// Returns the commands of the socket beside the database.
    func commands(
        _ store: MessageStoreAdapter, _ status: ServerStatus, _ access: ConsoleAccess, _ address: ConsoleAddress,
        _ core: @escaping @Sendable (APICommand) async -> APIResult
    ) -> ControlSocket.Commands {
        let operators = OperatorKeys(registry: access.registry, core: core, audit: self.audit)
        return [
            "backup": { path in
                guard path.hasPrefix("/") else { throw OperatorKeys.Refusal(description: "must be an absolute path") }
                try await status.backUp(to: path, now: { Clocks.now().wall }) { try await store.backUp(to: path) }
                return ""
            },
            "operator": { try await operators.draw(for: $0) },
            "console": { try await operators.drawLink(for: $0, access, address) },
        ]
    }
}
