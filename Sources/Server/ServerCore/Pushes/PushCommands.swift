import OrderedCollections
package import StoreModel
package import TidingsModel

/// What a backend wants pushed to an audience.
package struct PushDraft: Hashable, Sendable {
    package enum Body: Hashable, Sendable {
        /// Its conversation is the account's, and whom it is for the audience says.
        indirect case message(MessageDraft)
        indirect case custom(CustomMessage)
    }

    package var account: ConversationID
    package var body: Body
    package var audience: PushAudience
    package var ignoresBlocks = false
    package var lifetimeMilliseconds: Int64?
    /// Wall milliseconds; nil for now.
    package var sendAt: Int64?
    /// In place of `sendAt`.
    package var localTime: PushLocalTime?
    package var ratePerSecond: Int?

    package init(account: ConversationID, body: Body, audience: PushAudience) {
        self.account = account
        self.body = body
        self.audience = audience
    }

    /// A year: who plans longer keeps a plan of their own.
    package static let sendAheadMax: Int64 = 31_536_000_000
}

/// What a store command about a push job was sent for.
enum PushStoreRequest: Sendable {
    case create(APIRequestID)
    /// Of a job whose steps wait for the answer, or of one without.
    case change(APIRequestID, PushJobID, holdsSteps: Bool)
    /// The repeat of a request under its idempotency key: the job as it is by now.
    case again(APIRequestID)
    case count(APIRequestID, AppID, PushAudience, counted: AudienceCount)
    case setLabels(APIRequestID)
    case start(PushJobID)
    case step(PushJobID, at: Int64)

    /// The request that is answered with the command's result.
    var apiRequest: APIRequestID? {
        switch self {
        case .create(let request), .change(let request, _, _), .setLabels(let request): request
        case .again, .count, .start, .step: nil
        }
    }
}

extension ServerCore {
    mutating func createPush(
        _ draft: PushDraft, of app: AppID, for request: APIRequestID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        do throws(ServerFrame.Problem) {
            try self.admitCommand(.messages, of: app, "push", now, &effects)
            try self.checkBacklog(of: .backend(app), &effects)
            try self.checkStorage()
            let job = try self.makePushJob(draft, of: app, now)
            self.sendToStore(.createPush(job), for: .push(.create(request)), by: .backend(app), &effects)
        } catch {
            effects.append(.reply(request, .refused(error)))
        }
    }

    private mutating func makePushJob(
        _ draft: PushDraft, of app: AppID, _ now: Now
    ) throws(ServerFrame.Problem) -> PushJob {
        try self.checkTags(draft.audience.tags, of: app, "audience")
        do throws(InvalidField) {
            if let sendAt = draft.sendAt {
                try InvalidField.check(
                    sendAt <= now.wall + PushDraft.sendAheadMax, "send_at", "must be at most a year ahead")
            }
            if let last = draft.localTime?.passes.last {
                try InvalidField.check(
                    last.at <= now.wall + PushDraft.sendAheadMax, "send_at_local", "must be at most a year ahead")
            }
            switch draft.body {
            case .message(let message): try message.validate()
            case .custom(let message): try message.validate()
            }
        } catch {
            throw ServerFrame.Problem(error)
        }
        let id = self.messageIDs.next(wallMilliseconds: now.wall)
        let body: PushJob.Body
        switch draft.body {
        case .message(let message):
            try self.checkPush(of: message, from: app, isClient: false)
            body = .message(self.template(message, of: draft.account, in: app, id, now))
        case .custom(let message): body = .custom(message)
        }
        return PushJob(
            id: id, app: app, account: draft.account, body: body, audience: draft.audience,
            ignoresBlocks: draft.ignoresBlocks, lifetimeMilliseconds: draft.lifetimeMilliseconds, sendAt: draft.sendAt,
            localTime: draft.localTime, ratePerSecond: draft.ratePerSecond, createdAt: now.wall)
    }

    /// What each recipient's message says: with the app's options for what it leaves open, as of any message.
    func template(
        _ draft: MessageDraft, of account: ConversationID, in app: AppID, _ id: PushJobID, _ now: Now
    ) -> Message {
        var flags = draft.flags
        if !flags.contains(.stored) { flags.remove(.counted) }
        let general = self.settings.pushRules[app]?.options
        let push = draft.push.map { $0.merged(over: general) } ?? general
        return Message(
            id: id, app: app, sender: UserID(account.target), conversation: account,
            clientMessageID: ClientMessageID(id.description), objectName: draft.objectName, content: draft.content,
            flags: flags, pushText: draft.pushText, sentAt: now.wall, push: push?.nonEmpty)
    }

    func checkTags(_ tags: [String], of app: AppID, _ field: String) throws(ServerFrame.Problem) {
        let known = Set(self.settings.tags[app] ?? [])
        guard let unknown = tags.first(where: { !known.contains($0) }) else { return }
        throw .init(code: .invalidField, field: field, rule: "must have tags of the app's list, got \"\(unknown)\"")
    }

