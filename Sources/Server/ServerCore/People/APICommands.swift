import StoreModel
import TidingsModel

extension ServerCore {
    mutating func serve(_ command: APICommand, for request: APIRequestID) {
        do throws(ServerFrame.Problem) {
            try AnonymousRules.check(command)
            try self.carryOut(command, for: request)
        } catch {
            self.turn.emit(.reply(request, .refused(error)))
        }
    }

    // tidy: long because it is one switch over the commands.
    private mutating func carryOut(_ command: APICommand, for request: APIRequestID) throws(ServerFrame.Problem) {
        let now = self.turn.now
        switch command {
        case .send(let sender, let draft, let past, let author):
            try self.admitCommand(.messages, of: sender.app, "send")
            try self.turn.settings.checkPush(of: draft, from: sender.app, isClient: false)
            let message = try self.makeMessage(draft, from: sender, by: .backend(sender.app))
            self.turn.ask(
                .accept(
                    message: message.message, senderDevice: nil, room: self.roomAccess(), past: past,
                    push: self.turn.settings.pushRules[sender.app]?.options, author: author),
                for: .api(request, .send(message)), by: .backend(sender.app))
        case .putConversation(let conversation):
            try self.checkStorage()
            do throws(InvalidField) {
                try self.checkMemberCount(conversation.members.count, in: conversation.app)
                if let push = conversation.push {
                    try self.turn.settings.pushRules(of: conversation.app).check(push, isClient: false)
                }
                self.turn.ask(.putConversation(conversation), for: .api(request, .putConversation(conversation)))
            } catch {
                throw ServerFrame.Problem(error)
            }
        case .request(let app, let person, let asked):
            try self.admitCommand(.requests, of: app, "request")
            self.carryOut(asked, Asked(requester: .api(request), app: app, actor: person))
        case .sendCustom(let app, let message, let recipients, let clientMessageID):
            try self.sendCustom(message, to: recipients, of: app, clientMessageID, for: request)
        case .markRead(let user, let conversation, let message):
            try self.markRead(conversation, of: user, upTo: message, for: request)
        case .setObjectNames(let app, let names):
            self.turn.ask(.setObjectNames(app, names), for: .api(request, .done))
        case .setAccount(let app, let account, let isDeclared):
            self.turn.ask(.setAccount(app, account, isDeclared: isDeclared), for: .api(request, .done))
        case .putAccount(let app, let account):
            try self.checkStorage()
            self.turn.ask(.putAccount(app, account), for: .api(request, .done))
        case .pushLanes(let app):
            let open = self.openLegs(of: app)
            self.turn.emit(.reply(request, .pushLanes(self.laneReports(of: app), open: open)))
        case .previewPush(let app, let asked): try self.previewPush(asked, of: app, for: request)
        case .createPush(let app, let draft): try self.createPush(draft, of: app, for: request)
        case .changePush(let app, let id, let change):
            try self.changePush(id, of: app, change, for: request)
        case .countAudience(let app, let audience):
            try self.countAudience(audience, of: app, for: request)
        case .setLabels(let user, let change): try self.setLabels(change, of: user, for: request)
        case .setProfiles(let app, let profiles):
            try self.checkStorage()
            self.turn.ask(.setProfiles(app, profiles, isOwn: false), for: .api(request, .done))
        case .ring(let app, let call): try self.ring(call, in: app, for: request)
        case .call(let app, let id): self.turn.emit(.reply(request, .call(self.passed.call(id, in: app, now))))
        case .pushActivity(let app, let push): try self.pushActivity(push, in: app, for: request)
        case .activityPush(let app, let id):
            self.turn.emit(.reply(request, .activityPush(self.activityPush(id, in: app))))
        case .channels(let app, let asked): try self.manageChannels(asked, in: app, for: request)
        case .testPush(let device, let test): try self.pushTest(test, to: device, for: request)
        case .silentPush(let user, let push): try self.pushSilently(push, to: user, for: request)
        case .trace(let app, let message):
            self.turn.ask(.trace(app, message), for: .api(request, .trace))
        case .legs(let question):
            let user = question.user.map { UserKey(app: question.app, user: $0) }
            self.turn.ask(.readLegs(question), for: .api(request, .legs(user)))
        case .openLegs(let question): self.turn.emit(.reply(request, .openLegs(self.openLegs(question))))
        case .registerInstallations(let app, let all):
            try self.registerInstallations(all, of: app, for: request)
        case .signOut(let device):
            try self.signOut(device, for: request)
        case .signOutAll(let user):
            self.signOutAllDevices(of: user, for: request)
        case .devices(let user):
            self.listDevices(of: user, for: request)
        case .changeAccount(let user, let change):
            try self.changeAccount(of: user, change, for: request)
        case .issueToken(let user):
            // A repeat is issued at the time of the first, so that it is the same token.
            let at = self.turn.shares.keysUnderWay[request]?.at ?? now.wall
            self.turn.ask(.readAccount(user), for: .api(request, .issueToken(at: at, ofRenewal: nil)))
        case .installation(let user, let issuedAt, let address):
            try self.serveInstallation(of: user, renewalIssuedAt: issuedAt, from: address, for: request)
        case .once(let key, let fingerprint, let command):
            try self.serve(command, as: key, fingerprint, for: request)
        case .changeControl(let change):
            self.turn.ask(.changeControl(change, at: now.wall), for: .api(request, .changeControl(change)))
        case .quotas(let question): self.turn.emit(.reply(request, .quotas(self.quotas(question, now))))
        case .media(let user, let issuedAt, let question):
            guard let slot = self.busySlot(of: user, for: request, command) else { return }
            try self.serveMedia(question, of: user, slot: slot, issuedAt: issuedAt, for: request)
        case .fromExtension(let device, let issuedAt, let userIssuedAt, let question):
            guard let slot = self.busySlot(of: device.user, for: request, command) else { return }
            try self.serveExtension(
                question, of: device, slot: slot, issuedAt: issuedAt, userTokenIssuedAt: userIssuedAt, for: request)
        }
    }

