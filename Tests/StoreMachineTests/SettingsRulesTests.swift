import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `A muted conversation` {
    @Test func `does not count in the badge, and counts again when it is muted no more`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.send(message(2, from: "cy"))
        let muted = ConversationSettings(level: .blocked)
        #expect(
            try opened.level(.blocked, of: toAda)
                == .noted(.conversationSettings(toAda, muted), deliveries: [at(3, "bo", unread: 1)]))
        #expect(try opened.send(message(3)).last == at(4, "bo", unread: 1))
        #expect(opened.counts(bo) == [1, 3, 0])
        #expect(try opened.user(bo)?.settings.conversations == [toAda: muted])
        let none = ConversationSettings()
        #expect(
            try opened.level(nil, of: toAda)
                == .noted(.conversationSettings(toAda, none), deliveries: [at(5, "bo", unread: 3)]))
        #expect(try opened.user(bo)?.settings.conversations == [:])
    }

    @Test func `is one by its kind, unless it has a level of its own`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.send(message(2, from: "cy"))
        _ = try opened.level(.mentions, of: toAda)
        let settings = PersonSettings(levels: [.direct: .blocked])
        #expect(
            try opened.apply(.setPersonSettings(bo, settings, at: 9))
                == .noted(.personSettings(settings), deliveries: [at(4, "bo", unread: 1)]))
        _ = try opened.level(.blocked, of: toAda)
        #expect(opened.counts(bo) == [0, 2, 0])
        _ = try opened.apply(.setPersonSettings(bo, PersonSettings(), at: 9))
        #expect(opened.counts(bo) == [1, 2, 0])
    }

    @Test func `is one until its end is carried out`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.level(.blocked, until: 200, of: toAda)
        #expect(try opened.apply(.endLevel(bo, toAda, at: 199)) == .noted(nil, deliveries: []))
        #expect(opened.counts(bo) == [0, 1, 0])
        #expect(
            try opened.apply(.endLevel(bo, toAda, at: 200))
                == .noted(.conversationSettings(toAda, .init()), deliveries: [at(3, "bo", unread: 1)]))
        #expect(try opened.apply(.endLevel(bo, toAda, at: 201)) == .noted(nil, deliveries: []))
    }

    @Test func `is read like any other`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.send(message(2, from: "cy"))
        _ = try opened.level(.blocked, of: toAda)
        #expect(try opened.apply(.markRead(bo, toAda, upTo: 1, at: 9)) == .read(position: 4, unread: 1))
        #expect(opened.counts(bo) == [1, 1, 0])
    }
}

@Suite struct `What a person sets` {
    @Test func `as it was writes nothing`() throws {
        var opened = Opened()
        let settings = PersonSettings(hidesContent: true, language: "de")
        let commands: [StoreCommand] = [
            .setPersonSettings(bo, settings, at: 9), .setBlocked(bo, "cy", true, at: 9),
            .setConversationSettings(bo, team, .init(level: .mentions), at: 9),
        ]
        for command in commands { _ = try opened.apply(command) }
        let before = opened.store.dump()
        for command in commands { #expect(try opened.apply(command) == .noted(nil, deliveries: [])) }
        #expect(opened.store.dump() == before)
        let all = AllSettings(person: settings, conversations: [team: .init(level: .mentions)], blocked: ["cy"])
        #expect(try opened.apply(.readSettings(bo)) == .settings(all))
        #expect(try opened.apply(.readSettings(ada)) == .settings(AllSettings()))
    }

    @Test func `is refused if it breaks a rule`() throws {
        var opened = Opened()
        func person(_ settings: PersonSettings) throws -> String {
            refused(try opened.apply(.setPersonSettings(bo, settings, at: 9)))
        }
        #expect(try person(PersonSettings(language: String(repeating: "x", count: 36))) == "invalid_field language")
        let hours = QuietHours(start: 1_440, end: 0, timeZone: "Europe/Berlin")
        #expect(try person(PersonSettings(quietHours: hours)) == "invalid_field quiet_hours.start")
        #expect(refused(try opened.level(.blocked, until: 100, of: toAda)) == "invalid_field level_until")
        #expect(refused(try opened.level(nil, until: 200, of: toAda)) == "invalid_field level_until")
        #expect(refused(try opened.apply(.setBlocked(bo, "bo", true, at: 9))) == "invalid_field user")
        #expect(opened.store.dump().people == [])
    }

    @Test func `is for a thousand conversations and a thousand blocked people`() throws {
        var opened = Opened()
        for number in 0..<1_000 {
            _ = try opened.level(.blocked, of: .init(type: .direct, target: "p\(number)"))
            _ = try opened.apply(.setBlocked(bo, UserID("p\(number)"), true, at: 9))
        }
        let before = opened.store.dump()
        #expect(refused(try opened.level(.blocked, of: toAda)) == "invalid_field conversation")
        #expect(refused(try opened.apply(.setBlocked(bo, "ada", true, at: 9))) == "invalid_field user")
        #expect(opened.store.dump() == before)
        _ = try opened.level(nil, of: .init(type: .direct, target: "p7"))
        _ = try opened.apply(.setBlocked(bo, "p7", false, at: 9))
        #expect(try opened.level(.blocked, of: toAda) != .noted(nil, deliveries: []))
        guard case .noted(.some, _) = try opened.apply(.setBlocked(bo, "ada", true, at: 9)) else {
            return #expect(Bool(false), "there is room for one")
        }
    }
}

@Suite struct `Who is blocked` {
    @Test func `does not reach who blocks them, but their groups, until they are blocked no more`() throws {
        var opened = Opened()
        #expect(
            try opened.apply(.setBlocked(bo, "ada", true, at: 9))
                == .noted(.blocked("ada", true), deliveries: [at(1, "bo")]))
        let result = try opened.apply(.accept(message: message(1), senderDevice: nil))
        #expect(result == .refused(StoreRules.blocked(by: "bo")))
        _ = try opened.apply(group(["ada", "bo"]))
        #expect(try opened.send(message(2, in: team)).count == 2)
        #expect(try opened.send(message(4, from: "bo", in: toAda)).count == 2)
        _ = try opened.apply(.setBlocked(bo, "ada", false, at: 9))
        #expect(try opened.send(message(5)).count == 2)
    }
}

