import StoreMachine
import StoreModel
import Testing
import TidingsModel

private let note = CustomMessage(id: MessageID(rawValue: 0), content: "{}", sentAt: 0)

@Suite struct `The audience of a push` {
    /// Ada and Bo have the app, Cy has signed out; Ada and Cy are golden, Bo is called boss.
    private func people() throws -> Opened {
        var opened = Opened()
        try opened.signIn("ada", "bo", "cy")
        try opened.signIn("dee", app: "club")
        _ = try opened.apply(.signOut(DeviceKey(user: UserKey(app: "shop", user: "cy"), device: "phone"), at: 2))
        for user: UserID in ["ada", "cy"] { _ = try opened.label(user, .tags(["gold"])) }
        _ = try opened.label("bo", .aliases(["boss"]))
        return opened
    }

    @Test func `is who is in it when a step comes to them`() throws {
        let expected: [(PushAudience, [UserID])] = [
            (.everybody, ["ada", "bo"]), (.users(["stranger", "cy", "cy"]), ["cy", "stranger"]),
            (.alias("boss"), ["bo"]), (.alias("nobody"), []), (.tag("gold"), ["ada"]), (.tag("silver"), []),
            (.not(.tag("gold")), ["bo"]), (.all([.everybody, .tag("gold")]), ["ada"]),
            (.all([.users(["ada", "bo"]), .not(.tag("gold"))]), ["bo"]),
            (.any([.alias("boss"), .users(["bo", "cy"])]), ["bo", "cy"]),
            (.any([.tag("gold"), .users(["cy"])]), ["ada", "cy"]), (.not(.everybody), []),
            (.not(.any([.alias("boss"), .tag("silver")])), ["ada"]),
        ]
        for (index, (audience, users)) in expected.enumerated() {
            var opened = try self.people()
            try opened.create(job(1, audience))
            #expect(try opened.step(1, 11...19)?.deliveries.map(\.user) == users, "\(index)")
            #expect(try opened.count(audience) == users.count, "\(index)")
        }
    }

    /// Besides them: Ada has a pad, too.
    @Test func `may be devices, and then others of their people are left out`() throws {
        func devices(_ names: (UserID, DeviceID)...) -> PushAudience {
            .devices(names.map { .init(user: $0.0, device: $0.1) })
        }
        let expected: [(PushAudience, [UserID], [[DeviceID]])] = [
            (devices(("ada", "pad"), ("stranger", "x"), ("cy", "phone"), ("bo", "pad")), ["ada"], [["pad"]]),
            (devices(("bo", "phone"), ("ada", "pad"), ("ada", "pad")), ["ada", "bo"], [["pad"], []]),
            (devices(("ada", "phone"), ("ada", "pad")), ["ada"], []),
            (.not(devices(("ada", "pad"))), ["ada", "bo"], [["phone"], []]),
            (.not(devices(("ada", "pad"), ("ada", "phone"))), ["bo"], []),
            (.any([.tag("gold"), devices(("ada", "pad"))]), ["ada"], []),
            (.any([.alias("boss"), devices(("ada", "pad"))]), ["bo", "ada"], [[], ["pad"]]),
            (.all([.tag("gold"), devices(("ada", "pad"), ("bo", "phone"))]), ["ada"], [["pad"]]),
            (.all([devices(("ada", "pad")), devices(("ada", "phone"))]), [], []),
            (.any([.users(["cy"]), devices(("cy", "phone"))]), ["cy"], []),
        ]
        for (index, (audience, users, some)) in expected.enumerated() {
            var opened = try self.people()
            _ = try opened.apply(
                .signIn(DeviceKey(user: UserKey(app: "shop", user: "ada"), device: "pad"), platform: "iOS", at: 3))
            for (id, body) in [(1, .message(template())), (2, .custom(note))] as [(UInt64, PushJob.Body)] {
                try opened.create(job(id, audience, body: body))
                let step = try #require(try opened.step(id, id * 10 + 1...id * 10 + 9))
                #expect(step.deliveries.map(\.user) == users, "\(index)")
                #expect(step.devices == some, "\(index)")
                #expect(step.sent.map(\.devices) == (some.isEmpty ? users.map { _ in [] } : some), "\(index)")
                for (user, of) in zip(users, step.sent) where id == 1 {
                    let page = try opened.apply(.readLog(UserKey(app: "shop", user: user), after: 0, limit: 9))
                    guard case .page(let log) = page, case .message(let message)? = log.entries.last?.body else {
                        Issue.record("\(index): \(user) has no message")
                        continue
                    }
                    #expect(message.devices == of.devices, "\(index)")
                }
            }
            #expect(try opened.count(audience) == users.count, "\(index)")
        }
    }

