import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    static let pushRoutes: [Route] = [
        .app(.post, "pushes", .messages, limited: .messages, API.createPush),
        .app(.get, "pushes", .trace, query: Paging.query, API.pushes),
        .app(.post, "pushes/preview", .messages, limited: .requests, API.previewPush),
        .app(.get, "pushes/count", .messages, limited: .requests, query: ["audience"], role: .send, API.countAudience),
        .app(.get, "pushes/contents", .trace, limited: .requests, query: Paging.query, API.pushContents),
        .app(.get, "pushes/{id}", .trace, API.push),
        .app(.delete, "pushes/{id}", .messages, limited: .requests, role: .send, API.recallPush),
        .app(.post, "pushes/{id}/cancel", .messages, limited: .requests, API.cancelPush),
        .app(.get, "pushes/{id}/recipients/{user}", .trace, API.pushRecipient),
    ]

    private func createPush(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, app, without: ["confirm"])
        let confirmation = try body.optionalObject("confirm")
        let draft = try self.pushDraft(body)
        try await self.checkConfirmation(confirmation, of: draft.audience, app, context)
        let job = try await self.push(.createPush(app, draft), once)
        context.note.made = job.id.description
        return .json(job.json, status: .accepted)
    }

    private func pushDraft(_ body: APIBody) throws(InvalidField) -> PushDraft {
        let account = try self.pushAccount(body)
        let content = try self.pushBody(body, account)
        var draft = PushDraft(
            account: account, body: content,
            audience: try self.audience(body.object("audience", suchAs: Self.everybody)))
        draft.ignoresBlocks = try body.bool("ignores_blocks", default: false)
        draft.lifetimeMilliseconds = try body.optionalInteger("lifetime_ms", in: 1...MessageDraft.lifetimeMax)
        draft.sendAt = try body.optionalTime("send_at")
        draft.localTime = try self.localTime(body, isBesideTime: draft.sendAt != nil)
        let rates = StoreRules.pushRatesAllowed
        draft.ratePerSecond = try body.optionalInteger(
            "rate_per_second", in: Int64(rates.lowerBound)...Int64(rates.upperBound)
        ).map { Int($0) }
        draft.lateMilliseconds = try body.integer(
            "late_ms", in: PushJob.lateMin...PushJob.lateMax, default: PushJob.lateUsual)
        draft.textMode = try self.textMode(body)
        try body.refuseUnknown()
        return draft
    }

    func textMode(_ body: APIBody) throws(InvalidField) -> PushTextMode? {
        guard let word = try body.optionalString("text_mode") else { return nil }
        let mode: PushTextMode = try self.word(word, "text_mode")
        return mode
    }

    private func localTime(_ body: APIBody, isBesideTime: Bool) throws(InvalidField) -> PushLocalTime? {
        let (text, zone) = (try body.optionalString("send_at_local"), try body.optionalString("time_zone"))
        guard let text else {
            try InvalidField.check(zone == nil, "time_zone", "must be left out without send_at_local")
            return nil
        }
        try InvalidField.check(!isBesideTime, "send_at_local", "must be left out beside send_at")
        guard let zone else {
            throw InvalidField(field: "time_zone", rule: "must be there beside send_at_local, as in Europe/Berlin")
        }
        return try PushLocalTime(text: text, timeZone: zone)
    }

    func pushAccount(_ body: APIBody) throws(InvalidField) -> ConversationID {
        guard let account = try body.optionalObject("account") else {
            return ConversationID(type: .pushService, target: "push")
        }
        let id = ConversationID(
            type: try self.kind(account, "kind", of: "account"), target: try account.string("id"))
        try account.refuseUnknown()
        return id
    }

    func pushBody(_ body: APIBody, _ account: ConversationID) throws(InvalidField) -> PushDraft.Body {
        let isCounted = try body.optionalBool("counted")
        let hasConversation = try body.bool("conversation", default: false)
        switch (
            try body.pushOptions("notification"), try body.optionalObject("message"), try body.optionalObject("custom")
        ) {
        case (var options?, nil, nil):
            guard let text = options.text?.plain else {
                throw InvalidField(
                    field: "notification.text",
                    rule: options.text == nil
                        ? "must be present" : "must be a string: message.push.text takes a key of the app's")
            }
            options.text = nil
            return .message(
                try Self.messageDraft(
                    account, .text, MessageContent.text(text).json, isCounted, hasConversation, options.nonEmpty))
        case (nil, let message?, nil):
            let (name, content) = try self.typedContent(message)
            var draft = try Self.messageDraft(
                account, name, content, isCounted, hasConversation, try message.pushOptions())
            draft.pushText = try message.optionalString("push_text")
            try message.refuseUnknown()
            let words = MessageContent(objectName: draft.objectName, content: draft.content).text
            if draft.pushText == nil, draft.push?.text == nil, let words {
                try InvalidField.checkVisible(words, "message.content")
            }
            return .message(draft)
        case (nil, nil, let custom?):
            try InvalidField.check(isCounted == nil, "counted", "must be left out beside custom, which never counts")
            try InvalidField.check(!hasConversation, "conversation", "must be left out beside custom, which has none")
            let message = CustomMessage(
                id: MessageID(rawValue: 0), title: try custom.optionalString("title"),
                content: try custom.string("content"), contentType: try custom.optionalString("content_type"),
                extras: try custom.members("extras"), sentAt: 0)
            try custom.refuseUnknown()
            return .custom(message)
        case (_, _, _):
            throw InvalidField(field: "notification", rule: "must be there, or message, or custom: one of them")
        }
    }

    private static func messageDraft(
        _ account: ConversationID, _ name: ObjectName, _ content: String, _ isCounted: Bool?, _ hasConversation: Bool,
        _ push: PushOptions?
    ) throws(InvalidField) -> MessageDraft {
        var flags: MessageFlags = isCounted == true ? .normal : [.stored, .notified]
        if !hasConversation {
            try InvalidField.check(
                isCounted != true, "counted", "must be beside \"conversation\": true: what is in no list stays unread")
            flags.insert(.unlisted)
        }
        return MessageDraft(
            clientMessageID: "push", conversation: account, objectName: name, content: content, flags: flags, push: push
        )
    }

    // MARK: - Confirming

    /// An operator who sends to so many from the console says so twice: a session may have been left open, and a slip is not taken back.
    private static let unconfirmedDevicesMax = 1_000

    /// - Throws: status 403, with the count that has to be confirmed.
    private func checkConfirmation(
        _ body: APIBody?, of audience: PushAudience, _ app: AppID, _ context: Context
    ) async throws {
        let password = try body?.string("password")
        let typed = try body?.integer("devices", in: 0...GivenTime.range.upperBound)
        try body?.refuseUnknown()
        guard let signedIn = context.note.signedIn else { return }
        let count = Int64(try await self.count(audience, of: app).devices)
        guard count > Self.unconfirmedDevicesMax else { return }
        guard let password, let typed, abs(typed - count) * 100 <= count else {
            throw APIProblem(
                .confirmationNeeded, field: "confirm",
                rule: "must have your password, and in devices how many the audience has: \(count)")
        }
        guard signedIn.record.password != nil else {
            throw APIProblem(
                .confirmationNeeded, field: "confirm.password",
                rule: "must be yours, and you have none: set one before you send to \(count) devices")
        }
        guard try await self.isGood(password, of: signedIn.record.name, "confirm.password", context) else {
            throw APIProblem(.wrongPassword, field: "confirm.password", rule: "must be your password, which it is not")
        }
    }

    private func count(_ audience: PushAudience, of app: AppID) async throws -> AudienceCount {
        try await self.ask(.countAudience(app, audience), \.audience)
    }

    // MARK: - Of one push

    private func push(_ command: APICommand, _ once: Once? = nil) async throws -> PushJob {
        try Self.found(try await self.ask(command, \.pushJob, once: once))
    }

    private func push(_ id: PushJobID, of app: AppID) async throws -> PushJob {
        try Self.found(try await self.read(.readPush(app, id), \.pushJob))
    }

    /// - Throws: status 404 if the app has none of the id.
    private static func found(_ job: PushJob?) throws(APIProblem) -> PushJob {
        guard let job else { throw APIProblem(.unknownPush, field: "id", rule: "names no push of this app") }
        return job
    }

    private func pushID(_ context: Context) throws(InvalidField) -> PushJobID {
        try self.messageID(try Self.parameter("id", context), "id")
    }

    private func push(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        return .json(try await self.push(try self.pushID(context), of: app).json)
    }

    private func cancelPush(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let id = try self.pushID(context)
        let (body, once) = try await self.keyedBody(request, context, app, mayBeEmpty: true)
        try body.refuseUnknown()
        return .json(try await self.push(.changePush(app, id, .cancel), once).json)
    }

    private func recallPush(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let id = try self.pushID(context)
        return .json(try await self.push(.changePush(app, id, .recall)).json, status: .accepted)
    }

    private func pushRecipient(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let user = UserKey(app: app, user: try self.person(context))
        let job = try await self.push(try self.pushID(context), of: app)
        return .json(["message_id": try await self.read(.readPushRecipient(user, job.id), \.pushRecipient)])
    }

    // MARK: - Of many

    private func pushes(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        .json(try await self.pushPage(request, app, \.members))
    }

    /// Lists pushes with their texts: for callers who may read messages, kept in the audit as those are.
    private func pushContents(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        _ = try self.authorize(request, context, .history, limited: .requests, query: Paging.query)
        return .json(try await self.pushPage(request, app) { $0.members + ["content": $0.content] })
    }

    private func pushPage(
        _ request: Request, _ app: AppID, _ members: (PushJob) -> JSONMembers
    ) async throws -> JSONMembers {
        let paging = try Paging(request)
        let question = StoreCommand.readPushes(app, before: try paging.after { PushJobID($0) }, limit: paging.limit)
        let (jobs, hasMore) = try await self.read(question, \.pushJobs)
        return [
            "pushes": jobs.objects(members), "next": paging.next(after: jobs.last?.id.description, hasMore: hasMore),
        ]
    }

    private func countAudience(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        guard let text = Self.writtenOut("audience", in: request), let value = try? JSONValue(parsing: text) else {
            throw InvalidField(field: "audience", rule: "must be an audience as JSON, as in \(Self.everybody)")
        }
        let audience = try self.audience(APIBody(try JSONFields(value, root: "audience")))
        let count = try await self.count(audience, of: app)
        return .json(["people": count.people, "devices": count.devices])
    }

    private static let everybody = #"{"everybody": true}"#

    /// Exactly one of its members says which it is.
    private func audience(_ body: APIBody, depth: Int = 1) throws(InvalidField) -> PushAudience {
        try InvalidField.check(
            depth <= PushAudience.depthMax, "audience", "must be nested at most \(PushAudience.depthMax) deep")
        let known = ["everybody", "users", "devices", "alias", "tag", "all", "any", "not"]
        let given = known.filter { body.has($0) }
        guard given.count == 1, let kind = given.first else {
            throw InvalidField(
                field: "audience",
                rule: "must have one of \(known.joined(separator: ", ")), as in \(Self.everybody)")
        }
        let audience: PushAudience
        switch kind {
        case "everybody":
            try InvalidField.check(try body.bool(kind), "audience.everybody", "must be true")
            audience = .everybody
        case "users":
            audience = .users(try self.people(try body.strings(kind), "audience.users", max: PushAudience.usersMax))
        case "devices": audience = .devices(try self.devices(try body.list(kind)))
        case "alias": audience = .alias(Alias(try body.string(kind)))
        case "tag": audience = .tag(try body.string(kind))
        case "not": audience = .not(try self.audience(try body.object(kind), depth: depth + 1))
        case "all": audience = .all(try self.audiences(try body.list(kind), depth: depth + 1))
        default: audience = .any(try self.audiences(try body.list(kind), depth: depth + 1))  // tidy: the last of known
        }
        try body.refuseUnknown()
        return audience
    }

    private func devices(_ bodies: [APIBody]) throws(InvalidField) -> [PushAudience.Device] {
        try InvalidField.check(bodies.count, in: 1...PushAudience.usersMax, "audience.devices")
        var devices: [PushAudience.Device] = []
        for (index, body) in bodies.enumerated() {
            let field = "audience.devices[\(index)]"
            let user = try UserID.validated(try body.string("user"), field: "\(field).user")
            let device = try DeviceID.validated(try body.string("device"), field: "\(field).device")
            devices.append(.init(user: user, device: device))
            try body.refuseUnknown()
        }
        return devices
    }

    private func audiences(_ bodies: [APIBody], depth: Int) throws(InvalidField) -> [PushAudience] {
        var audiences: [PushAudience] = []
        for body in bodies { audiences.append(try self.audience(body, depth: depth)) }
        return audiences
    }
}

