import APNsModel
import ServerCore
import StoreModel
import TidingsModel

// Telling.
extension ServerBench {
    mutating func take(_ effects: [ServerEffect], _ lines: inout [String]) {
        self.reports += effects.compactMap { ServerReport($0) }
        for effect in effects {
            switch effect {
            case .store(let id, let command):
                self.waiting.append((id, command))
                lines.append("store " + self.tell(command))
            case .write(let session, let frame):
                self.frames.append(frame)
                lines.append("s\(session.rawValue) ← " + self.tell(frame))
            case .close(let session): lines.append("close s\(session.rawValue)")
            case .probe(let session): lines.append("probe s\(session.rawValue)")
            case .push(let id, let device, let request):
                self.pushes.append((id, device, request))
                lines.append("push " + self.tell(request))
            case .pass(let id, let app, let request):
                self.passed.append((id, request))
                lines.append("pass of \(app) to \(request.token) on \(request.topic)")
            case .broadcast(let id, let app, let broadcast):
                self.broadcasts.append((id, broadcast))
                lines.append("broadcast of \(app) to \(broadcast.channelID) of \(broadcast.bundleID)")
            case .manageChannels(_, let app, let asked): lines.append("channels of \(app): \(asked.operation)")
            case .readTimeZone(let name): lines.append("zone? \(name)")
            case .checkToken(let session, let number, let token):
                lines.append("check \(token) of s\(session.rawValue) for \(number)")
            case .reply(_, let result):
                self.replies.append(result)
                lines.append("reply " + self.tell(result))
            case .controlChanged(let change, let answer): lines.append("changed \(change.name) \(Self.tell(answer))")
            case .noteAct(let act, let session): lines.append("note " + self.tell(act) + " (s\(session.rawValue))")
            case .raiseAlarm(_, let alarm): lines.append("alarm \(alarm)")
            case .countEnd(let end): lines.append("count \(end.name)")
            case .countRefusedRegistration: lines.append("count refused registration")
            case .countRefusal(let scope, let kind):
                lines.append("refuse \(kind?.rawValue ?? "backlog") of \(scope.rawValue)")
            case .turnAway(let session, let wait): lines.append("turn away s\(session.rawValue) for \(wait)")
            case .clearAlarm: lines.append("alarm over")
            case .storageChanged(let isFull, let free): lines.append("disk \(isFull ? "full" : "has room"): \(free)")
            case .stopForStoreFailure(let reason): lines.append("stop: \(reason)")
            case .drained: lines.append("drained")
            case .flagBug(let text): lines.append("BUG: \(text)")
            // Told by themselves: most tests are not about who watches.
            case .report: break
            }
        }
    }

    private func tell(_ act: AccountAct) -> String {
        let done =
            switch act.kind {
            case .sent(let message): "sent \(self.name(message))"
            case .edited(let message): "edited \(self.name(message))"
            case .recalled(let message): "recalled \(self.name(message))"
            case .refused(let code): "was refused \(code.rawValue)"
            }
        return "\(act.person.user) \(done) as \(act.account)"
    }

    func name(_ message: MessageID) -> String {
        "m\((self.messages.firstIndex(of: message) ?? -1) + 1)"
    }

    func name(_ leg: LegID) -> String {
        "\(self.name(leg.message)) \(leg.user.user)/\(leg.device?.rawValue ?? "-")"
    }

