import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `Random commands` {
    /// What the comparison of the stores is worth depends on what the commands of the short form reach.
    @Test func `reach every answer of every kind`() throws {
        var seen: [String: Int] = [:]
        for seed: UInt64 in 0..<4_000 {
            var generator = CommandGenerator(seed: seed)
            let store = MemoryStore()
            _ = store.open()
            for _ in 0..<30 {
                let command = generator.next()
                seen[Self.name(command, try store.apply(command, epoch: 1)), default: 0] += 1
            }
        }
        let wanted = [
            "accept: accepted", "accept: hushed", "accept: duplicate", "accept: invalid_field client_message_id",
            "accept: blocked",
            "accept: unknown_conversation",
            "accept: not_a_member", "accept: invalid_field recipients", "accept: invalid_field message.id",
            "change: changed", "change: nothing", "change: exists", "change: unknown_conversation",
            "change: not_a_member", "change: not_allowed", "change: invalid_field members",
            "change: invalid_field name",
            "recall: recalled", "recall: hushed", "recall: nothing", "recall: too_late", "recall: not_allowed",
            "recall: unknown_message",
            "edit: noted", "edit: nothing", "edit: too_late", "edit: not_allowed", "edit: unknown_message",
            "edit: invalid_field content", "delete: noted", "signOut: done", "delete: unknown_message",
            "delete: invalid_field messages",
            "setConversationSettings: noted", "setConversationSettings: nothing", "endLevel: noted",
            "setConversationState: noted", "setConversationState: nothing", "setConversationState: invalid_field draft",
            "endLevel: nothing",
            "setPersonSettings: noted", "setPersonSettings: nothing",
            "setPersonSettings: invalid_field quiet_hours.start", "setBlocked: noted", "setBlocked: nothing",
            "setBlocked: invalid_field user", "acceptCustom: accepted", "acceptCustom: duplicate",
            "acceptCustom: invalid_field recipients", "setPushState: taken", "setVoIPToken: taken",
            "readConversation: conversation",
            "readConversation: unknown_conversation", "readConversation: not_a_member", "readHistory: history",
            "readHistory: unknown_message", "readHistory: unknown_conversation", "readHistory: invalid_field limit",
            "markRead: read", "markRead: nothing", "accept: unknown_object_name",
            "setObjectNames: done", "setObjectNames: invalid_field names", "readObjectNames: objectNames",
            "readUnread: unread", "readLegs: legs", "changeAccount: done", "readAccount: userAccount", "signIn: device",
            "signIn: disabled",
            "signIn: token_revoked",
            "readUnread: unread", "accept: not_allowed", "accept: banned", "edit: blocked", "edit: not_a_member",
            "recall: not_a_member", "change: banned", "change: blocked", "change: invalid_field conversation.type",
            "readHistory: banned", "readHistory: not_a_member", "setAccount: done", "setAccount: invalid_field kind",
            "mayWrite: done", "mayWrite: blocked", "readRestrictions: bans",
            "readRestrictions: not_allowed", "readRestrictions: invited", "accept: muted", "edit: muted",
            "mayWrite: muted", "change: invited", "once: invited",
            "once: accepted", "once: duplicate", "once: done", "once: kept", "once: rate_limited", "once: changed",
            "readKept: kept", "setProfiles: done", "setProfiles: invalid_field name", "setProfiles: not_allowed",
            "setProfiles: invalid_field profiles", "readProfiles: profiles", "readMedia: mediaUse",
            "readMedia: nothing", "readMediaUses: mediaUses",
            "readMediaUses: nothing", "readControl: controlState", "readAudit: audit", "noteCall: control",
            "once: control",
            "createApp: control", "createApp: exists", "createApp: invalid_field id",
            "createApp: invalid_field members_max", "createApp: invalid_field tokens.jwks", "importApp: control",
            "importApp: invalid_field secrets", "setAppSettings: control", "setAppSettings: not_allowed",
            "setAppSettings: invalid_field app", "suspendApp: control", "addSecret: control", "addSecret: exists",
            "removeSecret: control", "removeSecret: not_allowed", "removeSecret: invalid_field secret",
            "addAPIKey: control", "addAPIKey: exists", "addAPIKey: invalid_field scopes", "rotateAPIKey: control",
            "rotateAPIKey: invalid_field name", "removeAPIKey: control", "addOperator: control", "addOperator: exists",
            "setOperatorRole: control", "setOperatorRole: not_allowed", "rotateOperator: control",
            "removeOperator: control", "removeOperator: not_allowed", "noteUses: control",
            "changePushCredential: control", "changePushCredential: exists",
            "changePushCredential: not_allowed", "changePushCredential: invalid_field credential",
            "changePushCredential: invalid_field team_id", "reseal: control", "reseal: invalid_field digest",
        ]
        for name in wanted + Self.aboutAccounts + Self.aboutPushes + Self.aboutClientKeys + Self.aboutAccess
            + Self.aboutWebhooks
        {
            #expect(seen[name] != nil, "\(name)")
        }
    }

    /// A count that a command forgets, or changes twice, would grow wrong for good.
    @Test func `leave counts that are those of everything there is`() throws {
        for seed: UInt64 in 0..<500 {
            var generator = CommandGenerator(seed: seed)
            let store = MemoryStore()
            for index in 0..<60 {
                // A crash now and then, also in the middle of deriving.
                if index % 20 == 0 { _ = store.open() }
                _ = try store.apply(generator.next(), epoch: store.epoch)
                if index % 7 == 3 { _ = try store.deriveStep() }
            }
            try store.derive()
            let (dump, keys) = (store.dump(), store.rows.allPeople())
            for (app, use) in dump.storage {
                #expect(use == dump.counted(app, people: keys.count { $0.app == app }), "seed \(seed)")
            }
            #expect(Set(keys.map(\.app)).isSubset(of: dump.storage.keys))
        }
    }

    private static let aboutClientKeys = [
        "addClientKey: control", "addClientKey: exists", "addClientKey: invalid_field key",
        "addClientKey: invalid_field app", "revokeClientKey: control", "revokeClientKey: invalid_field key",
    ]

    private static let aboutWebhooks = [
        "changeWebhook: control", "changeWebhook: exists", "changeWebhook: invalid_field webhook",
        "changeWebhook: invalid_field url", "changeWebhook: invalid_field app",
    ]

    private static let aboutAccounts = [
        "putAccount: done", "putAccount: invalid_field kind", "putAccount: invalid_field operators",
        "accept: not_allowed account", "accept: not_allowed author", "accept: by an author",
        "accept: not_a_follower", "setFollowing: done", "setFollowing: not_allowed account",
        "readFollowers: followers", "readFollowing: following", "readPeople: people", "readAccounts: accounts",
        "readConversations: conversations", "readConversationList: conversationList", "readStorageUse: storageUse",
    ]

    private static let aboutAccess = [
        "changeAccess: control", "changeAccess: exists", "changeAccess: invalid_field name",
        "changeAccess: invalid_field session",
    ]

    private static let aboutPushes = [
        "createPush: pushJob", "createPush: not_allowed account", "createPush: invalid_field audience",
        "createPush: invalid_field message.id", "createPush: unknown_object_name", "stepPush: sent",
        "stepPush: done", "stepPush: recalls", "stepPush: invalid_field push",
        "stepPush: invalid_field ids", "stepPush: invalid_field message.id", "stepPush: unknown_message",
        "changePush: pushJob", "changePush: nothing", "changePush: not_allowed", "readPush: pushJob",
        "readPushes: pushJobs", "readPushes: invalid_field limit", "countAudience: audience",
        "countAudience: invalid_field audience", "readPushRecipient: pushRecipient", "readPushRecipient: nothing",
        "setLabels: labels", "setLabels: invalid_field tags", "readLabels: labels", "once: pushJob",
        "registerInstallations: installations", "readMessage: trace",
        "createPush: invalid_field time_zone", "stepPush: waits", "stepPush: sent in the last pass",
        "stepPush: recalls of some passes", "changePush: recalls between two passes",
    ]

    private static func name(_ command: StoreCommand, _ result: StoreResult) -> String {
        var kind = "\(command)".prefix { $0 != "(" }
        if case .changeControl(let change, _) = command { kind = "\(change.withAuthor.change)".prefix { $0 != "(" } }
        let answer =
            switch result {
            case .refused(let problem):
                problem.code == .invalidField || ["account", "author"].contains(problem.field)
                    ? "\(problem.code.rawValue) \(problem.field)" : problem.code.rawValue
            case .accepted(let deliveries, _, _) where deliveries.contains(where: \.isHushed),
                .recalled(_, _, let deliveries, _) where deliveries.contains(where: \.isHushed):
                "hushed"
            case .accepted where command.author != nil: "by an author"
            case .changed(_, let invited) where !invited.isEmpty: "invited"
            case .changed(let changes, _) where changes.isEmpty: "nothing"
            case .noted(nil, _), .read(nil, _), .mediaUse(nil), .mediaUses([]), .pushJob(nil), .pushRecipient(nil):
                "nothing"
            case .pushJob(let job?) where job.state == .recalling && job.isBetweenPasses: "recalls between two passes"
            case .pushStep(let step) where step.job.state == .scheduled: "waits"
            case .pushStep(let step) where step.isDone && step.job.pass > 0 && !step.ids.isEmpty:
                "sent in the last pass"
            case .pushStep(let step) where !step.recalls.isEmpty && step.job.isBetweenPasses: "recalls of some passes"
            case .pushStep(let step) where !step.recalls.isEmpty: "recalls"
            case .pushStep(let step) where step.isDone: "done"
            case .pushStep(let step): step.ids.isEmpty ? "nothing" : "sent"
            default: String("\(result)".prefix { $0 != "(" })
            }
        return "\(kind): \(answer)"
    }
}

extension PushJob {
    /// Some passes of its local time are over, and some are to come.
    fileprivate var isBetweenPasses: Bool { self.pass > 0 && self.pass < (self.localTime?.passes.count ?? 0) }
}

extension StoreDump {
    /// How much there is of an app, one by one.
    fileprivate func counted(_ app: AppID, people: Int) -> StorageUse {
        var use = StorageUse()
        use.people = people
        use.conversations = self.conversations.count { $0.record.app == app }
        for person in self.people where person.record.key.app == app {
            use.logEntries += person.log.count
            use.devices += person.record.devices.count
        }
        for job in self.pushes where job.app == app { use.pushes.add(1, bytes: job.contentBytes) }
        for trace in self.messages where trace.app == app {
            switch trace.subject {
            case .message(let message) where message.pushJob == nil && trace.recall == nil:
                use.messages.add(1, bytes: message.content.utf8.count)
            // Those of jobs say something else, and are counted with them.
            case .custom(let message, _) where message.content == "c": use.customMessages.add(1, bytes: 1)
            case .message, .custom, .recall: break
            }
        }
        return use
    }
}

extension StoreCommand {
    fileprivate var author: UserID? {
        if case .accept(_, _, _, _, _, let author) = self { author } else { nil }
    }
}
