import TidingsModel

extension ReferenceStore {
    mutating func signIn(_ key: DeviceKey, platform: String, tokenIssuedAt: Int64?, at: Int64) -> StoreResult {
        let account = self.people.read(key.user) { $0.account }
        if let fault = account?.fault(inTokenIssuedAt: tokenIssuedAt) { return .refused(fault) }
        let place = self.people.place(making: key.user)
        let device: DeviceRecord
        if var known = self.people[place].devices[key.device], !known.isSignedOut {
            known.platform = platform
            known.signedInAt = at
            device = known
        } else {
            let head = self.people[place].head
            device = DeviceRecord(
                key: key, platform: platform, push: .none, settled: head, decided: head, since: head, signedInAt: at,
                isSignedOut: false)
        }
        self.people[place].devices[key.device] = device
        // tidy: order does not leave: those that are forgotten do not depend on it
        for forgotten in DeviceRecord.forgotten(of: self.people[place].devices.values) {
            self.people[place].devices[forgotten] = nil
        }
        return .device(device)
    }

    mutating func changeAccount(_ key: UserKey, _ change: AccountChange, at: Int64) -> StoreResult {
        if let end = change.endOfLegs {
            let devices = self.people.read(key) { $0.devices.keys.sorted() } ?? []
            for device in devices { _ = self.signOut(DeviceKey(user: key, device: device), end, at: at) }
        }
        let before = self.people.read(key) { $0.account } ?? AccountState()
        var after = before
        after.apply(change)
        if after != before { self.people[self.people.place(making: key)].account = after }
        return .done
    }

    mutating func signOut(_ key: DeviceKey, _ end: LegEnd = .signedOut, at: Int64) -> StoreResult {
        guard let place = self.people.place(of: key.user), let device = self.people[place].devices[key.device],
            !device.isSignedOut
        else { return .done }
        self.setPush(.none, of: key)
        self.people[place].devices[key.device]?.voIP = nil
        self.people[place].devices[key.device]?.isSignedOut = true
        self.people[place].devices[key.device]?.unpushed = UnpushedMessages()
        self.people[place].devices[key.device]?.status = nil
        self.endLegs(of: key, end, at: at)
        for end in self.undecided(of: device, end, at: at) { self.keepEnd(end) }
        return .done
    }

    mutating func setPushState(_ key: DeviceKey, _ state: PushState, about: PushRegistration?) -> StoreResult {
        guard let place = self.people.place(of: key.user), let device = self.people[place].devices[key.device] else {
            return .refused(StoreRules.unknownDevice(key))
        }
        if device.isSignedOut || (about != nil && device.push.registration != about) { return .done }
        self.setPush(state, of: key)
        guard about == nil, case .registered(let registration, let at, _) = state else { return .done }
        let holding = Holding(app: key.user.app, registration: registration)
        let others = (self.holders[holding] ?? []).filter { $0 != key }.sorted()
        for other in others {
            self.setPush(.none, of: other)
            self.endLegs(of: other, .noToken, at: at)
        }
        return others.isEmpty ? .done : .taken(others)
    }

    mutating func setDeviceStatus(_ key: DeviceKey, _ status: ReportedStatus) -> StoreResult {
        guard let place = self.people.place(of: key.user),
            self.people[place].devices[key.device]?.isSignedOut == false
        else { return .done }
        self.people[place].devices[key.device]?.status = status
        return .done
    }

    mutating func setVoIPToken(_ key: DeviceKey, _ token: VoIPToken?, about: PushRegistration?) -> StoreResult {
        guard let place = self.people.place(of: key.user), let device = self.people[place].devices[key.device] else {
            return .refused(StoreRules.unknownDevice(key))
        }
        if device.isSignedOut || (about != nil && device.voIP?.registration != about) { return .done }
        self.people[place].devices[key.device]?.voIP = token
        guard let registration = token?.registration else { return .done }
        var others: [DeviceKey] = []
        for user in self.people.keys where user.app == key.user.app {
            guard let other = self.people.place(of: user) else { continue }
            // tidy: order does not leave: the keys are sorted
            for device in self.people[other].devices.values
            where device.key != key && device.voIP?.registration == registration {
                others.append(device.key)
            }
        }
        for other in others.sorted() {
            guard let place = self.people.place(of: other.user) else { continue }
            self.people[place].devices[other.device]?.voIP = nil
        }
        return others.isEmpty ? .done : .taken(others.sorted())
    }

