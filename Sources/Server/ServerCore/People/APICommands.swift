import StoreModel
import TidingsModel

extension ServerCore {
    // tidy: long because it is one switch over the commands.
    mutating func serve(_ command: APICommand, for request: APIRequestID, _ now: Now, _ effects: inout [ServerEffect]) {
        do throws(ServerFrame.Problem) {
            try AnonymousRules.check(command)
        } catch {
            return effects.append(.reply(request, .refused(error)))
        }
        switch command {
        case .send(let sender, let draft, let ignoresBlocks, let author):
            do throws(ServerFrame.Problem) {
                try self.admitCommand(.messages, of: sender.app, "send", now, &effects)
                try self.checkPush(of: draft, from: sender.app, isClient: false)
                let message = try self.makeMessage(draft, from: sender, by: .backend(sender.app), now, &effects)
                self.sendToStore(
                    .accept(
                        message: message.message, senderDevice: nil, room: self.roomAccess(now),
                        ignoresBlocks: ignoresBlocks, push: self.settings.pushRules[sender.app]?.options,
                        author: author),
                    for: .apiSend(request, message), by: .backend(sender.app), &effects)
            } catch {
                effects.append(.reply(request, .refused(error)))
            }
        case .putConversation(let conversation):
            guard !self.isStorageFull else { return effects.append(.reply(request, .refused(Self.storageFull))) }
            do throws(InvalidField) {
                try self.checkMemberCount(conversation.members.count, in: conversation.app)
                if let push = conversation.push {
                    try self.pushRules(of: conversation.app).check(push, isClient: false)
                }
                self.sendToStore(
                    .putConversation(conversation), for: .apiPutConversation(request, conversation), &effects)
            } catch {
                effects.append(.reply(request, .refused(ServerFrame.Problem(error))))
            }
        case .request(let app, let person, let asked):
            do throws(ServerFrame.Problem) {
                try self.admitCommand(.requests, of: app, "request", now, &effects)
            } catch {
                return effects.append(.reply(request, .refused(error)))
            }
            self.carryOut(asked, Asked(requester: .api(request), app: app, actor: person), now, &effects)
        case .sendCustom(let app, let message, let recipients, let clientMessageID):
            self.sendCustom(message, to: recipients, of: app, clientMessageID, for: request, now, &effects)
        case .unread(let user, let conversation):
            self.sendToStore(.readUnread(user, conversation), for: .apiAnswer(request), &effects)
        case .markRead(let user, let conversation, let message):
            self.markRead(conversation, of: user, upTo: message, for: request, now, &effects)
        case .setObjectNames(let app, let names):
            self.sendToStore(.setObjectNames(app, names), for: .apiAnswer(request), &effects)
        case .objectNames(let app):
            self.sendToStore(.readObjectNames(app), for: .apiAnswer(request), &effects)
        case .setAccount(let app, let account, let isDeclared):
            self.sendToStore(.setAccount(app, account, isDeclared: isDeclared), for: .apiAnswer(request), &effects)
        case .putAccount(let app, let account):
            guard !self.isStorageFull else { return effects.append(.reply(request, .refused(Self.storageFull))) }
            self.sendToStore(.putAccount(app, account), for: .apiAnswer(request), &effects)
        case .accounts(let app, let account, let after, let limit):
            self.sendToStore(
                .readAccounts(app, only: account, after: after, limit: limit), for: .apiAnswer(request), &effects)
        case .followers(let app, let account, let after, let limit):
            self.sendToStore(
                .readFollowers(app, account, after: after, limit: limit), for: .apiAnswer(request), &effects)
        case .people(let app, let after, let limit):
            self.sendToStore(.readPeople(app, after: after, limit: limit), for: .apiAnswer(request), &effects)
        case .conversations(let app, let after, let limit):
            self.sendToStore(.readConversations(app, after: after, limit: limit), for: .apiAnswer(request), &effects)
        case .conversationList(let user, let before, let limit):
            self.sendToStore(
                .readConversationList(user, before: before, limit: limit), for: .apiAnswer(request), &effects)
        case .pushLanes(let app):
            let open = self.openLegs(of: app, now)
            effects.append(.reply(request, .pushLanes(self.laneReports(of: app), open: open)))
        case .previewPush(let app, let asked): self.previewPush(asked, of: app, for: request, now, &effects)
        case .createPush(let app, let draft): self.createPush(draft, of: app, for: request, now, &effects)
        case .changePush(let app, let id, let change):
            self.changePush(id, of: app, change, for: request, now, &effects)
        case .pushJob(let app, let id): self.sendToStore(.readPush(app, id), for: .apiAnswer(request), &effects)
        case .pushJobs(let app, let before, let limit):
            self.sendToStore(.readPushes(app, before: before, limit: limit), for: .apiAnswer(request), &effects)
        case .countAudience(let app, let audience):
            self.countAudience(audience, of: app, for: request, now, &effects)
        case .pushRecipient(let user, let id):
            self.sendToStore(.readPushRecipient(user, id), for: .apiAnswer(request), &effects)
        case .setLabels(let user, let change): self.setLabels(change, of: user, for: request, now, &effects)
        case .labels(let user): self.sendToStore(.readLabels(user), for: .apiAnswer(request), &effects)
        case .setProfiles(let app, let profiles):
            guard !self.isStorageFull else { return effects.append(.reply(request, .refused(Self.storageFull))) }
            self.sendToStore(.setProfiles(app, profiles, isOwn: false), for: .apiAnswer(request), &effects)
        case .profiles(let app, let users):
            self.sendToStore(.readProfiles(app, users), for: .apiAnswer(request), &effects)
        case .restrictions(let kind, let app, let conversation, let person):
            self.sendToStore(
                .readRestrictions(kind, app, conversation, asked: person, at: now.wall), for: .apiAnswer(request),
                &effects)
        case .ring(let app, let call): self.ring(call, in: app, for: request, now, &effects)
        case .call(let app, let id): effects.append(.reply(request, .call(self.calls.trace(of: id, in: app, now))))
        case .pushActivity(let app, let push): self.pushActivity(push, in: app, for: request, now, &effects)
        case .activityPush(let app, let id):
            effects.append(.reply(request, .activityPush(self.activityPush(id, in: app, now))))
        case .channels(let app, let asked): self.manageChannels(asked, in: app, for: request, now, &effects)
        case .testPush(let device, let test): self.pushTest(test, to: device, for: request, now, &effects)
        case .silentPush(let user, let push): self.pushSilently(push, to: user, for: request, now, &effects)
        case .trace(let app, let message):
            self.sendToStore(.trace(app, message), for: .apiAnswer(request), &effects)
        case .legs(let question):
            let user = question.user.map { UserKey(app: question.app, user: $0) }
            self.sendToStore(.readLegs(question), for: .apiLegs(request, user), &effects)
        case .openLegs(let question): effects.append(.reply(request, .openLegs(self.openLegs(question))))
        case .signOut(let device):
            self.signOut(device, for: request, now, &effects)
        case .signOutAll(let user):
            self.signOutAllDevices(of: user, for: request, now, &effects)
        case .devices(let user):
            self.listDevices(of: user, for: request, now, &effects)
        case .changeAccount(let user, let change):
            self.changeAccount(of: user, change, for: request, now, &effects)
        case .userAccount(let user):
            self.sendToStore(.readAccount(user), for: .apiAnswer(request), &effects)
        case .issueToken(let user):
            // A repeat is issued at the time of the first, so that it is the same token.
            let at = self.keysUnderWay[request]?.at ?? now.wall
            self.sendToStore(.readAccount(user), for: .apiIssueToken(request, at: at, ofRenewal: nil), &effects)
        case .installation(let user, let issuedAt, let address):
            self.serveInstallation(of: user, renewalIssuedAt: issuedAt, from: address, for: request, now, &effects)
        case .once(let key, let fingerprint, let command):
            self.serve(command, as: key, fingerprint, for: request, now, &effects)
        case .changeControl(let change):
            self.sendToStore(
                .changeControl(change, at: now.wall), for: .apiChangeControl(request, change), &effects)
        case .audit(let question, let limit):
            self.sendToStore(.readAudit(question, limit: limit), for: .apiAnswer(request), &effects)
        case .quotas(let question): effects.append(.reply(request, .quotas(self.quotas(question, now))))
        case .media(let user, let issuedAt, let question):
            guard let slot = self.loadedSlot(of: user, for: request, command, now, &effects) else { return }
            self.serveMedia(question, of: user, slot: slot, issuedAt: issuedAt, for: request, now, &effects)
        case .mediaUses(let app, let media, let owner):
            self.sendToStore(.readMediaUses(app, media, by: owner), for: .apiAnswer(request), &effects)
        case .fromExtension(let device, let issuedAt, let userIssuedAt, let question):
            guard let slot = self.loadedSlot(of: device.user, for: request, command, now, &effects) else { return }
            self.serveExtension(
                question, of: device, slot: slot, issuedAt: issuedAt, userTokenIssuedAt: userIssuedAt, for: request,
                now,
                &effects)
        }
    }