    // tidy: long because it is one line per command.
    private mutating func tell(_ command: StoreCommand) -> String {
        switch command {
        case .accept(let message, _, _, _, _, _):
            self.messages.append(message.id)
            return "accept \(self.name(message.id))"
        case .putConversation(let record): return "conversation \(record.conversation)"
        case .signIn(let key, _, _, _): return "sign in \(key.user.user)/\(key.device)"
        case .signOut(let key, _): return "sign out \(key.user.user)/\(key.device)"
        case .setPushState(let key, let state, _):
            return "token of \(key.user.user)/\(key.device) is \(Self.name(state))"
        case .setDeviceStatus(let key, let reported):
            return "status of \(key.user.user)/\(key.device) is \(reported.status.authorization.rawValue)"
        case .setVoIPToken(let key, let token, _):
            return "voip token of \(key.user.user)/\(key.device) is \(token == nil ? "none" : "registered")"
        case .advance(let key, let settled, let decided):
            let cursors = [settled.map { "settled \($0)" }, decided.map { "decided \($0)" }].compactMap(\.self)
            return "cursor \(key.user.user)/\(key.device) \(cursors.joined(separator: ", "))"
        case .markRead(let user, let conversation, let upTo, _): return "read \(user.user) \(conversation) \(upTo)"
        case .keepLeg(let open): return "keep \(self.name(open.leg)) \(open.wait.rawValue) after \(open.attempts)"
        case .endLeg(let ended):
            switch ended.end {
            case .accepted: return "end \(self.name(ended.leg)) accepted"
            default:
                return "end \(self.name(ended.leg)) \(ended.end.name)" + (ended.end.detail.map { " \($0)" } ?? "")
            }
        case .receipt(let leg, let receipt, _): return "receipt \(self.name(leg)) \(receipt.rawValue)"
        case .loadUser(let user): return "load \(user.user)"
        case .compareLog(let user, let held): return "compare \(user.user) \(held.position) of \(held.opening)"
        case .readLog(let user, let after, let limit, _): return "log \(user.user) after \(after), \(limit)"
        case .trace(_, let message): return "trace \(self.name(message))"
        case .readMessage(_, let message): return "message? \(self.name(message))"
        case .readLegs(let question): return "legs? of \(question.user?.rawValue ?? "anybody"), \(question.looksMax)"
        case .change(let operation): return "\(operation.action.name) \(operation.conversation)"
        case .recall(let operation):
            self.messages.append(operation.id)
            return "recall \(self.name(operation.message))"
        case .edit(let operation): return "edit \(self.name(operation.message))"
        case .delete(let user, let deletion, _): return "delete \(user.user) \(deletion.messages.map(self.name))"
        case .setConversationSettings(let user, let conversation, let settings, _):
            return "set \(user.user) \(conversation) \(settings.level?.rawValue ?? "none")"
        case .setConversationState(let user, let conversation, let change, _):
            return "set \(user.user) \(conversation) \(change)"
        case .endLevel(let user, let conversation, _): return "end level \(user.user) \(conversation)"
        case .setPersonSettings(let user, let settings, _): return "set \(user.user) \(settings)"
        case .setBlocked(let user, let other, let isBlocked, _):
            return "\(isBlocked ? "block" : "unblock") \(user.user) \(other)"
        case .acceptCustom(let operation):
            self.messages.append(operation.message.id)
            return "custom \(self.name(operation.message.id)) \(operation.recipients)"
        case .readConversation(_, let conversation, _, _): return "conversation? \(conversation)"
        case .readHistory(let user, let conversation, _, let limit, _):
            return "history \(user.user) \(conversation) \(limit)"
        case .readSettings(let user): return "settings? \(user.user)"
        case .readReceipts(_, let message, let user):
            return "receipts? \(self.name(message)) \(user?.rawValue ?? "backend")"
        case .changeAccount(let user, .ban, _): return "ban \(user.user)"
        case .changeAccount(let user, let change, _): return "\(change) \(user.user)"
        case .readAccount(let user): return "account? \(user.user)"
        case .readUnread(let user, let conversation):
            return "unread? \(user.user)" + (conversation.map { " \($0)" } ?? "")
        case .setObjectNames(_, let names): return "object names \(names)"
        case .readObjectNames: return "object names?"
        case .mayWrite(let user, let conversation, _): return "may write? \(user.user) \(conversation)"
        case .readRestrictions(let kind, _, let conversation, _, _): return "\(kind)? \(conversation)"
        case .setAccount(_, let account, let isDeclared): return "account \(account) \(isDeclared)"
        case .putAccount(_, let account): return "account \(account.id) by \(account.operators)"
        case .readAccounts: return "accounts?"
        case .setFollowing(let user, let account, let isFollowing):
            return "following \(user.user) \(account) \(isFollowing)"
        case .readFollowers(_, let account, _, _): return "followers? \(account)"
        case .readFollowing(let user): return "following? \(user.user)"
        case .readStorageUse: return "storage?"
        case .readConversations(_, let after, let limit):
            return "conversations? after \(after?.description ?? "-"), \(limit)"
        case .readConversationList(let user, let before, let limit):
            return "list? \(user.user) before \(before.map { "\($0)" } ?? "-"), \(limit)"
        case .readPeople(_, let after, let limit): return "people? after \(after?.rawValue ?? "-"), \(limit)"
        case .setProfiles(_, let profiles, let isOwn):
            let names = profiles.map { "\($0.id)=\($0.profile.name ?? "")" }.joined(separator: " ")
            return "profiles \(names)\(isOwn ? " own" : "")"
        case .readProfiles(_, let users, let offered):
            let others = offered.isEmpty ? "" : " offered \(offered.values.sorted())"
            return "profiles? \(users)\(others)"
        case .readMedia(let user, let media, let message, _):
            return "media? \(user.user) \(media) in \(self.name(message))"
        case .readMediaUses(_, let media, let owner): return "uses? \(media) \(owner?.rawValue ?? "backend")"
        case .createPush(let job):
            self.jobs.append(job.id)
            return "push \(self.jobName(job.id))"
        case .stepPush(_, let id, let ids, _, _):
            self.messages += ids
            return "step \(self.jobName(id)) by \(ids.count)"
        case .changePush(_, let id, let change, _): return "\(change) \(self.jobName(id))"
        case .readPush(_, let id): return "push? \(self.jobName(id))"
        case .readPushes(_, let before, let limit):
            return "pushes? before \(before.map { self.jobName($0) } ?? "-"), \(limit)"
        case .countAudience(_, let audience, let after, _): return "count \(audience) after \(after)"
        case .readPushRecipient(let user, let id): return "push? \(self.jobName(id)) to \(user.user)"
        case .registerInstallations(_, let all, _): return "install \(all.map(\.registration.token))"
        case .setLabels(let user, let change): return "labels \(user.user) \(change)"
        case .readLabels(let user): return "labels? \(user.user)"
        case .changeControl(let change, _): return "control \(change.name)"
        case .readControl: return "control?"
        case .readAudit: return "audit?"
        case .readKept(let key, _): return "kept? \(key.text)"
        case .once(let request, let command): return "once \(request.key.text) \(self.tell(command))"
        }
    }

