import OrderedCollections
import ServerCore
import StoreMachine
import StoreModel
import TidingsModel

extension World {
    mutating func startServer() {
        // Opening the store writes: without room the process ends at once, and is started again.
        guard !self.isDiskFull else { return self.plan(.serverStart, after: 2_000) }
        self.life += 1
        self.connectionsBefore = self.connections.count
        var settings = ServerSettings()
        settings.node = 1
        settings.appsWithOwnProfiles = [Self.app]
        settings.pushTextModes[Self.app] = self.options.population.pushText
        if self.options.population.isOnlySender { settings.onlyPushSenders = [Self.app] }
        settings.pushRules[Self.app] = Self.pushRules
        settings.tags[Self.app] = Set(Self.pushTags)
        if !self.options.population.accounts.isEmpty { settings.offeredAccounts = Self.offeredAccounts }
        settings.sendsInFlightMax = self.options.population.sendsInFlightMax
        if self.options.faults.hasHostileClients { Self.limitHostileClients(&settings.limits) }
        self.server = ServerCore(settings: settings, seed: self.diskChance.next())
        // A server that starts has no APNs client: each is made by its first push.
        self.startSenders()
        self.emit(.held(until: self.time + self.connectingTime, on: nil))
        self.hasStoreFailed = false
        let opening = self.store.open()
        self.epoch = opening.epoch
        let life = self.life
        self.emit(.serverStarted)
        self.appendTrace("server starts, life \(life), \(opening.pending.count) people with work")
        self.handle(ServerEvent.opened(opening))
    }

    mutating func handle(_ event: consuming ServerEvent) {
        guard self.server != nil else { return }
        var effects = self.scratch.server.borrow()
        defer { self.scratch.server.giveBack(&effects) }
        let now = self.serverNow
        self.server?.handle(consume event, at: now, into: &effects)
        let life = self.life
        // Taken out one after the other: a copy of each would cost more than to carry it out.
        for place in effects.indices {
            // Who watches is no part of the World: no crash comes before or after it.
            if case .report = effects[place] { continue }
            if let left = self.effectsToCrash {
                guard left > 0 else { return self.crash() }
                self.effectsToCrash = left - 1
            }
            self.perform(effects.takeElement(place, leaving: .drained))
            guard life == self.life else { return }
        }
        guard let deadline = self.server?.nextDeadline, deadline != self.serverTimerAt else { return }
        self.serverTimerAt = max(deadline, self.time)
        self.agenda.plan(.serverTimer(life: self.life), at: max(deadline, self.time))
    }

