import APNsCore
import APNsModel
import PhoneCore
import TidingsModel

// Apple: what its core wants done.
extension World {
    mutating func handle(_ event: APNsService.Event) {
        var effects = self.scratch.apns.borrow()
        defer { self.scratch.apns.giveBack(&effects) }
        self.apns.handle(event, at: self.now, into: &effects)
        for effect in effects { self.perform(effect) }
    }

    mutating func perform(_ effect: APNsService.Effect) {
        switch effect {
        case .respond(let id, let response, _, let delay):
            if response.status == 200 { self.report.pushes += 1 }
            self.appendTrace("apns answers \(response.status) \(response.reason?.name ?? "")")
            guard delay > 0 else { return self.answerPush(id, response) }
            self.plan(.appleAnswers(id, response), after: delay)
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
            // Apple promises no time: some pushes come long after the message was delivered on the connection.
            let delay = self.hasHealed ? 0 : self.delay(of: phone)
            self.plan(
                .pushArrives(phone, generation: self.phones[phone].tokenGeneration, arrived),
                after: delay + self.latency(of: phone))
        case .reject(_, let fault): self.checkers.foundBug("courier: \(fault)")
        case .log(let entry):
            for mark in self.numbersAtAPNs.marks(of: entry) { self.emit(.reached(mark)) }
            switch entry.event {
            case .overwritten: self.emit(.reached(.overwritten))
            case .duplicated: self.emit(.reached(.duplicated))
            case .held:
                let index = self.phones.indices.first { entry.token == self.token(of: $0).description }
                if let index { self.emit(.wakeHeld(self.phones[index].device)) }
            case .accepted, .refused, .answerLost, .faulted, .stored, .sent, .delivered, .returned, .discarded:
                break
            }
        case .wake(let time): self.agenda.plan(.apns(.timeReached), at: time)
        case .cutConnection, .announceStreamLimit, .resetStream, .goAway, .silenceConnection, .refuseConnection,
            .alertTLS:
            self.perform(onLink: effect)
        // Apple never restarts here, so that nothing has to be kept.
        case .welcome, .closeCourier, .save, .forget: break
        }
    }

    private mutating func delay(of phone: Int) -> Int64 {
        self.beginDraw(of: .radio(phone))
        guard self.chance.chance(perMille: Int64(self.options.faults.push)), self.happens() else { return 0 }
        let delay = self.chance.number(1_000...60_000)
        self.emit(.held(until: self.time + delay, on: self.phones[phone].device))
        return delay
    }
}