    /// The only place that changes the push state of a known device.
    private mutating func setPush(_ state: PushState, of key: DeviceKey) {
        guard let place = self.people.place(of: key.user),
            let before = self.people[place].devices[key.device]?.push
        else { return }
        self.people[place].devices[key.device]?.push = state
        let app = key.user.app
        if let registration = before.registration {
            let holding = Holding(app: app, registration: registration)
            self.holders[holding]?.remove(key)
            if self.holders[holding]?.isEmpty == true { self.holders[holding] = nil }
        }
        if let registration = state.registration {
            self.holders[Holding(app: app, registration: registration), default: []].insert(key)
        }
    }

    /// Ends of legs that are only in their owner's memory: no crash may lose them (design.md P6).
    private func undecided(of device: DeviceRecord, _ end: LegEnd, at: Int64) -> [EndedLeg] {
        let (log, hushed) = self.people.read(device.key.user) { ($0.log, $0.hushed) } ?? ([], [])
        return log[Int(max(device.settled, device.decided))...].compactMap { entry in
            func leg(_ id: MessageID) -> LegID {
                LegID(message: id, user: device.key.user, device: device.key.device)
            }
            switch entry.body {
            case .message(let message):
                let accepted = self.messages[message.id]
                let isOwn =
                    message.sender == device.key.user.user && accepted?.device == device.key.device
                    && accepted?.author == nil
                guard self.ended[message.id]?.end(of: leg(message.id)) == nil else { return nil }
                return EndedLeg(
                    leg: leg(message.id), end: isOwn ? .ownDevice : end, at: at, pushJob: message.pushJob)
            case .recall(let recall):
                guard !hushed.contains(entry.position),
                    self.ended[recall.message]?.end(of: leg(recall.message))?.mayBeShown == true
                else { return nil }
                return EndedLeg(leg: leg(recall.id), end: end, at: at)
            case .read, .custom, .edit, .deletion, .change, .conversationSettings, .personSettings, .blocked, .unknown:
                return nil
            }
        }
    }

    private mutating func endLegs(of key: DeviceKey, _ end: LegEnd, at: Int64) {
        let open = self.people.read(key.user) { $0.openLegs } ?? [:]
        let legs = open.values.filter { $0.leg.device == key.device }.sorted { $0.leg < $1.leg }
        for open in legs {
            _ = self.endLeg(EndedLeg(leg: open.leg, end: end, at: at, pushJob: open.pushJob, steps: open.steps))
        }
    }

    mutating func advance(_ key: DeviceKey, settled: LogPosition?, decided: LogPosition?) -> StoreResult {
        guard let place = self.people.place(of: key.user),
            let device = self.people[place].devices.index(forKey: key.device)
        else { return .refused(StoreRules.unknownDevice(key)) }
        let head = self.people[place].head
        if let settled, settled > head {
            return .refused(StoreRules.pastHead(field: "settled", head: head, got: settled))
        }
        if let decided, decided > head {
            return .refused(StoreRules.pastHead(field: "decided", head: head, got: decided))
        }
        self.people[place].devices.values[device].advance(settled: settled, decided: decided, head: head)
        return .done
    }

    mutating func keepLeg(_ leg: OpenLeg) -> StoreResult {
        self.people[self.people.place(making: leg.leg.user)].openLegs[leg.leg] = leg
        return .done
    }

    mutating func endLeg(_ end: EndedLeg) -> StoreResult {
        let place = self.people.place(making: end.leg.user)
        if !self.people[place].openLegs.isEmpty { self.people[place].openLegs[end.leg] = nil }
        if end.end.couldNotBePushed, let device = end.leg.device, let place = self.people.place(of: end.leg.user),
            self.people[place].devices[device]?.isSignedOut == false
        {
            self.people[place].devices[device]?.unpushed.insert(end.leg.message)
        }
        self.keepEnd(end)
        return .done
    }

    mutating func keepEnd(_ end: EndedLeg) {
        self.count(end)
        self.ended[end.leg.message, default: Ends()].insert(end.inTrace)
    }

    mutating func keepReceipt(_ leg: LegID, _ receipt: LegReceipt, at: Int64) -> StoreResult {
        let deliveries = self.messages[leg.message]?.deliveries ?? self.others[leg.message]?.deliveries ?? []
        let app = self.messages[leg.message]?.message.app ?? self.others[leg.message]?.subject.app
        guard app == leg.user.app, deliveries.contains(where: { $0.user == leg.user.user }) else { return .done }
        let key = ReceiptKey(leg: leg, receipt: receipt)
        if self.receipts[leg.message]?[key] == nil {
            self.receipts[leg.message, default: [:]][key] = at
            if let job = self.messages[leg.message]?.message.pushJob { self.pushes[job]?.job.counts.add(receipt) }
        }
        return .done
    }
}