    mutating func changePush(
        _ id: PushJobID, of app: AppID, _ change: PushJobChange, for request: APIRequestID, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        do throws(ServerFrame.Problem) {
            try self.admitCommand(.requests, of: app, "push", now, &effects)
            try self.checkBacklog(of: .backend(app), &effects)
            let holdsSteps = self.pushRunner.runs[id]?.job.app == app
            if holdsSteps { self.pushRunner.runs[id]?.asked += 1 }
            self.sendToStore(
                .changePush(app, id, change, at: now.wall),
                for: .push(.change(request, id, holdsSteps: holdsSteps)), by: .backend(app), &effects)
        } catch {
            effects.append(.reply(request, .refused(error)))
        }
    }

    mutating func countAudience(
        _ audience: PushAudience, of app: AppID, for request: APIRequestID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        do throws(ServerFrame.Problem) {
            try self.admitCommand(.requests, of: app, "push", now, &effects)
            try self.checkTags(audience.tags, of: app, "audience")
            do throws(InvalidField) { try audience.validate() } catch { throw ServerFrame.Problem(error) }
            try self.countAudience(audience, of: app, for: request, counted: AudienceCount(), after: 0, &effects)
        } catch {
            effects.append(.reply(request, .refused(error)))
        }
    }

    /// One part of the people after the other, so that others' commands come in between.
    private mutating func countAudience(
        _ audience: PushAudience, of app: AppID, for request: APIRequestID, counted: AudienceCount, after: UInt64,
        _ effects: inout [ServerEffect]
    ) throws(ServerFrame.Problem) {
        try self.checkBacklog(of: .backend(app), &effects)
        self.sendToStore(
            .countAudience(app, audience, after: after, limit: StoreRules.pushCountMax),
            for: .push(.count(request, app, audience, counted: counted)), by: .backend(app), &effects)
    }

    mutating func setLabels(
        _ change: LabelChange, of user: UserKey, for request: APIRequestID, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        do throws(ServerFrame.Problem) {
            try self.admitCommand(.requests, of: user.app, "labels", now, &effects)
            try self.checkBacklog(of: .backend(user.app), &effects)
            try self.checkStorage()
            if case .tags(let tags) = change { try self.checkTags(tags, of: user.app, "tags") }
            self.sendToStore(
                .setLabels(user, change), for: .push(.setLabels(request)), by: .backend(user.app), &effects)
        } catch {
            effects.append(.reply(request, .refused(error)))
        }
    }

    // MARK: - What the store says

    mutating func completePush(
        _ request: PushStoreRequest, with result: StoreResult, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        switch (request, result) {
        case (.create(let request), .pushJob(let job?)):
            effects.append(.reply(request, .pushJob(job)))
            self.followPush(job, now, &effects)
        case (.change(let request, let id, let holdsSteps), .pushJob(let job)):
            if holdsSteps { self.noteAnswer(id) }
            effects.append(.reply(request, .pushJob(job)))
            if let job { self.followPush(job, now, &effects) }
        case (.change(let request, let id, let holdsSteps), .refused(let problem)):
            if holdsSteps { self.noteAnswer(id) }
            effects.append(.reply(request, .refused(problem)))
            self.runPushJobs(now, &effects)
        case (.again(let request), .pushJob(let job)): effects.append(.reply(request, .pushJob(job)))
        case (.count(let request, let app, let audience, let counted), .audience(let count, let next)):
            guard let next else { return effects.append(.reply(request, .audience(counted + count))) }
            do throws(ServerFrame.Problem) {
                try self.countAudience(
                    audience, of: app, for: request, counted: counted + count, after: next, &effects)
            } catch {
                effects.append(.reply(request, .refused(error)))
            }
        case (.setLabels(let request), .labels): effects.append(.reply(request, .done))
        case (.create(let request), .refused(let problem)), (.setLabels(let request), .refused(let problem)),
            (.again(let request), .refused(let problem)), (.count(let request, _, _, _), .refused(let problem)):
            effects.append(.reply(request, .refused(problem)))
        case (.start(let id), .pushJob(let job?)):
            self.noteAnswer(id)
            self.followPush(job, now, &effects)
        case (.step(let id, let at), .pushStep(let step)): self.finishStep(id, step, at: at, now, &effects)
        default:
            effects.append(.flagBug("the store gave \(request) an answer of the wrong kind"))
        }
    }

    /// The store could not carry it out.
    mutating func refusePush(
        _ request: PushStoreRequest, storeHasFailed: Bool, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        switch request {
        case .create(let request), .again(let request), .count(let request, _, _, _), .setLabels(let request):
            effects.append(.reply(request, .refused(Self.unavailable)))
        case .change(let request, let id, let holdsSteps):
            effects.append(.reply(request, .refused(Self.unavailable)))
            guard holdsSteps, !storeHasFailed else { return }
            self.noteAnswer(id)
            self.runPushJobs(now, &effects)
        case .start(let id), .step(let id, _): if !storeHasFailed { self.delayPush(id, now) }
        }
    }
}

extension PushAudience {
    var tags: [String] {
        switch self {
        case .everybody, .users, .devices, .alias: []
        case .tag(let tag): [tag]
        case .all(let parts), .any(let parts): parts.flatMap(\.tags)
        case .not(let part): part.tags
        }
    }
}