    private static func name(_ state: PushState) -> String {
        switch state {
        case .none: "none"
        case .registered(_, _, let wasAccepted): wasAccepted ? "accepted" : "registered"
        case .quarantined(_, _, let reason): "quarantined \(reason)"
        case .dead(let timestamp): "dead \(timestamp)"
        }
    }

    private func tell(_ frame: ServerFrame) -> String {
        switch frame {
        case .welcome(let welcome): "welcome head \(welcome.head) unread \(welcome.unread)"
        case .sendAccepted(let accepted):
            "accepted \(accepted.clientMessageID) \(self.name(accepted.messageID)) at \(accepted.position)"
        case .sendRefused(let id, let problem): "refused \(id) \(problem)"
        case .entry(let entry): "entry " + self.tell(entry)
        case .page(let page):
            "page [\(page.entries.map(self.tell).joined(separator: ", "))] head \(page.head)"
                + Self.tell(page.pushes)
        case .pong(let number): "pong \(number)"
        case .problem(let problem, let isFatal): (isFatal ? "fatal " : "problem ") + problem.code.rawValue
        case .reconnect(let after): "reconnect after \(after)"
        case .answer(let number, let answer): "answer \(number) \(answer)"
        case .signal(let signal): "signal \(signal)"
        case .tokenExpiring(let at): "token expires at \(at - ServerBench.started)"
        }
    }

    private static func tell(_ pushes: ServerFrame.Pushes?) -> String {
        guard let pushes else { return " unknown" }
        return (pushes.unsent.isEmpty ? "" : " unsent \(pushes.unsent)")
            + (pushes.underWay.isEmpty ? "" : " under way \(pushes.underWay)")
    }

