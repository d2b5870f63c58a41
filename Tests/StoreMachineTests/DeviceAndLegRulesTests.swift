import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `A device` {
    @Test func `that signs in for the first time starts at the head`() throws {
        var opened = try Opened(sending: message(1))
        let expected = DeviceRecord(
            key: phone, platform: "ios", push: .none, settled: 1, decided: 1, since: 1, signedInAt: 7,
            isSignedOut: false)
        #expect(try opened.apply(.signIn(phone, platform: "ios", at: 7)) == .device(expected))
    }

    @Test func `that comes back keeps its cursors and its token`() throws {
        var opened = Opened()
        let registration = PushRegistration(token: "ab", environment: .sandbox, topic: "com.example")
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 7))
        _ = try opened.apply(.setPushState(phone, .registered(registration, at: 8)))
        _ = try opened.send(message(1))
        let expected = DeviceRecord(
            key: phone, platform: "ipados", push: .registered(registration, at: 8), settled: 0, decided: 0, since: 0,
            signedInAt: 9, isSignedOut: false)
        #expect(try opened.apply(.signIn(phone, platform: "ipados", at: 9)) == .device(expected))
    }

    /// Ends a leg of the phone's.
    private func end(_ id: UInt64, _ end: LegEnd, in opened: inout Opened) throws {
        let leg = LegID(message: MessageID(rawValue: id), user: bo, device: "phone")
        _ = try opened.apply(.endLeg(EndedLeg(leg: leg, end: end, at: 8)))
    }

    @Test func `keeps what could not be pushed to it until it has settled its log`() throws {
        var opened = Opened()
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 7))
        for id: UInt64 in 1...6 { _ = try opened.send(message(id)) }
        let ends: [LegEnd] = [
            .rejected(reason: "PayloadEmpty"), .accepted(apnsID: "x"), .tokenDead(timestamp: 1), .muted,
            .tokenQuarantined(reason: "BadDeviceToken", status: 400), .noToken,
        ]
        for (id, end) in ends.enumerated().reversed() { try self.end(UInt64(id + 1), end, in: &opened) }
        // Told again after a crash it is one.
        try self.end(6, .noToken, in: &opened)
        func unpushed() throws -> [UInt64]? { try opened.user(bo)?.devices[0].unpushed.ids.map(\.rawValue) }
        #expect(try unpushed() == [1, 3, 5, 6])
        _ = try opened.apply(.advance(phone, settled: 5, decided: 6))
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 9))
        #expect(try unpushed() == [1, 3, 5, 6])
        _ = try opened.apply(.advance(phone, settled: 6, decided: nil))
        #expect(try unpushed() == [])
        _ = try opened.send(message(7))
        try self.end(7, .noToken, in: &opened)
        _ = try opened.apply(.signOut(phone, at: 9))
        try self.end(7, .noToken, in: &opened)
        #expect(try unpushed() == [])
    }

    @Test func `keeps the newest of what could not be pushed to it`() throws {
        var opened = Opened()
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 7))
        let count = UInt64(UnpushedMessages.countMax)
        for id in 1...count + 1 {
            _ = try opened.send(message(id))
            try self.end(id, .noToken, in: &opened)
        }
        try self.end(1, .noToken, in: &opened)
        #expect(try opened.user(bo)?.devices[0].unpushed.ids.map(\.rawValue) == Array(2...count + 1))
    }

    @Test func `that signs out loses its token, and its legs end`() throws {
        var opened = Opened()
        let registration = PushRegistration(token: "ab", environment: .sandbox, topic: "com.example")
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 7))
        _ = try opened.apply(.setPushState(phone, .registered(registration, at: 8)))
        _ = try opened.send(message(1))
        let leg = LegID(message: MessageID(rawValue: 1), user: bo, device: "phone")
        let other = LegID(message: MessageID(rawValue: 1), user: bo, device: "pad")
        _ = try opened.apply(.keepLeg(OpenLeg(leg: leg, position: 1, wait: .throttled)))
        _ = try opened.apply(.keepLeg(OpenLeg(leg: other, position: 1, wait: .throttled)))
        #expect(opened.store.openLegCount == 2)
        #expect(try opened.apply(.signOut(phone, at: 9)) == .done)
        // What its owner kept before it knew opens none again.
        _ = try opened.apply(.keepLeg(OpenLeg(leg: leg, position: 1, wait: .throttled)))
        #expect(opened.store.openLegCount == 1)
        let user = try opened.user(bo)
        #expect(user?.devices.map(\.push) == [.none])
        #expect(user?.devices.map(\.isSignedOut) == [true])
        #expect(user?.openLegs.map(\.leg) == [other])
        guard case .trace(let trace) = try opened.apply(.trace("shop", MessageID(rawValue: 1))) else { return }
        #expect(trace?.ended == [EndedLeg(leg: leg, end: .signedOut, at: 9)])
    }

    /// What was under way only its owner's memory knows: whatever happens to the owner, it has ended.
    @Test func `that signs out ends what it has not settled, and nothing has decided`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 7))
        for id: UInt64 in 2...5 { _ = try opened.send(message(id)) }
        _ = try opened.apply(.advance(phone, settled: 2, decided: 3))
        let early = LegID(message: MessageID(rawValue: 4), user: bo, device: "phone")
        _ = try opened.apply(.endLeg(EndedLeg(leg: early, end: .muted, at: 8)))
        _ = try opened.apply(.signOut(phone, at: 9))
        _ = try opened.send(message(6))
        // Of the second and third the owner had told before it moved the cursors; of the first there never was one.
        #expect(try opened.ends(of: "phone", of: bo) == [4: .muted, 5: .signedOut])
        #expect(try opened.ended(5)?.at == 9)
        // Who comes back has new ones only, and signs out as often as it comes.
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 10))
        _ = try opened.send(message(7))
        _ = try opened.apply(.signOut(phone, at: 11))
        #expect(try opened.ends(of: "phone", of: bo) == [4: .muted, 5: .signedOut, 7: .signedOut])
    }

    @Test func `that signs out right after it has sent something ends that as its own`() throws {
        var opened = Opened()
        for device: DeviceID in ["phone", "pad"] {
            _ = try opened.apply(.signIn(DeviceKey(user: bo, device: device), platform: "ios", at: 7))
        }
        _ = try opened.apply(.accept(message: message(1, from: "bo", in: toAda), senderDevice: "phone"))
        for device: DeviceID in ["phone", "pad"] {
            _ = try opened.apply(.signOut(DeviceKey(user: bo, device: device), at: 9))
        }
        #expect(try opened.ends(of: "phone", of: bo) == [1: .ownDevice])
        #expect(try opened.ends(of: "pad", of: bo) == [1: .signedOut])
    }

    @Test(arguments: [LegEnd.accepted(apnsID: "A"), .settled(.shown), .settled(.notified), .muted])
    func `that signs out hears of no recall any more of what it has shown`(end: LegEnd) throws {
        var opened = Opened()
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 7))
        _ = try opened.send(message(1))
        let leg = LegID(message: MessageID(rawValue: 1), user: bo, device: "phone")
        _ = try opened.apply(.endLeg(EndedLeg(leg: leg, end: end, at: 8)))
        _ = try opened.recall(1, as: 2, by: "ada")
        _ = try opened.apply(.signOut(phone, at: 9))
        // Of what it never showed it had not to hear: there is no such leg.
        #expect(try opened.ends(of: "phone", of: bo) == (end == .muted ? [1: end] : [1: end, 2: .signedOut]))
    }

    @Test func `that signed out starts anew at the head, and is given no token before`() throws {
        var opened = Opened()
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 7))
        _ = try opened.apply(.signOut(phone, at: 8))
        _ = try opened.send(message(1))
        #expect(try opened.apply(.setPushState(phone, .dead(timestamp: 1))) == .done)
        let expected = DeviceRecord(
            key: phone, platform: "ios", push: .none, settled: 1, decided: 1, since: 1, signedInAt: 9,
            isSignedOut: false)
        #expect(try opened.apply(.signIn(phone, platform: "ios", at: 9)) == .device(expected))
    }

    @Test func `moves its cursors forward only, and not past the head`() throws {
        var opened = Opened()
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 7))
        for id: UInt64 in 1...3 { _ = try opened.send(message(id)) }
        #expect(try opened.apply(.advance(phone, settled: 2, decided: nil)) == .done)
        #expect(try opened.apply(.advance(phone, settled: 1, decided: 3)) == .done)
        let device = try opened.user(bo)?.devices.first
        #expect(device?.settled == 2)
        #expect(device?.decided == 3)
        let result = try opened.apply(.advance(phone, settled: 3, decided: 4))
        #expect(result == .refused(StoreRules.pastHead(field: "decided", head: 3, got: 4)))
        #expect(try opened.user(bo)?.devices.first?.settled == 2)
    }

    @Test func `that never signed in has no cursors and no token`() throws {
        var opened = Opened()
        let refusal = StoreResult.refused(
            .init(InvalidField(field: "device", rule: "must have signed in before, got \"phone\"")))
        #expect(try opened.apply(.advance(phone, settled: 0, decided: nil)) == refusal)
        #expect(try opened.apply(.setPushState(phone, .none)) == refusal)
        #expect(try opened.apply(.signOut(phone, at: 1)) == .done)
        #expect(opened.store.dump().people == [])
    }
}

