import APNsCore
import APNsModel
import OrderedCollections
import PhoneCore
import ServerCore
import TidingsModel

// Apple: requests in, answers and pushes out, and bad minutes.
extension World {
    mutating func send(_ request: APNsRequest, for push: PushID) {
        self.lastStream += 1
        self.pushes[self.lastStream] = (self.life, push)
        self.note("push \(request.collapseID ?? "-") to \(request.token)")
        // Every push has a connection of its own: what a pool decides is not part of this world yet.
        let connection = APNsService.ConnectionID(UInt64(self.lastStream))
        let facts = ProviderTokenFacts.read(
            keyID: "WORLDKEY01", teamID: "WORLDTEAM1", issuedAt: self.serverNow.wall / 1_000, signatureHolds: true,
            text: "bearer world")
        let drawn = APNsService.DrawnIDs(
            apnsID: request.apnsID ?? "00000000-0000-4000-8000-\(self.hexadecimal(UInt64(self.lastStream)).suffix(12))",
            uniqueID: "unique-\(self.lastStream)")
        let id = APNsService.RequestID(connection: connection, stream: self.lastStream)
        let wait = self.latencyToApple()
        self.plan(.apns(.connectionOpened(connection, .push(.sandbox), certificate: nil)), after: wait)
        self.plan(
            .apns(.requestReceived(id, WireRequest(request), token: facts, drawn: drawn)), after: wait)
        // An answer that never comes is the client's deadline.
        self.plan(.pushDeadline(stream: self.lastStream), after: 30_000)
    }

    /// The client's deadline: an answer that has not come by now is an unknown outcome.
    mutating func pushDeadline(stream: Int64) {
        self.answer(stream, .unknownOutcome("no answer in 30 s"), after: 0)
    }

    private func hexadecimal(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    mutating func handle(_ event: APNsService.Event) {
        if case .requestReceived(let id, _, _, _) = event, self.apns.isOut {
            return self.answer(id.stream, .notSent("no connection"), after: 50)
        }
        for effect in self.apns.handle(event, at: self.now) { self.perform(effect) }
        guard case .requestReceived(let id, _, _, _) = event else { return }
        for effect in self.apns.handle(.connectionClosed(id.connection), at: self.now) { self.perform(effect) }
    }

    private mutating func perform(_ effect: APNsService.Effect) {
        switch effect {
        case .respond(let id, let response, _, let delay):
            if response.status == 200 { self.report.pushes += 1 }
            self.note("apns answers \(response.status) \(response.reason?.name ?? "")")
            self.answer(id.stream, response.outcome(sentID: nil), after: delay + self.latencyToApple())
        case .confirmRegistration(let courier, _, let topic, _, _, let token):
            guard let phone = self.phoneOfCourier[courier.rawValue] else { return }
            self.phones[phone].awaitsToken = false
            self.plan(
                .phone(phone, .courier(.tokenIssued(BundleID(topic), token))), after: self.latency(of: phone))
        case .push(let courier, let delivery, let push):
            guard let phone = self.phoneOfCourier[courier.rawValue],
                let payload = (try? JSONValue(parsing: push.payload))?.objectValue
            else { return }
            let arrived = Push(
                delivery: UInt64(delivery), topic: push.target.topic, payload: payload,
                pushType: push.pushType.rawValue,
                priority: push.priority.rawValue, collapseID: push.collapseID)
            // Apple promises no time: some pushes come when all has long been said on the connection.
            let delay = self.hasHealed ? 0 : self.delay(of: phone)
            self.plan(
                .pushArrives(phone, generation: self.phones[phone].tokenGeneration, arrived),
                after: delay + self.latency(of: phone))
        case .reject(_, let fault): self.checkers.foundBug("courier: \(fault)")
        case .log(let entry):
            switch entry.event {
            case .overwritten: self.see(.reached(.overwritten))
            case .duplicated: self.see(.reached(.duplicated))
            case .accepted, .refused, .answerLost, .faulted, .stored, .held, .sent, .delivered, .returned, .discarded:
                break
            }
        case .wake(let time): self.agenda.plan(.apns(.timeReached), at: time)
        // Every push has a connection of its own, so that the end of one is known by the answer that does not come; and
        // Apple never restarts here, so that nothing has to be kept.
        case .cutConnection, .announceStreamLimit, .resetStream, .goAway, .silenceConnection, .refuseConnection,
            .alertTLS,
            .welcome, .closeCourier, .save, .forget:
            break
        }
    }

    /// How much longer a push to a phone takes than others.
    private mutating func delay(of phone: Int) -> Int64 {
        self.takeTurn(.air(phone))
        guard self.chance.chance(perMille: Int64(self.options.faults.push)), self.happens() else { return 0 }
        let delay = self.chance.number(1_000...60_000)
        self.see(.held(until: self.time + delay, on: self.phones[phone].device))
        return delay
    }

    /// The first answer to a request counts.
    private mutating func answer(_ stream: Int64, _ outcome: APNsOutcome, after milliseconds: Int64) {
        guard let (life, push) = self.pushes.removeValue(forKey: stream) else { return }
        self.plan(.server(life: life, .pushEnded(push, outcome)), after: milliseconds)
    }

    mutating func maybeBreakAPNs() {
        guard !self.hasHealed else { return }
        self.plan(.chanceOfAPNsFault, after: 60_000)
        self.takeTurn(.apns)
        guard self.chance.chance(perMille: self.options.faults.apns), self.happens() else { return }
        let plan: FaultPlan
        switch self.chance.number(0...7) {
        case 0: plan = FaultPlan(.respond(status: 503, .serviceUnavailable, retryAfter: nil))
        case 1: plan = FaultPlan(.respond(status: 500, .internalServerError, retryAfter: nil))
        case 2: plan = FaultPlan(.loseAnswer)
        case 3: plan = FaultPlan(.delay(milliseconds: 20_000))
        case 4:
            plan = FaultPlan(.respond(status: 429, .tooManyRequests, retryAfter: nil))
            self.see(.reached(.throttles))
        case 5:
            plan = FaultPlan(.respond(status: 503, .shutdown, retryAfter: nil))
            self.see(.reached(.shutdowns))
        case 6:
            // As if the app were built for the other side of Apple's.
            plan = FaultPlan(rules: [FaultRule(.respond(status: 400, .badDeviceToken, retryAfter: nil), count: 2)])
            self.see(.wrongEnvironment)
        default: plan = FaultPlan(.outage)
        }
        self.note("apns fault \(plan.rules.map(\.fault))")
        self.plan(.apnsFault(plan), after: 0)
        let length = self.chance.number(5_000...90_000)
        self.plan(.apnsFault(FaultPlan()), after: length)
        // An answer that is lost is waited for, and who has failed waits longer each time.
        self.see(.held(until: self.time + 2 * length + 60_000, on: nil))
    }
}