    /// Serves a service extension whose device is signed in. A replaced token stays good for `extensionTokenOverlap`:
    /// the welcome that carried the newer one may have been lost.
    private mutating func serveExtension(
        _ question: ExtensionRequest, of device: DeviceKey, slot: Int, issuedAt: Int64, userTokenIssuedAt: Int64?,
        for request: APIRequestID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        self.people[slot].busyAt = now.monotonic
        self.arm(slot)
        guard let index = self.people[slot].devices.index(of: device.device),
            issuedAt >= self.people[slot].devices[index].signedInAt - self.settings.extensionTokenOverlap,
            self.people[slot].account.fault(inTokenIssuedAt: userTokenIssuedAt) == nil
        else {
            let revoked = ServerFrame.Problem(
                code: .invalidToken, field: "token", rule: "was revoked: the device has signed out, or connected again")
            effects.append(.reply(request, .refused(revoked)))
            return
        }
        do throws(ServerFrame.Problem) {
            try self.admitCommand(.requests, of: device.user.app, slot: slot, "request", now, &effects)
            try self.checkBacklog(of: .person(device.user), &effects)
        } catch {
            return effects.append(.reply(request, .refused(error)))
        }
        switch question {
        case .media(let media, let message):
            // What the person hides, an extension does not show.
            guard !self.people[slot].settings.person.hidesContent else {
                return effects.append(.reply(request, .mediaUse(nil)))
            }
            self.sendToStore(
                .readMedia(device.user, media, in: message, room: self.roomAccess(now)), for: .apiAnswer(request),
                by: .person(device.user), &effects)
        case .missed(let after, let limit):
            let entries = max(1, min(limit, self.settings.pageEntriesMax))
            self.sendToStore(
                .readLog(device.user, after: after, limit: entries), for: .apiMissed(request, device),
                by: .person(device.user), &effects)
        case .receipt(let message, let receipt):
            let leg = LegID(message: message, user: device.user, device: device.device)
            self.sendToStore(
                .receipt(leg, receipt, at: now.wall), for: .apiAnswer(request), by: .person(device.user), &effects)
        }
    }