extension PushAudience {
    fileprivate var json: JSONMembers {
        switch self {
        case .everybody: ["everybody": true]
        case .users(let users): ["users": users]
        case .devices(let devices):
            ["devices": devices.objects { ["user": $0.user, "device": $0.device] }]
        case .alias(let alias): ["alias": alias]
        case .tag(let tag): ["tag": tag]
        case .all(let parts): ["all": parts.map(\.json)]
        case .any(let parts): ["any": parts.map(\.json)]
        case .not(let part): ["not": part.json]
        }
    }
}

extension PushJob {
    /// So much is told of a text: it says which push this is.
    private static let textLettersMax = 256

    fileprivate var content: JSONMembers {
        let (title, line, text): (PushLine?, PushLine?, String?)
        switch self.body {
        case .message(let template):
            let content = MessageContent(objectName: template.objectName, content: template.content)
            (title, line) = (template.push?.title, template.push?.text)
            text = template.pushText ?? content.text
        case .custom(let message): (title, line, text) = (message.title.map { .text($0) }, nil, message.content)
        }
        let words = text.map { String($0.prefix(Self.textLettersMax)).json }
        return ["title": title?.json, "text": line?.json ?? words]
    }

    /// With the moments at which it is that time on people's own clocks, which a list of pushes leaves out.
    fileprivate var json: JSONMembers {
        let moments = self.localTime?.passes.objects { pass in
            ["send_at": pass.at, "utc": WebhookRequest.time(pass.at), "time_zones": pass.timeZones]
        }
        return self.members + ["moments": moments]
    }