    private func tell(_ entry: LogEntry) -> String {
        switch entry.body {
        case .message(let message): "\(entry.position) \(self.name(message.id))"
        case .read(let conversation, let upTo): "\(entry.position) read \(conversation) \(upTo)"
        case .custom(let message): "\(entry.position) custom \(self.name(message.id))"
        case .recall(let recall): "\(entry.position) recall \(self.name(recall.message))"
        case .edit(let edit): "\(entry.position) edit \(self.name(edit.message))"
        case .deletion(let deletion): "\(entry.position) delete \(deletion.messages.map(self.name))"
        case .conversationSettings(let conversation, let settings): "\(entry.position) \(conversation) \(settings)"
        case .personSettings(let settings): "\(entry.position) \(settings)"
        case .blocked(let user, let isBlocked): "\(entry.position) \(isBlocked ? "block" : "unblock") \(user)"
        case .change(let change): "\(entry.position) \(change.conversation) \(change.action.name)"
        case .unknown: "\(entry.position) unknown"
        }
    }

    private func tell(_ request: APNsRequest) -> String {
        let payload = try? JSONValue(parsing: request.payload)
        let info = payload.flatMap { PushInfo(userInfo: $0) }
        let token = request.token.rawValue
        let name = stride(from: 0, to: token.count, by: 2).compactMap { offset -> Character? in
            let start = token.index(token.startIndex, offsetBy: offset)
            return UInt8(token[start..<token.index(start, offsetBy: 2)], radix: 16).map {
                Character(Unicode.Scalar($0))
            }
        }
        let badge = payload?["aps"]?["badge"]?.intValue ?? -1
        return
            "\(info.map { self.name($0.message) } ?? "?") to \(String(name)) badge \(badge)@\(info?.badgePosition ?? 0)"
    }

    private func tell(_ result: APIResult) -> String {
        switch result {
        case .accepted(let accepted, let isRepeat):
            "accepted \(self.name(accepted.messageID))\(isRepeat ? " again" : "")"
        case .done: "done"
        case .refused(let problem): "refused \(problem.code.rawValue) \(problem.field)"
        case .trace(let trace): "trace of \(trace.map { self.name($0.id) } ?? "nothing")"
        case .legs(let page): "legs of \(page.messages.map { self.name($0.id) })"
        case .openLegs(let page): "open legs of \(page.legs.map { self.name($0.id) })"
        case .pushJob(let job):
            job.map { "\(self.jobName($0.id)) \($0.state.rawValue), \($0.counts.recipients) people" } ?? "no push"
        case .audience(let count): "audience of \(count.people) with \(count.devices) devices"
        case .pushLanes(let lanes, _): "lanes \(lanes.map { "\($0.topic ?? "all") \($0.hold) \($0.waiting)" })"
        case .pushPreview(let preview): "preview of \(preview.payload.count) bytes"
        case .mediaUse(let use): "media of \(use.map { self.name($0.message) } ?? "nothing")"
        case .missed(let page, _, _): "page of \(page.entries.count)"
        case .devices(let devices): "\(devices.count) devices"
        case .installations(let outcomes): "\(outcomes.count) installations"
        case .answer(let answer): "answer \(answer)"
        case .ringing(let at): "ringing since \(at - ServerBench.started)"
        case .call(let trace): "call \(trace.map { "\($0.devices.map { "\($0.id) \($0.state)" })" } ?? "unknown")"
        case .passed(let at): "passed at \(at - ServerBench.started)"
        case .activityPush(let trace): "activity \(trace.map { "\($0.state)" } ?? "unknown")"
        case .channels(let outcome): "channels \(outcome)"
        case .testPush(let report): "test \(report.state)"
        case .silentPush(let report): "silent \(report.devices.map { "\($0.id) \(self.tell($0.state))" })"
        case .mayIssueToken(let at): "may issue a token at \(at - ServerBench.started)"
        case .control(let answer): "control \(Self.tell(answer))"
        case .keyReused: "key reused"
        case .keyInUse: "key in use"
        case .quotas(let quotas): "quotas \(quotas.map { "\($0.scope) \($0.kind) \($0.remaining) \($0.fullIn)" })"
        }
    }

    private func tell(_ state: SilentPushReport.State) -> String {
        switch state {
        case .budgetSpent(let at): "spent until \(at - ServerBench.started)"
        case .budgetUnknown(let at): "unknown until \(at - ServerBench.started)"
        case .sent, .noToken, .tokenDead, .tokenQuarantined, .notSent: "\(state)"
        }
    }
}