    private mutating func perform(_ effect: consuming ServerEffect) {
        switch effect {
        case .write(let session, let frame):
            guard session.rawValue < Self.firstHostileSession else {
                return self.handleHostileFrame(frame, on: session)
            }
            guard let index = self.connectionIndex(session) else { return }
            if case .signal(.typing(_, let user, _)) = frame, Self.isHostile(user) {
                self.emit(.hostile(.relayed(to: session)))
            }
            self.write(frame, on: index)
        case .close(let session):
            guard session.rawValue < Self.firstHostileSession else {
                self.hostile.sessions.removeValue(forKey: session)
                return
            }
            guard let index = self.connectionIndex(session) else { return }
            self.connections[index].serverIsOpen = false
            if !self.connections[index].isDead {
                self.agenda.plan(.clientHangUp(index), at: max(self.time, self.connections[index].clientArrival) + 1)
            }
        case .probe(let session):
            guard let index = self.connectionIndex(session), !self.connections[index].isDead else { return }
            let connection = self.connections[index]
            let process = self.phones[connection.phone].processes[connection.process]
            guard connection.clientIsOpen, process?.isSuspended == false else { return }
            let pause = self.pause(on: index).map { $0.upperBound - self.time } ?? 0
            self.plan(.server(life: self.life, .heard(session)), after: pause + 2 * self.latency(on: index))
        case .store(let request, let command):
            self.batch.append(command)
            self.batchRequests.append(request)
            guard !self.isSyncing else { return }
            self.isSyncing = true
            self.plan(.storeSynced(life: self.life), after: self.syncDelay + self.diskChance.number(1...8))
        case .push(let push, let device, let request):
            let sent = SentPush(request)
            if let message = sent.alert?.message, self.callsToRecall.contains(message) {
                self.pushedCalls[push] = message
            }
            if let key = self.recipient(of: sent, for: device) { self.emit(.pushed(sent, to: key)) }
            self.send(request, for: push, of: device.user.app)
        case .readTimeZone(let name):
            self.plan(.server(life: self.life, .timeZoneRead(name, Self.zone)), after: 1)
        case .checkToken(let session, let number, let token):
            guard let index = self.connectionIndex(session) else { return }
            let verdict = self.verdict(on: token, of: self.connections[index].phone)
            self.plan(.server(life: self.life, .tokenChecked(session, number, verdict)), after: 1)
        case .flagBug(let text): self.checkers.foundBug("server: \(text)")
        case .stopForStoreFailure(let text):
            if !self.hasStoreFailed { self.checkers.foundBug("server stopped: \(text)") }
            self.stopForStoreFailure()
        case .reply(let request, let result):
            self.openAPIRequests.remove(request)
            self.handleAPIResult(result, of: request)
        // Nobody in the World asks for what passes by the log.
        case .pass, .broadcast, .manageChannels: break
        case .countEnd, .countRefusal, .countRefusedRegistration, .turnAway, .noteAct, .raiseAlarm, .clearAlarm,
            .storageChanged, .controlChanged, .drained, .report:
            break
        }
    }

    /// By the tag, which must be the device's. A push of the number alone has none: who holds the phone by now may have signed in without
    /// its knowing yet.
    private mutating func recipient(of sent: SentPush, for device: DeviceKey) -> DeviceKey? {
        if let key = sent.recipientTag.flatMap({ self.tags[$0] }) {
            if key != device { self.checkers.foundBug("a push for \(device) has the tag of \(key)") }
            return key
        }
        guard sent.isNumberOnly, self.phones.contains(where: { $0.registration?.token == sent.token }) else {
            return nil
        }
        if sent.recipientTag != nil { self.checkers.foundBug("a number for \(device) has a tag that nobody was given") }
        return device
    }

    private mutating func handleAPIResult(_ result: APIResult, of request: APIRequestID) {
        if self.otherTenants.contains(request) {
            self.appendTrace("\(request) of the other tenant is answered", more: "\(result)")
            if case .accepted(let accepted, _) = result { self.emit(.otherTenantNotified(accepted.messageID)) }
        } else if case .accepted(let accepted, _) = result {
            self.emit(.apiAccepted(accepted.messageID))
            self.recallCall(accepted)
        } else {
            self.appendTrace("\(request) is answered", more: "\(result)")
            self.answerExtension(request, result)
        }
    }

    private func connectionIndex(_ session: SessionID) -> Int? {
        // Sessions are numbered from 1 on in the order in which connections are opened.
        let index = Int(session.rawValue) - 1
        guard self.connections.indices.contains(index) else { return nil }
        let connection = self.connections[index]
        return connection.life == self.life && connection.serverIsOpen ? index : nil
    }

