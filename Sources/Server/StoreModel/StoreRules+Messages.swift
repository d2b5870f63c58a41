package import TidingsModel

extension StoreRules {
    /// Or it is not in the person's log.
    package static func unknownMessage(_ id: MessageID, field: String = "message") -> ServerFrame.Problem {
        .init(
            code: .unknownMessage, field: field,
            rule: "must name a message of this app that concerns who asks, got \(id)")
    }

    package static func recalledMessage(_ id: MessageID) -> ServerFrame.Problem {
        .init(code: .unknownMessage, field: "message", rule: "must name a message that was not recalled, got \(id)")
    }

    package static func deletedMessage(_ id: MessageID) -> ServerFrame.Problem {
        .init(code: .unknownMessage, field: "messages", rule: "must name messages that are not deleted yet, got \(id)")
    }

    /// `window` is milliseconds after sending; `at` the wall milliseconds of the command.
    package static func tooLate(_ message: Message, window: Int64, at: Int64) -> ServerFrame.Problem? {
        guard at - message.sentAt > window else { return nil }
        return .init(
            code: .tooLate, field: "message",
            rule: "must have been sent at most \(window) milliseconds ago, it was \(at - message.sentAt)")
    }

    /// An owner or admin of a group may only recall.
    package static func notTheSender(of message: Message) -> ServerFrame.Problem {
        .init(
            code: .notAllowed, field: "message",
            rule: "must be a message of one's own, \(message.id) is somebody else's")
    }

    private static let nothingChanges = StoreResult.noted(nil, deliveries: [])

    /// Returns the answer if nothing is to be written; nil to carry the operation out. `role` is the caller's in the conversation now; nil
    /// for no member, or a conversation without members. `isOperator`: the caller operates the account that has sent it. `standing` is the
    /// sender's, now.
    package static func decide(
        _ operation: RecallOperation, about message: Message, role: MemberRole?, isOperator: Bool, isRecalled: Bool,
        _ standing: Standing
    ) -> StoreResult? {
        let isFree = operation.actor == nil || role == .owner || role == .admin
        guard isFree || isOperator || operation.actor == message.sender else {
            return .refused(Self.notTheSender(of: message))
        }
        if isRecalled { return Self.nothingChanges }
        if isFree { return nil }
        let fault =
            // Who is muted may take back what they have written.
            Self.refusal(
                in: message.conversation, isBackend: isOperator, standing.withoutSilence, room: operation.room)
            ?? Self.tooLate(message, window: operation.window, at: operation.at)
        return fault.map { .refused($0) }
    }

    /// Returns the answer if nothing is to be written; nil to carry the operation out. `isOperator`: the caller operates the account that
    /// has sent it. `isOfOther`: another author has written it, the app's backend or another operator. `content` is the message's present
    /// content; `standing` is the sender's, now.
    package static func decide(
        _ operation: EditOperation, about message: Message, isOperator: Bool, isOfOther: Bool, isRecalled: Bool,
        content: String, _ standing: Standing
    ) -> StoreResult? {
        let isFree = operation.actor == nil
        guard isFree || isOperator || operation.actor == message.sender else {
            return .refused(Self.notTheSender(of: message))
        }
        if isRecalled { return .refused(Self.recalledMessage(message.id)) }
        if !isFree,
            let fault = Self.refusal(in: message.conversation, isBackend: isOperator, standing, room: operation.room)
                ?? Self.tooLate(message, window: operation.window, at: operation.at)
        {
            return .refused(fault)
        }
        if !isFree, isOfOther, Self.namesMore(operation.content, than: content) {
            return .refused(
                .init(
                    code: .invalidField, field: "content",
                    rule: "must name no files but those it names already: somebody else has written the message"))
        }
        return operation.content == content ? Self.nothingChanges : nil
    }

    /// Returns true if an edit names more files. A message opens its author's files: an editor of another author's message, the backend in
    /// their name or a fellow operator as the account, must not open others so.
    private static func namesMore(_ content: String, than before: String) -> Bool {
        let named = MediaID.named(in: content)
        guard !named.isEmpty else { return false }
        let known = MediaID.named(in: before)
        return named.contains { !known.contains($0) }
    }

