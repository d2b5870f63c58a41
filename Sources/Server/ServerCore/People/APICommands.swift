import StoreModel
import TidingsModel

extension ServerCore {
    /// Serves a request of the HTTP API.
    mutating func serve(
        _ command: APICommand, for request: APIRequestID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        switch command {
        case .send(let sender, let draft):
            do throws(ServerFrame.Problem) {
                try self.admit(.messages, of: sender.app, "send", now, &effects)
                let message = try self.accepted(draft, from: sender, by: .backend(sender.app), now, &effects)
                self.ask(
                    .accept(message: message.message, senderDevice: nil, room: self.roomAccess(now)),
                    for: .apiSend(request, message), by: .backend(sender.app), &effects)
            } catch {
                effects.append(.reply(request, .refused(error)))
            }
        case .putConversation(let conversation):
            guard !self.isStorageFull else { return effects.append(.reply(request, .refused(Self.storageFull))) }
            do throws(InvalidField) {
                try self.check(memberCount: conversation.members.count, in: conversation.app)
                self.ask(.putConversation(conversation), for: .errand(.put(request, conversation)), &effects)
            } catch {
                effects.append(.reply(request, .refused(ServerFrame.Problem(error))))
            }
        case .request(let app, let person, let asked):
            do throws(ServerFrame.Problem) {
                try self.admit(.requests, of: app, "request", now, &effects)
            } catch {
                return effects.append(.reply(request, .refused(error)))
            }
            self.carryOut(asked, Asked(requester: .api(request), app: app, actor: person), now, &effects)
        case .sendCustom(let app, let message, let recipients, let clientMessageID):
            self.sendCustom(message, to: recipients, of: app, clientMessageID, for: request, now, &effects)
        case .unread(let user, let conversation):
            self.ask(.readUnread(user, conversation), for: .apiAnswer(request), &effects)
        case .setObjectNames(let app, let names):
            self.ask(.setObjectNames(app, names), for: .apiAnswer(request), &effects)
        case .objectNames(let app):
            self.ask(.readObjectNames(app), for: .apiAnswer(request), &effects)
        case .setAccount(let app, let account, let isDeclared):
            self.ask(.setAccount(app, account, isDeclared: isDeclared), for: .apiAnswer(request), &effects)
        case .accounts(let app):
            self.ask(.readAccounts(app), for: .apiAnswer(request), &effects)
        case .bans(let app, let room, let person):
            self.ask(.readBans(app, room, asked: person, at: now.wall), for: .apiAnswer(request), &effects)
        case .trace(let app, let message):
            self.ask(.trace(app, message), for: .apiAnswer(request), &effects)
        case .signOut(let device):
            self.signOut(device, for: request, now, &effects)
        case .signOutAll(let user):
            self.askOfDevices(.signOutAll, of: user, for: request, now, &effects)
        case .devices(let user):
            self.askOfDevices(.list, of: user, for: request, now, &effects)
        case .changeAccount(let user, let change):
            self.changeAccount(of: user, change, for: request, now, &effects)
        case .userAccount(let user):
            self.ask(.readAccount(user), for: .apiAnswer(request), &effects)
        case .fromExtension(let device, let issuedAt, let userTokenIssuedAt, let question):
            self.serve(
                question, of: device, tokenIssuedAt: (issuedAt, userTokenIssuedAt), for: request, now, &effects)
        }
    }

    /// Serves a service extension, if its device is signed in and its token is one of the last.
    ///
    /// A token that a newer connect has replaced is good for a while longer: the welcome that brought the newer one may have
    /// been lost on its way.
    ///
    /// - Parameter issuedAt: when the token was issued, and when the user token it was issued for.
    mutating func serve(
        _ question: ExtensionRequest, of device: DeviceKey, tokenIssuedAt issuedAt: (its: Int64, ofUser: Int64?),
        for request: APIRequestID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        let slot = self.slot(of: device.user, now, &effects)
        guard self.people[slot].isReady else {
            self.loadings[slot]?.queue.append(
                .fromExtension(
                    request, device, issuedAt: issuedAt.its, userTokenIssuedAt: issuedAt.ofUser, question))
            return
        }
        self.people[slot].busyAt = now.monotonic
        self.arm(slot)
        guard let index = self.people[slot].devices.index(of: device.device),
            issuedAt.its >= self.people[slot].devices[index].signedInAt - self.settings.extensionTokenOverlap,
            self.people[slot].account.fault(inTokenIssuedAt: issuedAt.ofUser) == nil
        else {
            let revoked = ServerFrame.Problem(
                code: .invalidToken, field: "token", rule: "was revoked: the device has signed out, or connected again")
            effects.append(.reply(request, .refused(revoked)))
            return
        }
        do throws(ServerFrame.Problem) {
            try self.admit(.requests, of: device.user.app, slot: slot, "request", now, &effects)
            try self.checkBacklog(of: .person(device.user), &effects)
        } catch {
            return effects.append(.reply(request, .refused(error)))
        }
        switch question {
        case .missed(let after, let limit):
            let entries = max(1, min(limit, self.settings.pageEntriesMax))
            self.ask(
                .readLog(device.user, after: after, limit: entries), for: .missed(request, device.user),
                by: .person(device.user), &effects)
        case .receipt(let message, let receipt):
            let leg = LegID(message: message, user: device.user, device: device.device)
            self.ask(
                .receipt(leg, receipt, at: now.wall), for: .apiAnswer(request), by: .person(device.user), &effects)
        }
    }

    /// A trace with the legs that are only in memory: live, in grace, queued or in flight.
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

    /// What the devices of a trace's legs have said the person allows there, in their order.
    func toldStatuses(of trace: MessageTrace) -> [ToldStatus] {
        var told: [ToldStatus] = []
        for leg in (trace.open.map(\.leg) + trace.ended.map(\.leg)).sorted() {
            guard let device = leg.device, let status = self.statuses[DeviceKey(user: leg.user, device: device)],
                told.last?.device != status.device
            else { continue }
            told.append(status)
        }
        return told
    }
}