@Suite struct `A custom message` {
    private func custom(_ id: UInt64, _ recipients: [UserID], client: ClientMessageID = "x") -> StoreCommand {
        .acceptCustom(
            CustomOperation(
                app: "shop", message: CustomMessage(id: MessageID(rawValue: id), content: "c", sentAt: Int64(id)),
                recipients: recipients, clientMessageID: client))
    }

    @Test func `stands in the log of each recipient, known or not, and counts for nobody`() throws {
        var opened = Opened()
        #expect(try opened.apply(self.custom(1, ["zoe", "bo"])) == .accepted(deliveries: [at(1, "bo"), at(1, "zoe")]))
        #expect(opened.last(of: bo) == .custom(CustomMessage(id: MessageID(rawValue: 1), content: "c", sentAt: 1)))
        #expect(opened.counts(bo) == [0, 0, 0])
        #expect(opened.store.lastMessageID == MessageID(rawValue: 1))
    }

    @Test func `is accepted once`() throws {
        var opened = Opened()
        _ = try opened.apply(self.custom(1, ["bo"]))
        #expect(try opened.apply(self.custom(2, ["cy"])) == .duplicate(MessageID(rawValue: 1), sentAt: 1))
        #expect(refused(try opened.apply(self.custom(1, ["cy"], client: "y"))) == "invalid_field message.id")
        #expect(refused(try opened.apply(self.custom(2, [], client: "y"))) == "invalid_field recipients")
        #expect(refused(try opened.apply(self.custom(2, ["a b"], client: "y"))) == "invalid_field recipients")
        #expect(try opened.user(bo)?.head == 1)
    }
}

@Suite struct `A token` {
    private let registration = PushRegistration(token: "ab", environment: .sandbox, topic: "com.example")

    @Test func `belongs to the device that registered last; the one before has none, and its legs end`() throws {
        var opened = Opened()
        let pad = DeviceKey(user: ada, device: "pad")
        for device in [phone, pad] { _ = try opened.apply(.signIn(device, platform: "ios", at: 1)) }
        _ = try opened.apply(.setPushState(phone, .quarantined(self.registration, at: 2, reason: "BadDeviceToken")))
        _ = try opened.send(message(1))
        let leg = LegID(message: MessageID(rawValue: 1), user: bo, device: "phone")
        _ = try opened.apply(.keepLeg(OpenLeg(leg: leg, position: 1, wait: .throttled)))
        #expect(try opened.apply(.setPushState(pad, .registered(self.registration, at: 9))) == .taken([phone]))
        #expect(try opened.user(bo)?.devices.map(\.push) == [.none])
        #expect(try opened.user(bo)?.openLegs == [])
        guard case .trace(let trace) = try opened.apply(.trace("shop", leg.message)) else { return }
        #expect(trace?.ended == [EndedLeg(leg: leg, end: .noToken, at: 9)])
        #expect(try opened.apply(.setPushState(pad, .registered(self.registration, at: 10))) == .done)
    }

    @Test func `that a device gave up, or lost, is taken from it no more`() throws {
        var opened = Opened()
        let pad = DeviceKey(user: ada, device: "pad")
        for device in [phone, pad] { _ = try opened.apply(.signIn(device, platform: "ios", at: 1)) }
        var later = self.registration
        later.token = "cd"
        _ = try opened.apply(.setPushState(phone, .registered(self.registration, at: 2)))
        _ = try opened.apply(.setPushState(phone, .registered(later, at: 3)))
        #expect(try opened.apply(.setPushState(pad, .registered(self.registration, at: 4))) == .done)
        #expect(try opened.apply(.setPushState(phone, .registered(self.registration, at: 5))) == .taken([pad]))
        #expect(try opened.apply(.setPushState(pad, .registered(later, at: 6))) == .done)
        _ = try opened.apply(.signOut(phone, at: 7))
        #expect(try opened.apply(.setPushState(pad, .registered(self.registration, at: 8))) == .done)
        #expect(try opened.user(ada)?.devices.map(\.push) == [.registered(self.registration, at: 8)])
    }