    package static func fault(inContent content: String) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            let bytesMax = MessageDraft.contentBytesMax
            try InvalidField.check(content.utf8.count, in: 1...bytesMax, "content", unit: " bytes")
        }
    }

    package static func fault(in deletion: Deletion) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            try InvalidField.check(deletion.messages.count, in: 1...Deletion.messagesMax, "messages")
        }
    }

    package static func fault(in operation: CustomOperation) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            try InvalidField.check(operation.recipients.count, in: 1...CustomOperation.recipientsMax, "recipients")
            for user in operation.recipients { _ = try UserID.validated(user.rawValue, field: "recipients") }
        }
    }

    /// The field's message-type table (S0.13).
    package static let builtInObjectNames: Set<ObjectName> = [
        "RC:TxtMsg", "RC:ImgMsg", "RC:GIFMsg", "RC:VcMsg", "RC:HQVCMsg", "RC:SightMsg", "RC:FileMsg", "RC:LBSMsg",
        "RC:CardMsg", "RC:ImgTextMsg", "RC:ReferenceMsg", "RC:CombineMsg", "RC:CmdMsg", "RC:InfoNtf", "RC:ContactNtf",
        "RC:GrpNtf", "RC:ProfileNtf", "RC:CmdNtf", "RC:RcCmd", "RC:RcNtf",
    ]

    /// Returns the rule that content of a built-in type breaks: phones could not show it. Types of the app's own are not looked at, and
    /// content that is empty breaks another rule.
    package static func rule(brokenBy content: String, of name: ObjectName) -> String? {
        guard Self.builtInObjectNames.contains(name), !content.isEmpty else { return nil }
        guard let json = try? JSONValue(parsing: content), json.objectValue != nil else {
            return "must be a JSON object, as text or as it is, for a message of type \(name)"
        }
        let hasWords = name == .text || name == .reference
        guard hasWords, json["content"]?.stringValue?.isEmpty ?? true else { return nil }
        return "must say something, as {\"content\": \"Lunch?\"} does, in a message of type \(name)"
    }

    package static let objectNamesMax = 256

    package static func fault(in name: ObjectName, registered: [ObjectName]) -> ServerFrame.Problem? {
        guard !registered.isEmpty, !Self.builtInObjectNames.contains(name), !registered.contains(name) else {
            return nil
        }
        return .init(
            code: .unknownObjectName, field: "object_name",
            rule: "must be built in or registered by the app, got \"\(name)\"")
    }

    package static func fault(in names: [ObjectName]) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            try InvalidField.check(names.count, atMost: Self.objectNamesMax, "names")
            for name in names { _ = try ObjectName.validated(name.rawValue, field: "names") }
        }
    }

    package static func fault(inHistoryLimit limit: Int) -> ServerFrame.Problem? {
        (1...Self.historyMax).contains(limit)
            ? nil : .init(code: .invalidField, field: "limit", rule: "must be 1 to \(Self.historyMax), got \(limit)")
    }

    package static let historyMax = 100
    /// How many messages of a conversation are looked at for the one that a list tells.
    package static let newestLooksMax = 20

    static func problem(_ checks: () throws(InvalidField) -> Void) -> ServerFrame.Problem? {
        do throws(InvalidField) {
            try checks()
            return nil
        } catch {
            return ServerFrame.Problem(error)
        }
    }
}

extension LegEnd {
    /// A recall is sent to such devices (design.md §5 "Recall").
    package var mayBeShown: Bool {
        switch self {
        case .accepted, .settled(.shown), .settled(.notified): true
        case .ownDevice, .noDevice, .signedOut, .disabled, .notNotifiable, .blocked, .settled, .readElsewhere,
            .recalled, .expired,
            .muted, .quietHours, .noToken, .tokenQuarantined, .tokenDead, .rejected:
            false
        }
    }
}

extension Edit {
    /// Returns the edit of a push's message, which is in nobody's log but its recipient's, as they see it; of any other as its sender does.
    package func seenByRecipient(of message: Message, _ deliveries: [Delivery]) -> Edit {
        guard message.pushJob != nil, let recipient = deliveries.first?.user else { return self }
        var edit = self
        edit.conversation = message.conversation(seenBy: recipient)
        return edit
    }
}
