import StoreModel
import TidingsModel

// Push tokens that the app's backend brings from the service it comes from, before its phones connect here.
extension ServerCore {
    mutating func registerInstallations(
        _ all: [Result<ImportedInstallation, InvalidField>], of app: AppID, for request: APIRequestID, _ now: Now,
        _ effects: inout [ServerEffect]
    ) throws(ServerFrame.Problem) {
        try self.admitCommand(.requests, of: app, "installations", now, &effects)
        try self.checkBacklog(of: .backend(app), &effects)
        try self.checkStorage()
        let problems = all.map { self.problem(in: $0, of: app) }
        var good: [ImportedInstallation] = []
        for case (.success(let installation), nil) in zip(all, problems) { good.append(installation) }
        self.sendToStore(
            .registerInstallations(app, good, at: now.wall), for: .api(request, .register(problems)),
            by: .backend(app), &effects)
    }

    private func problem(in line: Result<ImportedInstallation, InvalidField>, of app: AppID) -> ServerFrame.Problem? {
        do throws(InvalidField) {
            let installation = try line.get()
            try self.checkRegistration(installation.registration, in: app, field: "")
            let tags = installation.tags ?? []
            do throws(ServerFrame.Problem) { try self.checkTags(tags, of: app, "tags") } catch { return error }
            return StoreRules.fault(in: LabelChange.tags(tags))
        } catch {
            return ServerFrame.Problem(error)
        }
    }

    mutating func finishInstallations(
        _ outcomes: [InstallationOutcome], _ problems: [ServerFrame.Problem?], for request: APIRequestID, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        for case .registered(let device, let taken) in outcomes {
            self.clearTokens(of: taken, now, &effects)
            self.finishSignIn(nil, device.key.user, device, now, &effects)
        }
        var stored = outcomes.makeIterator()
        let all = problems.compactMap { $0.map(InstallationOutcome.refused) ?? stored.next() }
        effects.append(.reply(request, .installations(all)))
    }
}