@Suite struct `A leg` {
    private let leg = LegID(message: MessageID(rawValue: 1), user: bo, device: "phone")

    @Test func `that is kept replaces its earlier state, and is gone when it ends`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.apply(.keepLeg(OpenLeg(leg: self.leg, position: 1, wait: .throttled)))
        let inFlight = OpenLeg(leg: self.leg, position: 1, wait: .inFlight, apnsID: "A", attempts: 1, notBefore: 5)
        _ = try opened.apply(.keepLeg(inFlight))
        #expect(try opened.user(bo)?.openLegs == [inFlight])
        _ = try opened.apply(.endLeg(EndedLeg(leg: self.leg, end: .accepted(apnsID: "A"), at: 6)))
        #expect(try opened.user(bo)?.openLegs == [])
    }

    @Test func `ends once: the first end stays`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.apply(.endLeg(EndedLeg(leg: self.leg, end: .muted, at: 6)))
        _ = try opened.apply(.endLeg(EndedLeg(leg: self.leg, end: .expired, at: 7)))
        _ = try opened.apply(.receipt(self.leg, .shown, at: 8))
        _ = try opened.apply(.receipt(self.leg, .shown, at: 9))
        _ = try opened.apply(.receipt(self.leg, .opened, at: 9))
        let nobody = LegID(message: MessageID(rawValue: 1), user: bo, device: nil)
        _ = try opened.apply(.endLeg(EndedLeg(leg: nobody, end: .noDevice, at: 11)))
        let trace = MessageTrace(
            of: .message(message(1)), deliveries: [at(1, "ada"), at(1, "bo", unread: 1)], open: [],
            ended: [EndedLeg(leg: nobody, end: .noDevice, at: 10), EndedLeg(leg: self.leg, end: .muted, at: 6)],
            receipts: [.init(leg: self.leg, receipt: .opened, at: 9), .init(leg: self.leg, receipt: .shown, at: 8)])
        #expect(try opened.apply(.trace("shop", MessageID(rawValue: 1))) == .trace(trace))
    }

    @Test func `keeps its receipt beside that of a device whose id only looks the same`() throws {
        var opened = try Opened(sending: message(1))
        let legs = ["caf\u{e9}", "cafe\u{301}"].map { LegID(message: MessageID(rawValue: 1), user: bo, device: $0) }
        for leg in legs { _ = try opened.apply(.receipt(leg, .shown, at: 8)) }
        guard case .trace(let trace?) = try opened.apply(.trace("shop", MessageID(rawValue: 1))) else {
            throw EndedTwice()
        }
        #expect(Set(trace.receipts) == Set(legs.map { .init(leg: $0, receipt: .shown, at: 8) }))
    }

    @Test func `keeps no receipt of a message that is not the person's, nor one that is unknown`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.send(message(2, in: .init(type: .direct, target: "cy")))
        let before = opened.store.dump()
        for (id, user) in [(2, bo), (77, bo), (1, UserKey(app: "club", user: "bo"))] as [(UInt64, UserKey)] {
            let leg = LegID(message: MessageID(rawValue: id), user: user, device: "phone")
            #expect(try opened.apply(.receipt(leg, .opened, at: 8)) == .done)
        }
        #expect(opened.store.dump() == before)
    }

    @Test func `is that of a recall and of a custom message, too`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.recall(1, as: 2, by: "ada")
        let leg = LegID(message: MessageID(rawValue: 2), user: bo, device: "phone")
        _ = try opened.apply(.endLeg(EndedLeg(leg: leg, end: .accepted(apnsID: "A"), at: 101)))
        let recall = Recall(
            id: MessageID(rawValue: 2), message: MessageID(rawValue: 1), conversation: message(1).conversation,
            sender: "ada", at: 100)
        #expect(
            try opened.apply(.trace("shop", recall.id))
                == .trace(
                    MessageTrace(
                        of: .recall(recall, app: "shop"), deliveries: [at(2, "ada"), at(2, "bo")], open: [],
                        ended: [EndedLeg(leg: leg, end: .accepted(apnsID: "A"), at: 101)], receipts: [])))
        guard case .trace(let recalled?) = try opened.apply(.trace("shop", recall.message)) else { return }
        #expect(recalled.recall == recall.id)
        let custom = CustomMessage(id: MessageID(rawValue: 3), content: "c", sentAt: 9)
        _ = try opened.apply(
            .acceptCustom(
                CustomOperation(app: "shop", message: custom, recipients: ["bo"], clientMessageID: "x")))
        #expect(
            try opened.apply(.trace("shop", custom.id))
                == .trace(
                    MessageTrace(
                        of: .custom(custom, app: "shop"), deliveries: [at(3, "bo")], open: [], ended: [], receipts: []))
        )
        #expect(try opened.apply(.trace("club", custom.id)) == .trace(nil))
        #expect(try opened.apply(.trace("club", recall.id)) == .trace(nil))
    }

    @Test func `is not shown to another app`() throws {
        var opened = try Opened(sending: message(1))
        #expect(try opened.apply(.trace("club", MessageID(rawValue: 1))) == .trace(nil))
    }
}