    /// Serves a service extension whose device is signed in. A replaced token stays good for `extensionTokenOverlap`:
    /// the welcome that carried the newer one may have been lost.
    private mutating func serveExtension(
        _ question: ExtensionRequest, of device: DeviceKey, slot: Int, issuedAt: Int64, userTokenIssuedAt: Int64?,
        for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        guard let index = self.people[slot].devices.index(of: device.device),
            issuedAt >= self.people[slot].devices[index].signedInAt - self.turn.settings.extensionTokenOverlap,
            self.people[slot].state.account.fault(inTokenIssuedAt: userTokenIssuedAt, at: self.turn.now.wall) == nil
        else {
            throw .init(
                code: .invalidToken, field: "token", rule: "was revoked: the device has signed out, or connected again")
        }
        try self.admitCommand(.requests, of: device.user.app, slot: slot, "request")
        try self.turn.checkBacklog(of: .person(device.user))
        switch question {
        case .media(let media, let message):
            // What the person hides, an extension does not show.
            guard !self.people[slot].state.settings.person.hidesContent else {
                return self.turn.emit(.reply(request, .mediaUse(nil)))
            }
            self.turn.ask(
                .readMedia(device.user, media, in: message, room: self.roomAccess()), for: .api(request, .mediaUse),
                by: .person(device.user))
        case .missed(let after, let limit):
            let entries = max(1, min(limit, self.turn.settings.pageEntriesMax))
            self.turn.ask(
                .readLog(device.user, after: after, limit: entries), for: .api(request, .missed(device)),
                by: .person(device.user))
        case .receipt(let message, let receipt):
            let leg = LegID(message: message, user: device.user, device: device.device)
            self.turn.ask(
                .receipt(leg, receipt, at: self.turn.now.wall), for: .api(request, .done), by: .person(device.user))
        }
    }

    mutating func finishMissed(_ page: LogPage, on device: DeviceKey, for request: APIRequestID) {
        // Who asked stays in memory for some time.
        guard let slot = self.slots[device.user] else {
            return self.turn.emit(.reply(request, .refused(Self.unavailable)))
        }
        let page = self.missed(page, on: device)
        let reader = self.people[slot].state.reader()
        let words = self.turn.settings.words(for: reader).words
        self.turn.emit(.reply(request, .missed(page, words, hidesContent: reader.hidesContent)))
    }

    /// Adds the legs that are only in memory: live, in grace, queued or in flight.
    func withLiveLegs(_ trace: MessageTrace) -> MessageTrace {
        var trace = trace
        let ended = Set(trace.ended.map(\.leg))
        var open = Dictionary(trace.open.map { ($0.leg, $0) }, uniquingKeysWith: { first, _ in first })
        for delivery in trace.deliveries {
            guard let slot = self.slots[UserKey(app: trace.app, user: delivery.user)] else { continue }
            for live in self.people[slot].openLegs(at: delivery.position) {
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
                for live in self.people[slot].openLegs(at: page.messages[place].place) {
                    page.messages[place].addLive(live)
                }
            }
        }
        page.messages.removeAll { $0.isEmpty }
        return page
    }
}

extension Person {
    fileprivate func openLegs(at position: LogPosition) -> [OpenLeg] {
        // Looked at in place: a device is large.
        self.devices.indices.compactMap { index in
            self.devices[index].legs.index(of: position).map { self.devices[index].openLeg(at: $0) }
        }
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