    @Test func `that the backend brings stays with who has it, and is otherwise a person's of its own`() throws {
        var opened = Opened()
        func bring(
            _ user: UserID? = nil, _ tags: [String]? = nil, at: Int64, isRepeat: Bool = false
        ) throws -> InstallationOutcome? {
            let installation = ImportedInstallation(self.registration, of: user, tags: tags, digest: [7])
            let one = isRepeat ? installation.again : installation
            let result = try opened.apply(.registerInstallations("shop", [one], at: at))
            if case .installations(let outcomes) = result { return outcomes.first }
            return nil
        }
        let anonymous = DeviceKey(user: UserKey(app: "shop", user: .anonymous([7])), device: "import-07")
        guard case .registered(let made, taken: []) = try bring(nil, ["gold"], at: 2) else {
            Issue.record("it is registered")
            return
        }
        #expect(made.key == anonymous && made.push == .registered(self.registration, at: 2))
        #expect(try opened.user(anonymous.user)?.devices == [made])
        #expect(try bring(at: 3) == .updated(anonymous))
        #expect(try opened.apply(.readLabels(anonymous.user)) == .labels(PersonLabels(tags: ["gold"])))

        _ = try opened.apply(.signIn(phone, platform: "ios", at: 4))
        #expect(try opened.apply(.setPushState(phone, .registered(self.registration, at: 5))) == .taken([anonymous]))
        #expect(try opened.user(anonymous.user)?.devices.map(\.isSignedOut) == [true])
        #expect(try bring(at: 6) == .updated(phone))
        // A request that is repeated takes it from nobody.
        #expect(try bring("ada", ["gold"], at: 6, isRepeat: true) == .updated(phone))
        #expect(try opened.apply(.readLabels(phone.user)) == .labels(PersonLabels()))
        guard case .registered(let moved, taken: [phone]) = try bring("ada", at: 7) else {
            Issue.record("it is moved")
            return
        }
        #expect(moved.key == DeviceKey(user: ada, device: "import-07"))
        _ = try opened.apply(.changeAccount(bo, .ban(), at: 8))
        #expect(try bring("bo", at: 9) == .refused(StoreRules.bannedUser))
    }

    @Test func `that is somebody else's by now is not what APNs has answered about`() throws {
        var opened = Opened()
        let pad = DeviceKey(user: ada, device: "pad")
        for device in [phone, pad] { _ = try opened.apply(.signIn(device, platform: "ios", at: 1)) }
        _ = try opened.apply(.setPushState(phone, .registered(self.registration, at: 2)))
        _ = try opened.apply(.setPushState(pad, .registered(self.registration, at: 3)))
        for state in [
            PushState.registered(self.registration, at: 2, wasAccepted: true), .dead(timestamp: 5),
            .quarantined(self.registration, at: 4, reason: "BadDeviceToken"),
        ] {
            #expect(try opened.apply(.setPushState(phone, state, about: self.registration)) == .done)
            #expect(try opened.user(bo)?.devices.map(\.push) == [.none])
            #expect(try opened.user(ada)?.devices.map(\.push) == [.registered(self.registration, at: 3)])
        }
        let accepted = PushState.registered(self.registration, at: 3, wasAccepted: true)
        #expect(try opened.apply(.setPushState(pad, accepted, about: self.registration)) == .done)
        #expect(try opened.user(ada)?.devices.map(\.push) == [accepted])
    }

    @Test func `of another app, topic or environment is another one`() throws {
        var opened = Opened()
        let pad = DeviceKey(user: ada, device: "pad")
        let club = DeviceKey(user: UserKey(app: "club", user: "bo"), device: "phone")
        for device in [phone, pad, club] { _ = try opened.apply(.signIn(device, platform: "ios", at: 1)) }
        _ = try opened.apply(.setPushState(phone, .registered(self.registration, at: 2)))
        var other = self.registration
        other.topic = "com.example.other"
        #expect(try opened.apply(.setPushState(pad, .registered(other, at: 3))) == .done)
        other = self.registration
        other.environment = .production
        #expect(try opened.apply(.setPushState(pad, .registered(other, at: 3))) == .done)
        #expect(try opened.apply(.setPushState(club, .registered(self.registration, at: 3))) == .done)
        _ = try opened.apply(.signOut(pad, at: 4))
        #expect(try opened.apply(.setPushState(pad, .registered(self.registration, at: 5))) == .done)
        #expect(try opened.user(bo)?.devices.map(\.push) == [.registered(self.registration, at: 2)])
    }
}