    @Test func `names at least one device where it has any, by names that can be`() throws {
        var opened = try self.people()
        let broken: [PushAudience] = [
            .devices([]), .devices([.init(user: "a b", device: "x")]), .devices([.init(user: "ada", device: "")]),
            .any([
                .users((0..<1_000).map { UserID("p\($0)") }), .devices([.init(user: "ada", device: "phone")]),
            ]),
        ]
        let fields = ["audience", "audience.devices.user", "audience.devices.device", "audience"]
        for (audience, field) in zip(broken, fields) {
            #expect(refused(try opened.apply(.createPush(job(1, audience)))) == "invalid_field \(field)")
        }
    }

    @Test func `names somebody twice who still gets one message, also over two steps`() throws {
        var opened = try self.people()
        try opened.create(job(1, .any([.users(["ada", "bo"]), .alias("boss")])))
        #expect(try opened.step(1, 11...11)?.deliveries.map(\.user) == ["ada"])
        #expect(try opened.step(1, 12...12)?.deliveries.map(\.user) == ["bo"])
        let last = try #require(try opened.step(1, 13...13))
        #expect(last.deliveries == [] && last.isDone)
    }

    @Test func `has people who come while it is under way`() throws {
        var opened = try self.people()
        try opened.create(job(1, .everybody))
        #expect(try opened.step(1, 11...11)?.deliveries.map(\.user) == ["ada"])
        try opened.signIn("eve")
        #expect(try opened.step(1, 12...19)?.deliveries.map(\.user) == ["bo", "eve"])
    }

    @Test func `is counted with the devices of its people that are signed in, or those of them that it names`() throws {
        var opened = try self.people()
        for device: DeviceID in ["pad", "watch"] {
            let key = DeviceKey(user: UserKey(app: "shop", user: "ada"), device: device)
            _ = try opened.apply(.signIn(key, platform: "iOS", at: 3))
        }
        _ = try opened.apply(.signOut(DeviceKey(user: UserKey(app: "shop", user: "cy"), device: "phone"), at: 4))
        for (audience, people, devices) in [
            (PushAudience.everybody, 2, 4), (.users(["ada", "cy", "nobody"]), 3, 3),
            (.devices([.init(user: "ada", device: "pad"), .init(user: "bo", device: "phone")]), 2, 2),
        ] {
            #expect(
                try opened.apply(.countAudience("shop", audience, after: 0, limit: 100))
                    == .audience(AudienceCount(people: people, devices: devices), next: nil), "\(audience)")
        }
    }

    @Test func `is counted part by part`() throws {
        var opened = try self.people()
        func part(after: UInt64, _ limit: Int) throws -> StoreResult {
            try opened.apply(.countAudience("shop", .everybody, after: after, limit: limit))
        }
        #expect(try part(after: 0, 1) == .audience(AudienceCount(people: 1, devices: 1), next: 1))
        #expect(try part(after: 1, 2) == .audience(AudienceCount(people: 1, devices: 1), next: 3))
        #expect(try part(after: 3, 10) == .audience(AudienceCount(), next: nil))
        #expect(refused(try part(after: 0, 16_001)) == "invalid_field limit")
        #expect(
            refused(try opened.apply(.countAudience("shop", .all([]), after: 0, limit: 1))) == "invalid_field audience")
    }

    @Test func `tells which message a person has got`() throws {
        var opened = try self.people()
        for (id, messages): (UInt64, ClosedRange<UInt64>) in [(1, 11...19), (2, 21...29)] {
            try opened.create(job(id, .everybody))
            _ = try opened.step(id, messages)
        }
        func recipient(_ user: UserID, _ job: UInt64, app: AppID = "shop") throws -> StoreResult {
            try opened.apply(.readPushRecipient(UserKey(app: app, user: user), MessageID(rawValue: job)))
        }
        #expect(try recipient("bo", 1) == .pushRecipient(MessageID(rawValue: 12)))
        #expect(try recipient("bo", 2) == .pushRecipient(MessageID(rawValue: 22)))
        for (user, job, app) in [("cy", 1, "shop"), ("bo", 3, "shop"), ("bo", 1, "club"), ("none", 1, "shop")]
            as [(UserID, UInt64, AppID)]
        {
            #expect(try recipient(user, job, app: app) == .pushRecipient(nil))
        }
    }
}

