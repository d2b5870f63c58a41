import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    func addPushes(to app: RouterGroup<Context>) {
        app.post("pushes") { try await self.createPush($0, $1) }
        app.get("pushes") { try await self.pushes($0, $1) }
        app.post("pushes/preview") { try await self.previewPush($0, $1) }
        app.get("pushes/count") { try await self.countAudience($0, $1) }
        app.get("pushes/contents") { try await self.pushContents($0, $1) }
        app.get("pushes/{id}") { try await self.push($0, $1) }
        app.delete("pushes/{id}") { try await self.recallPush($0, $1) }
        app.post("pushes/{id}/cancel") { try await self.cancelPush($0, $1) }
        app.get("pushes/{id}/recipients/{user}") { try await self.pushRecipient($0, $1) }
    }

    private func createPush(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .messages)
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
        var draft = PushDraft(account: account, body: content, audience: try self.audience(body.object("audience")))
        draft.ignoresBlocks = try body.bool("ignores_blocks", default: false)
        draft.lifetimeMilliseconds = try body.optionalInteger("lifetime_ms", in: 1...MessageDraft.lifetimeMax)
        draft.sendAt = try body.optionalTime("send_at")
        draft.localTime = try self.localTime(body, isBesideTime: draft.sendAt != nil)
        let rates = StoreRules.pushRatesAllowed
        draft.ratePerSecond = try body.optionalInteger(
            "rate_per_second", in: Int64(rates.lowerBound)...Int64(rates.upperBound)
        ).map { Int($0) }
        try body.refuseUnknown()
        return draft
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
            type: try self.word(try account.string("kind"), "account.kind"), target: try account.string("id"))
        try account.refuseUnknown()
        return id
    }

    func pushBody(_ body: APIBody, _ account: ConversationID) throws(InvalidField) -> PushDraft.Body {
        let isCounted = try body.optionalBool("counted")
        switch (
            try body.pushOptions("notification"), try body.optionalObject("message"), try body.optionalObject("custom")
        ) {
        case (var options?, nil, nil):
            guard let text = options.text?.plain else {
                throw InvalidField(
                    field: "notification.text", rule: "must be a string; a key of the app's goes into message.push.text"
                )
            }
            options.text = nil
            return .message(
                Self.messageDraft(
                    account, .text, JSONValue.members([("content", .string(text))]).text, isCounted, options.nonEmpty))
        case (nil, let message?, nil):
            var draft = Self.messageDraft(
                account, ObjectName(try message.optionalString("object_name") ?? ObjectName.text.rawValue),
                try message.string("content"), isCounted, try message.pushOptions())
            draft.pushText = try message.optionalString("push_text")
            try message.refuseUnknown()
            let words = MessageContent(objectName: draft.objectName, content: draft.content).text
            if draft.pushText == nil, draft.push?.text == nil, let words {
                try InvalidField.checkVisible(words, "message.content")
            }
            return .message(draft)
        case (nil, nil, let custom?):
            try InvalidField.check(isCounted == nil, "counted", "must be left out beside custom, which never counts")
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
        _ account: ConversationID, _ name: ObjectName, _ content: String, _ isCounted: Bool?, _ push: PushOptions?
    ) -> MessageDraft {
        MessageDraft(
            clientMessageID: "push", conversation: account, objectName: name, content: content,
            flags: isCounted == true ? .normal : [.stored, .notified], push: push)
    }

    // MARK: - Confirming

    /// Whoever sends to so many from the console says so twice: a session may have been left open, and a slip of the hand is not taken back.
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
        guard case .audience(let count) = try await self.result(of: .countAudience(app, audience)) else {
            throw APIProblem.bug
        }
        return count
    }

    // MARK: - Of one push

    /// - Throws: status 404 if the app has none of the id.
    private func push(_ command: APICommand, _ once: Once? = nil) async throws -> PushJob {
        guard case .pushJob(let job) = try await self.result(of: command, once: once) else { throw APIProblem.bug }
        guard let job else { throw APIProblem(.unknownPush, field: "id", rule: "names no push of this app") }
        return job
    }

    private func pushID(_ context: Context) throws(InvalidField) -> PushJobID {
        try self.messageID(try Self.parameter("id", context), "id")
    }

    private func push(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace)
        return .json(try await self.push(.pushJob(app, try self.pushID(context))).json)
    }

    private func cancelPush(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .requests)
        let id = try self.pushID(context)
        let (body, once) = try await self.keyedBody(request, context, app, mayBeEmpty: true)
        try body.refuseUnknown()
        return .json(try await self.push(.changePush(app, id, .cancel), once).json)
    }

    private func recallPush(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .requests, role: .send)
        let id = try self.pushID(context)
        return .json(try await self.push(.changePush(app, id, .recall)).json, status: .accepted)
    }

    private func pushRecipient(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace)
        let user = UserKey(app: app, user: try self.person(context))
        let job = try await self.push(.pushJob(app, try self.pushID(context)))
        guard case .pushRecipient(let message) = try await self.result(of: .pushRecipient(user, job.id)) else {
            throw APIProblem.bug
        }
        return .json(["message_id": .optional(message?.description)])
    }

    // MARK: - Of many

    private func pushes(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace, query: Paging.query)
        return .json(try await self.pushPage(request, app, \.members))
    }

    /// The same with what they say: for whoever may read messages, kept in the audit as those are.
    private func pushContents(_ request: Request, _ context: Context) async throws -> Response {
        _ = try self.authorize(request, context, .trace, limited: .requests, query: Paging.query)
        let app = try self.authorize(request, context, .history, limited: .requests, query: Paging.query)
        return .json(try await self.pushPage(request, app) { $0.members + [("content", $0.content)] })
    }

    private func pushPage(
        _ request: Request, _ app: AppID, _ members: (PushJob) -> [(String, JSONValue)]
    ) async throws -> JSONValue {
        let paging = try Paging(request)
        let question = APICommand.pushJobs(app, before: try paging.after { PushJobID($0) }, limit: paging.limit)
        guard case .pushJobs(let jobs, let hasMore) = try await self.result(of: question) else { throw APIProblem.bug }
        return [
            "pushes": .array(jobs.map { .members(members($0)) }),
            "next": paging.next(after: jobs.last?.id.description, hasMore: hasMore),
        ]
    }

    private func countAudience(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .requests, query: ["audience"], role: .send)
        guard let text = Self.writtenOut("audience", in: request), let value = try? JSONValue(parsing: text) else {
            throw InvalidField(field: "audience", rule: "must be an audience as JSON")
        }
        let audience = try self.audience(APIBody(try JSONFields(value, root: "audience")))
        let count = try await self.count(audience, of: app)
        return .json(["people": .int(Int64(count.people)), "devices": .int(Int64(count.devices))])
    }

    /// Exactly one of its members says which it is.
    private func audience(_ body: APIBody, depth: Int = 1) throws(InvalidField) -> PushAudience {
        try InvalidField.check(
            depth <= PushAudience.depthMax, "audience", "must be nested at most \(PushAudience.depthMax) deep")
        let known = ["everybody", "users", "devices", "alias", "tag", "all", "any", "not"]
        let given = known.filter { body.has($0) }
        guard given.count == 1, let kind = given.first else {
            throw InvalidField(field: "audience", rule: "must have one of \(known.joined(separator: ", "))")
        }
        let audience: PushAudience
        switch kind {
        case "everybody":
            try InvalidField.check(try body.bool(kind), "audience.everybody", "must be true")
            audience = .everybody
        case "users":
            audience = .users(try self.people(try body.strings(kind), "audience.users", max: PushAudience.usersMax))
        case "devices": audience = .devices(try self.devices(try body.list(kind)))
        case "alias": audience = .alias(try body.string(kind))
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
    fileprivate var json: JSONValue {
        switch self {
        case .everybody: ["everybody": true]
        case .users(let users): ["users": JSONValue(users)]
        case .devices(let devices):
            [
                "devices": .array(
                    devices.map { ["user": .string($0.user.rawValue), "device": .string($0.device.rawValue)] })
            ]
        case .alias(let alias): ["alias": .string(alias)]
        case .tag(let tag): ["tag": .string(tag)]
        case .all(let parts): ["all": .array(parts.map(\.json))]
        case .any(let parts): ["any": .array(parts.map(\.json))]
        case .not(let part): ["not": part.json]
        }
    }
}

extension PushJob {
    /// So much is told of a text: it says which push this is.
    private static let textLettersMax = 256

    fileprivate var content: JSONValue {
        let (title, line, text): (PushLine?, PushLine?, String?)
        switch self.body {
        case .message(let template):
            let content = MessageContent(objectName: template.objectName, content: template.content)
            (title, line) = (template.push?.title, template.push?.text)
            text = template.pushText ?? content.text
        case .custom(let message): (title, line, text) = (message.title.map { .text($0) }, nil, message.content)
        }
        let words = text.map { JSONValue.string(String($0.prefix(Self.textLettersMax))) }
        return ["title": title?.json ?? .null, "text": line?.json ?? words ?? .null]
    }

    /// With the moments at which it is that time on people's own clocks, which a list of pushes leaves out.
    fileprivate var json: JSONValue {
        let moments = self.localTime?.passes.map { pass in
            JSONValue.members([
                ("send_at", .int(pass.at)), ("utc", .string(WebhookRequest.time(pass.at))),
                ("time_zones", .array(pass.timeZones.map { .string($0) })),
            ])
        }
        return .members(self.members + [("moments", moments.map { .array($0) } ?? .null)])
    }

    fileprivate var members: [(String, JSONValue)] {
        let (kind, isCounted): (String, Bool) =
            switch self.body {
            case .message(let template): ("message", template.flags.contains(.counted))
            case .custom: ("custom", false)
            }
        return [
            ("id", .string(self.id.description)),
            ("account", ["kind": .string(self.account.type.rawValue), "id": .string(self.account.target)]),
            ("kind", .string(kind)), ("audience", self.audience.json), ("counted", .bool(isCounted)),
            ("ignores_blocks", .bool(self.ignoresBlocks)), ("lifetime_ms", .optional(self.lifetimeMilliseconds)),
            ("send_at", .optional(self.sendAt)), ("send_at_local", .optional(self.localTime?.text)),
            ("time_zone", .optional(self.localTime?.timeZone)),
            ("rate_per_second", .optional(self.ratePerSecond.map { Int64($0) })),
            ("created_at", .int(self.createdAt)), ("state", .string(self.state.rawValue)),
            ("changed_at", .int(self.changedAt)),
            (
                "progress",
                [
                    "looked_at": .int(Int64(self.counts.lookedAt)), "recipients": .int(Int64(self.counts.recipients)),
                    "skipped": .int(Int64(self.counts.skipped)),
                ]
            ),
            (
                "statistics",
                [
                    "accepted": .int(Int64(self.counts.ends[LegEnd.accepted(apnsID: "").name] ?? 0)),
                    "shown": .int(Int64(self.counts.shown)), "opened": .int(Int64(self.counts.opened)),
                    "repeated": .int(Int64(self.counts.repeated)), "recalled": .int(Int64(self.counts.recalled)),
                    "ends": .members(LegEnd.names.map { ($0, .int(Int64(self.counts.ends[$0] ?? 0))) }),
                ]
            ),
        ]
    }
}
