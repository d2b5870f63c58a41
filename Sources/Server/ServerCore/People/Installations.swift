import StoreModel
import TidingsModel

// Push tokens that the app's backend brings from the service it comes from, before its phones connect here.
extension ServerCore {
    mutating func registerInstallations(
        _ all: [Result<ImportedInstallation, InvalidField>], of app: AppID, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        try self.admitCommand(.requests, of: app, "installations")
        try self.turn.checkBacklog(of: .backend(app))
        try self.checkStorage()
        let problems = all.map { self.problem(in: $0, of: app) }
        var good: [ImportedInstallation] = []
        for case (.success(let installation), nil) in zip(all, problems) { good.append(installation) }
        self.turn.ask(
            .registerInstallations(app, good, at: self.turn.now.wall), for: .api(request, .register(problems)),
            by: .backend(app))
    }

    private func problem(in line: Result<ImportedInstallation, InvalidField>, of app: AppID) -> ServerFrame.Problem? {
        do throws(InvalidField) {
            let installation = try line.get()
            try self.turn.settings.checkRegistration(installation.registration, in: app, field: "")
            let tags = installation.tags ?? []
            do throws(ServerFrame.Problem) { try self.checkTags(tags, of: app, "tags") } catch { return error }
            return StoreRules.fault(in: LabelChange.tags(tags))
        } catch {
            return ServerFrame.Problem(error)
        }
    }

    mutating func finishInstallations(
        _ outcomes: [InstallationOutcome], _ problems: [ServerFrame.Problem?], for request: APIRequestID
    ) {
        for case .registered(let device, let taken) in outcomes {
            self.clearTokens(of: taken)
            self.finishSignIn(nil, device.key.user, device)
        }
        var stored = outcomes.makeIterator()
        let all = problems.compactMap { $0.map(InstallationOutcome.refused) ?? stored.next() }
        self.turn.emit(.reply(request, .installations(all)))
    }
}