    fileprivate var members: JSONMembers {
        let flags: MessageFlags =
            switch self.body {
            case .message(let template): template.flags
            case .custom: .unlisted
            }
        let (kind, isListed) = (self.isCustom ? "custom" : "message", !flags.contains(.unlisted))
        return [
            "id": self.id,
            "account": JSONMembers([
                "kind": self.account.type, "kind_name": self.account.type.word, "id": self.account.target,
            ]), "kind": kind,
            "audience": self.audience.json, "counted": flags.contains(.counted),
            "conversation": isListed, "ignores_blocks": self.ignoresBlocks,
            "lifetime_ms": self.lifetimeMilliseconds, "send_at": self.sendAt, "send_at_local": self.localTime?.text,
            "time_zone": self.localTime?.timeZone, "rate_per_second": self.ratePerSecond,
            "late_ms": self.lateMilliseconds, "text_mode": self.textMode, "created_at": self.createdAt,
            "state": self.state, "changed_at": self.changedAt,
            "progress": JSONMembers([
                "looked_at": self.counts.lookedAt, "recipients": self.counts.recipients, "skipped": self.counts.skipped,
            ]),
            "statistics": JSONMembers([
                "accepted": self.counts.ends[LegEnd.accepted(apnsID: "").name] ?? 0, "shown": self.counts.shown,
                "opened": self.counts.opened, "repeated": self.counts.repeated, "recalled": self.counts.recalled,
                "ends": JSONMembers(pairs: LegEnd.names.map { ($0, self.counts.ends[$0] ?? 0) }),
            ]),
        ]
    }
}