@Suite struct `What an app calls a person` {
    @Test func `are aliases and tags, each in place of those before`() throws {
        var opened = Opened()
        #expect(try opened.label("ada", .aliases(["b", "a", "b"])) == .labels(PersonLabels(aliases: ["a", "b"])))
        let both = PersonLabels(aliases: ["a", "b"], tags: ["gold"])
        #expect(try opened.label("ada", .tags(["gold"])) == .labels(both))
        #expect(try opened.apply(.readLabels(ada)) == .labels(both))
        #expect(try opened.user(ada)?.labels == both)
        #expect(try opened.label("ada", .aliases([])) == .labels(PersonLabels(tags: ["gold"])))
        #expect(opened.store.dump().aliases == [:])
        #expect(try opened.apply(.readLabels(bo)) == .labels(PersonLabels()))
        // She is one of the app's people by that alone.
        let line = PersonSummary(id: "ada", ban: nil, devices: 0, unread: 0)
        #expect(try opened.apply(.readPeople("shop", after: nil, limit: 9)) == .people([line], hasMore: false))
    }

    @Test func `is one person by an alias, whoever it named before`() throws {
        var opened = Opened()
        _ = try opened.label("ada", .aliases(["boss", "one"]))
        _ = try opened.label("bo", .aliases(["boss"]))
        #expect(try opened.apply(.readLabels(ada)) == .labels(PersonLabels(aliases: ["one"])))
        #expect(opened.store.dump().aliases == ["shop": ["one": "ada", "boss": "bo"]])
        // In another app it is somebody else.
        _ = try opened.apply(.setLabels(UserKey(app: "club", user: "cy"), .aliases(["boss"])))
        #expect(try opened.count(.alias("boss")) == 1)
    }

    @Test func `is another alias if its bytes are others, though it looks the same`() throws {
        let names: [Alias] = ["caf\u{e9}", "cafe\u{301}"]
        var opened = Opened()
        _ = try opened.label("ada", .aliases([names[0]]))
        _ = try opened.label("bo", .aliases([names[1]]))
        #expect(opened.store.dump().aliases == ["shop": [names[0]: "ada", names[1]: "bo"]])
        #expect(try names.map { try opened.count(.alias($0)) } == [1, 1])
        #expect(try opened.label("ada", .aliases(names)) == .labels(PersonLabels(aliases: names)))
        #expect(opened.store.dump().aliases == ["shop": [names[0]: "ada", names[1]: "ada"]])
    }

    @Test func `is of 1 to 64 bytes, and not too much`() throws {
        var opened = Opened()
        #expect(refused(try opened.label("ada", .aliases([""]))) == "invalid_field aliases")
        #expect(refused(try opened.label("ada", .tags(["a b"]))) == "invalid_field tags")
        #expect(refused(try opened.label("ada", .aliases((0..<17).map { Alias("a\($0)") }))) == "invalid_field aliases")
        #expect(refused(try opened.label("ada", .tags((0..<101).map { "t\($0)" }))) == "invalid_field tags")
        #expect(try opened.label("ada", .tags((0..<100).map { "t\($0)" })) != .labels(PersonLabels()))
    }
}