@Suite struct `A person without a device` {
    private func leg(_ user: UserID) -> LegID {
        LegID(message: MessageID(rawValue: 1), user: UserKey(app: "shop", user: user), device: nil)
    }

    @Test func `has one leg of a message, which ends with it`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo", "cy", "dee"]))
        // One has a device, one had one, one never had; the sender has none either.
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 7))
        let pad = DeviceKey(user: UserKey(app: "shop", user: "cy"), device: "pad")
        _ = try opened.apply(.signIn(pad, platform: "ios", at: 7))
        _ = try opened.apply(.signOut(pad, at: 8))
        _ = try opened.send(message(1, in: team))
        guard case .trace(let trace?) = try opened.apply(.trace("shop", MessageID(rawValue: 1))) else { return }
        #expect(trace.ended == ["cy", "dee"].map { EndedLeg(leg: self.leg($0), end: .noDevice, at: 10) })
    }

    @Test func `has none of their own messages, of a chat room's, of recalls and of custom ones`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo"], hall))
        _ = try opened.send(message(1, in: .init(type: .direct, target: "ada")))
        _ = try opened.send(message(2, in: hall))
        _ = try opened.apply(
            .acceptCustom(
                CustomOperation(
                    app: "shop", message: CustomMessage(id: MessageID(rawValue: 3), content: "c", sentAt: 9),
                    recipients: ["bo"], clientMessageID: "x")))
        _ = try opened.recall(1, as: 4, by: "ada")
        #expect(opened.store.dump().messages.flatMap(\.ended) == [])
    }
}