    /// Adds the legs that are only in memory: live, in grace, queued or in flight.
    func withLiveLegs(_ trace: MessageTrace) -> MessageTrace {
        var trace = trace
        let ended = Set(trace.ended.map(\.leg))
        var open = Dictionary(trace.open.map { ($0.leg, $0) }, uniquingKeysWith: { first, _ in first })
        for delivery in trace.deliveries {
            guard let slot = self.slots[UserKey(app: trace.app, user: delivery.user)] else { continue }
            for index in self.people[slot].devices.indices {
                guard let leg = self.people[slot].devices[index].legs.index(of: delivery.position) else { continue }
                let live = self.openLeg(slot, index, leg, notBefore: nil)
                guard live.leg.message == trace.id, !ended.contains(live.leg) else { continue }
                let notBefore = open[live.leg]?.notBefore
                open[live.leg] = live
                open[live.leg]?.notBefore = notBefore
            }
        }
        trace.open = open.values.sorted { $0.leg < $1.leg }
        return trace
    }

    /// The same for what is in one person's log.
    func withLiveLegs(_ page: LegPage, of user: UserKey) -> LegPage {
        var page = page
        if let slot = self.slots[user] {
            for place in page.messages.indices {
                for index in self.people[slot].devices.indices {
                    guard let leg = self.people[slot].devices[index].legs.index(of: page.messages[place].place) else {
                        continue
                    }
                    page.messages[place].addLive(self.openLeg(slot, index, leg, notBefore: nil))
                }
            }
        }
        page.messages.removeAll { $0.isEmpty }
        return page
    }
}

extension MessageLegs {
    /// In place of what the store knows of it, but for the time.
    fileprivate mutating func addLive(_ live: OpenLeg) {
        guard live.leg.message == self.id, !self.ended.contains(where: { $0.leg == live.leg }) else { return }
        var live = live
        if let index = self.open.firstIndex(where: { $0.leg == live.leg }) {
            live.notBefore = self.open[index].notBefore
            self.open[index] = live
        } else {
            self.open.append(live)
            self.open.sort { $0.leg < $1.leg }
        }
    }
}