    /// Only now what was handed to the disk survives, and only now the core is told (design.md P1).
    mutating func syncDisk() {
        self.isSyncing = false
        let (commands, handed) = (self.batch, self.batchRequests)
        self.batch = []
        self.batchRequests = []
        guard !self.isDiskFull else { return self.refuse(handed, because: "no space left on device") }
        do {
            let results = try self.store.apply(commands, epoch: self.epoch)
            for place in commands.indices {
                self.emit(.committed(commands[place], results[place]))
                self.emitStep(commands[place], results[place])
                switch results[place] {
                case .accepted:
                    self.emitAway(commands[place], results[place])
                    self.noteSent(commands[place])
                case .profiles(let profiles): self.emitTold(profiles, for: commands[place])
                case .changed(let changes, _):
                    for made in changes where made.change.version == 1 { self.groups.append(made.change.conversation) }
                case .pushJob(let job?):
                    if case .createPush = commands[place] { self.pushJobs.append(job.id) }
                default: break  // tidy: the other results concern neither who is away, nor groups, nor accounts
                }
            }
            let life = self.life
            for place in handed.indices {
                for _ in 0..<results[place].factCount { self.emit(.heard) }
                self.handle(ServerEvent.stored(handed[place], results[place]))
                guard life == self.life else { return }
            }
        } catch let fault as MemoryRows.Fault {
            self.emit(.reached(fault == .full ? .tornBatches : .failedSyncs))
            self.refuse(handed, because: "\(fault)")
        } catch {
            self.checkers.foundBug("the store refused its owner: \(error)")
        }
    }

    /// Nothing of a batch was committed: the server ends, as it does with a store that has stopped.
    private mutating func refuse(_ requests: [StoreRequestID], because reason: String) {
        self.hasStoreFailed = true
        let life = self.life
        for request in requests where life == self.life {
            self.handle(ServerEvent.stored(request, .failed(reason)))
        }
    }

    private mutating func emitStep(_ command: StoreCommand, _ result: StoreResult) {
        guard case .stepPush(_, _, _, _, let at) = command, case .pushStep(let step) = result else { return }
        for one in step.asCommands(at: at) {
            self.emit(.committed(one.command, one.result))
            self.emitAway(one.command, one.result)
            self.noteSent(one.command)
        }
    }

    mutating func maybeCrash() {
        guard !self.hasHealed else { return }
        self.plan(.chanceOfCrash, after: 10_000)
        self.beginDraw(of: .store)
        if self.server != nil, self.effectsToCrash == nil {
            self.maybeBreakServer(by: self.options.faults.storeFaults, perMille: self.options.faults.server / 2)
        }
        self.beginDraw(of: .server)
        guard self.server != nil, self.effectsToCrash == nil else { return }
        guard self.chance.chance(perMille: self.options.faults.crash) else {
            return self.maybeBreakServer(by: self.options.faults.serverFaults, perMille: self.options.faults.server)
        }
        guard self.happens() else { return }
        // Between any two effects, if there is work; else by itself.
        let effects = self.chance.number(0...40)
        self.effectsToCrash = effects
        self.appendTrace("the server is to crash after \(effects) effects, or in 5 s")
        self.plan(.serverCrash, after: 5_000)
    }

    /// Everything in memory is gone, and what the disk had not synced.
    mutating func crash() {
        guard self.server != nil, self.effectsToCrash != nil else { return }
        let unsynced = self.batch.count
        self.appendTrace("server crashes with \(unsynced) commands unsynced")
        self.report.crashes += 1
        self.endServer()
    }

    mutating func endServer() {
        self.server = nil
        self.closeSenders()
        self.effectsToCrash = nil
        self.life += 1
        self.batch = []
        self.batchRequests = []
        self.openAPIRequests = []
        self.hostile.sessions = [:]
        self.hostileWaits = []
        self.hostileDrafts = []
        self.isSyncing = false
        self.serverTimerAt = nil
        for index in self.connections.indices.dropFirst(self.connectionsBefore)
        where self.connections[index].serverIsOpen {
            self.connections[index].serverIsOpen = false
            if self.connections[index].clientIsOpen, !self.connections[index].isDead {
                self.plan(.clientHangUp(index), after: self.latency(on: index))
            }
        }
        self.plan(.serverStart, after: self.diskChance.number(200...6_000))
        self.emit(.held(until: self.time + 6_000, on: nil))
    }
}