@Suite struct `A conversation with members` {
    @Test func `gets a new version with every change, and none without`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada"]))
        _ = try opened.apply(group(["ada"]))
        _ = try opened.apply(group(["ada", "bo"]))
        #expect(opened.store.dump().conversations.map(\.version) == [2])
    }

    @Test func `is refused if it can have none`() throws {
        var opened = Opened()
        let rule = "must be DS, GRP or CHRM to have members, got PR"
        #expect(
            try opened.apply(group(["bo"], toAda))
                == .refused(.init(InvalidField(field: "conversation.type", rule: rule))))
        let noTarget = ConversationID(type: .group, target: "")
        #expect(
            try opened.apply(group(["bo"], noTarget))
                == .refused(.init(InvalidField(field: "conversation.target", rule: "must not be empty"))))
        #expect(
            try opened.apply(group(["bo", "two words"]))
                == .refused(
                    .init(InvalidField(field: "members", rule: "must not contain spaces or control characters"))))
        #expect(opened.store.dump().conversations == [])
    }
}

@Suite struct `The devices that are signed out` {
    private func device(_ number: Int) -> DeviceKey { DeviceKey(user: bo, device: DeviceID("d\(number)")) }

    @Test func `are remembered up to twenty, those that signed in last`() throws {
        var opened = Opened()
        for number in 100..<140 {
            _ = try opened.apply(.signIn(self.device(number), platform: "ios", at: Int64(number)))
            _ = try opened.apply(.signOut(self.device(number), at: 1_000))
        }
        // The oldest of them goes when the next device comes.
        _ = try opened.apply(.signIn(self.device(200), platform: "ios", at: 2_000))
        let devices = try #require(try opened.user(bo)?.devices)
        #expect(devices.map(\.key.device.rawValue) == (120..<140).map { "d\($0)" } + ["d200"])
        #expect(
            try opened.apply(.setPushState(self.device(119), .none))
                == .refused(StoreRules.unknownDevice(self.device(119))))
        #expect(try opened.apply(.setPushState(self.device(120), .none)) == .done)
    }

    @Test func `come back as new ones, remembered or not`() throws {
        var opened = Opened()
        for number in 100..<122 {
            _ = try opened.apply(.signIn(self.device(number), platform: "ios", at: Int64(number)))
            _ = try opened.apply(.signOut(self.device(number), at: 1_000))
        }
        _ = try opened.send(message(1))
        for number in [100, 121] {
            guard case .device(let record) = try opened.apply(.signIn(self.device(number), platform: "ios", at: 2_000))
            else {
                Issue.record("no device")
                return
            }
            #expect(record.since == 1)
            #expect(record.push == .none)
        }
    }
}
