import OrderedCollections
package import StoreModel
package import TidingsModel

/// A backend's push to an audience.
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
    package var lateMilliseconds = PushJob.lateUsual
    package var textMode: PushTextMode?

    package init(account: ConversationID, body: Body, audience: PushAudience) {
        self.account = account
        self.body = body
        self.audience = audience
    }

    /// A year: who plans longer keeps a plan of their own.
    package static let sendAheadMax: Int64 = 31_536_000_000
}

extension ServerCore {
    mutating func createPush(_ draft: PushDraft, of app: AppID, for request: APIRequestID) throws(ServerFrame.Problem) {
        try self.admitCommand(.messages, of: app, "push")
        try self.turn.checkBacklog(of: .backend(app))
        try self.checkStorage()
        let job = try self.makePushJob(draft, of: app)
        self.turn.ask(.createPush(job), for: .api(request, .createPush), by: .backend(app))
    }

    private mutating func makePushJob(_ draft: PushDraft, of app: AppID) throws(ServerFrame.Problem) -> PushJob {
        let now = self.turn.now
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
            try self.turn.settings.checkPush(of: message, from: app, isClient: false)
            body = .message(self.template(message, of: draft.account, in: app, id))
        case .custom(let message): body = .custom(message)
        }
        return PushJob(
            id: id, app: app, account: draft.account, body: body, audience: draft.audience,
            ignoresBlocks: draft.ignoresBlocks, lifetimeMilliseconds: draft.lifetimeMilliseconds, sendAt: draft.sendAt,
            localTime: draft.localTime, ratePerSecond: draft.ratePerSecond, lateMilliseconds: draft.lateMilliseconds,
            textMode: draft.textMode, createdAt: now.wall)
    }

    /// Returns the message for each recipient, completed with the app's options as any message is.
    func template(_ draft: MessageDraft, of account: ConversationID, in app: AppID, _ id: PushJobID) -> Message {
        var flags = draft.flags
        if !flags.contains(.stored) { flags.remove(.counted) }
        let general = self.turn.settings.pushRules[app]?.options
        let push = draft.push.map { $0.merged(over: general) } ?? general
        return Message(
            id: id, app: app, sender: UserID(account.target), conversation: account,
            clientMessageID: ClientMessageID(id.description), objectName: draft.objectName, content: draft.content,
            flags: flags, pushText: draft.pushText, sentAt: self.turn.now.wall, push: push?.nonEmpty)
    }

    func checkTags(_ tags: [String], of app: AppID, _ field: String) throws(ServerFrame.Problem) {
        let known = self.turn.settings.tags[app] ?? []
        guard let unknown = tags.first(where: { !known.contains($0) }) else { return }
        throw .init(code: .invalidField, field: field, rule: "must have tags of the app's list, got \"\(unknown)\"")
    }

    mutating func changePush(
        _ id: PushJobID, of app: AppID, _ change: PushJobChange, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        try self.admitCommand(.requests, of: app, "push")
        try self.turn.checkBacklog(of: .backend(app))
        let holdsSteps = self.pushRunner.runs[id]?.job.app == app
        if holdsSteps { self.pushRunner.runs[id]?.asked += 1 }
        self.turn.ask(
            .changePush(app, id, change, at: self.turn.now.wall),
            for: .api(request, .changePush(id, holdsSteps: holdsSteps)), by: .backend(app))
    }

    mutating func countAudience(
        _ audience: PushAudience, of app: AppID, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        try self.admitCommand(.requests, of: app, "push")
        try self.checkTags(audience.tags, of: app, "audience")
        do throws(InvalidField) { try audience.validate() } catch { throw ServerFrame.Problem(error) }
        try self.countAudience(audience, of: app, for: request, counted: AudienceCount(), after: 0)
    }

    /// One part of the people after the other, so that others' commands come in between.
    private mutating func countAudience(
        _ audience: PushAudience, of app: AppID, for request: APIRequestID, counted: AudienceCount, after: UInt64
    ) throws(ServerFrame.Problem) {
        try self.turn.checkBacklog(of: .backend(app))
        self.turn.ask(
            .countAudience(app, audience, after: after, limit: StoreRules.pushCountMax),
            for: .api(request, .countAudience(app, audience, counted: counted)), by: .backend(app))
    }

    mutating func finishCount(
        _ counted: AudienceCount, next: UInt64?, of audience: PushAudience, in app: AppID, for request: APIRequestID
    ) {
        guard let next else { return self.turn.emit(.reply(request, .audience(counted))) }
        do throws(ServerFrame.Problem) {
            try self.countAudience(audience, of: app, for: request, counted: counted, after: next)
        } catch {
            self.turn.emit(.reply(request, .refused(error)))
        }
    }

    mutating func setLabels(
        _ change: LabelChange, of user: UserKey, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        try self.admitCommand(.requests, of: user.app, "labels")
        try self.turn.checkBacklog(of: .backend(user.app))
        try self.checkStorage()
        if case .tags(let tags) = change { try self.checkTags(tags, of: user.app, "tags") }
        self.turn.ask(.setLabels(user, change), for: .api(request, .labels), by: .backend(user.app))
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
