import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `A push job` {
    @Test func `sends each of its people a message of their own`() throws {
        var opened = Opened()
        try opened.signIn("ada", "bo", "cy")
        #expect(try opened.create(job(1, .everybody, lifetime: 50))?.state == .running)
        let step = try #require(try opened.step(1, 11...12))
        #expect(step.ids == ids(11...12))
        #expect(step.deliveries == [at(1, "ada"), at(1, "bo")])
        #expect(!step.isDone)
        #expect(step.job.counts.recipients == 2)
        let rest = try #require(try opened.step(1, 13...14, at: 101))
        #expect(rest.ids == ids(13...13))
        #expect(rest.deliveries == [at(1, "cy")])
        #expect(rest.isDone)
        #expect(rest.job.state == .done && rest.job.changedAt == 101)
        #expect(rest.job.steps == 2)

        var expected = template()
        expected.id = MessageID(rawValue: 13)
        expected.conversation = ConversationID(type: .pushService, target: "cy")
        expected.clientMessageID = ClientMessageID(MessageID(rawValue: 1).description)
        expected.sentAt = 101
        expected.expiresAt = 151
        expected.pushJob = MessageID(rawValue: 1)
        #expect(opened.last(of: UserKey(app: "shop", user: "cy")) == .message(expected))
        #expect(rest.job.message(for: "cy", on: [], id: MessageID(rawValue: 13), at: 101) == expected)
        // Nothing is as large as the audience, the account's own log included.
        #expect(opened.person(UserKey(app: "shop", user: "push")) == nil)
        #expect(
            refused(try opened.apply(.stepPush("shop", MessageID(rawValue: 1), ids: ids(15...15), at: 0)))
                == "invalid_field push")
    }

    @Test func `in one step reaches no more people than have so many devices`() throws {
        var opened = Opened()
        for (user, devices) in [("ada", 2), ("bo", 3), ("cy", 1), ("di", 9), ("ed", 1)] {
            for number in 0..<devices {
                let device = DeviceKey(user: UserKey(app: "shop", user: UserID(user)), device: DeviceID("d\(number)"))
                _ = try opened.apply(.signIn(device, platform: "iOS", at: 1))
            }
        }
        try opened.create(job(1, .everybody))
        func step(_ messages: ClosedRange<UInt64>, _ most: Int) throws -> [UserID] {
            let command = StoreCommand.stepPush(
                "shop", MessageID(rawValue: 1), ids: ids(messages), devicesMax: most, at: 100)
            guard case .pushStep(let step) = try opened.apply(command) else { return [] }
            return step.deliveries.map(\.user)
        }
        // With bo there are five.
        #expect(try step(11...19, 4) == ["ada", "bo"])
        #expect(try step(21...21, 4) == ["cy"])
        // One person is one step at least, however many devices.
        #expect(try step(31...39, 1) == ["di"])
        #expect(try step(41...49, 1) == ["ed"])
        // The account became known with the job, and is looked at last.
        #expect(try step(51...59, 1) == [])
        #expect(try opened.job(1)?.state == .done)
        #expect(try opened.job(1)?.counts.recipients == 5)
    }

    @Test func `counts as unread where it is to`() throws {
        for (flags, unread) in [([.stored, .notified] as MessageFlags, 0), (.normal, 1)] {
            var opened = Opened()
            try opened.signIn("ada")
            try opened.create(job(1, .everybody, body: .message(template(flags: flags))))
            #expect(try opened.step(1, 11...12)?.deliveries == [at(1, "ada", unread: unread)])
            #expect(opened.counts(ada) == [unread, unread, 0])
        }
    }

    @Test func `is as new, whatever it says of itself`() throws {
        var opened = Opened()
        var odd = job(1, .users(["bo", "ada", "bo"]))
        odd.state = .done
        odd.cursor = 7
        odd.counts.recipients = 9
        let made = try #require(try opened.create(odd))
        #expect(made == job(1, .users(["ada", "bo"])))
        #expect(try opened.job(1) == made)
        guard case .pushJob(nil) = try opened.apply(.readPush("club", made.id)) else { Issue.record(); return }
        #expect(opened.store.open().pushJobs == [made])
    }

    @Test func `is refused where a message of it would be`() throws {
        var opened = Opened()
        let shop = ConversationID(type: .appPublicService, target: "shop")
        let wrong: [(PushJob, String)] = [
            (job(1, .users([])), "invalid_field audience"),
            (job(1, .tag("a b")), "invalid_field audience.tag"),
            (job(1, .any([])), "invalid_field audience"),
            (job(1, .users((0..<1_001).map { UserID("u\($0)") })), "invalid_field audience"),
            (job(1, (0..<8).reduce(.everybody) { part, _ in .not(part) }), "invalid_field audience"),
            (job(1, .all((0..<100).map { _ in .everybody })), "invalid_field audience"),
            (job(1, .everybody, account: ConversationID(type: .direct, target: "x")), "invalid_field account.kind"),
            (job(1, .everybody, account: shop), "not_allowed account"),
            (job(1, .everybody, rate: 0), "invalid_field rate_per_second"),
            (job(1, .everybody, lifetime: 0), "invalid_field lifetime_ms"),
        ]
        for (job, problem) in wrong { #expect(refused(try opened.apply(.createPush(job))) == problem) }
        _ = try opened.apply(.setAccount("shop", shop, isDeclared: true))
        #expect(try opened.create(job(1, .everybody, account: shop)) != nil)
        #expect(refused(try opened.apply(.createPush(job(1, .everybody)))) == "invalid_field message.id")
        _ = try opened.send(message(2))
        #expect(refused(try opened.apply(.createPush(job(2, .everybody)))) == "invalid_field message.id")
        _ = try opened.apply(.setObjectNames("shop", ["app:x"]))
        var other = template()
        other.objectName = "app:y"
        #expect(
            refused(try opened.apply(.createPush(job(3, .everybody, body: .message(other)))))
                == "unknown_object_name object_name")
    }

    @Test func `waits for others of its app that are not finished`() throws {
        var opened = Opened()
        for id in 1...1_000 { try opened.create(job(UInt64(id), .everybody, sendAt: 500)) }
        #expect(refused(try opened.apply(.createPush(job(2_000, .everybody)))) == "rate_limited push")
        #expect(try opened.create(job(2_001, .everybody, app: "club")) != nil)
        _ = try opened.told(5, .cancel)
        #expect(try opened.create(job(2_000, .everybody)) != nil)
    }

    @Test func `takes ids that are new and ascend`() throws {
        var opened = Opened()
        try opened.signIn("ada")
        try opened.create(job(1, .everybody))
        func problem(_ ids: [UInt64]) throws -> String {
            refused(
                try opened.apply(
                    .stepPush("shop", MessageID(rawValue: 1), ids: ids.map { MessageID(rawValue: $0) }, at: 0)))
        }
        #expect(try problem([]) == "invalid_field ids")
        #expect(try problem([12, 11]) == "invalid_field ids")
        #expect(try problem(Array(10...1_010)) == "invalid_field ids")
        #expect(try problem([1]) == "invalid_field message.id")
        _ = try opened.send(message(11))
        #expect(try problem([11, 12]) == "invalid_field message.id")
        #expect(
            refused(try opened.apply(.stepPush("club", MessageID(rawValue: 1), ids: ids(20...20), at: 0)))
                == "unknown_message push")
        #expect(try opened.step(1, 20...20)?.ids == ids(20...20))
        #expect(opened.store.lastMessageID == MessageID(rawValue: 20))
    }

    @Test func `sends nothing before its start and after it was cancelled`() throws {
        var opened = Opened()
        try opened.signIn("ada", "bo")
        #expect(try opened.create(job(1, .everybody, sendAt: 500))?.state == .scheduled)
        #expect(try opened.step(1, 11...11) == nil)
        guard case .pushJob(let started?) = try opened.told(1, .start) else { Issue.record(); return }
        #expect(started.state == .running && started.changedAt == 200)
        #expect(try opened.step(1, 11...11)?.ids == ids(11...11))
        guard case .pushJob(let cancelled?) = try opened.told(1, .cancel, at: 300) else { Issue.record(); return }
        #expect(cancelled.state == .cancelled && cancelled.changedAt == 300)
        #expect(try opened.step(1, 12...12) == nil)
        #expect(opened.person(bo)?.record.head == 0)
        // Nothing happens to it a second time.
        #expect(try opened.told(1, .cancel, at: 400) == .pushJob(cancelled))
        #expect(refused(try opened.told(1, .start)) == "not_allowed push")
        #expect(try opened.told(9, .cancel) == .pushJob(nil))
        #expect(opened.store.open().pushJobs == [])
    }

    @Test func `ends with its account`() throws {
        var opened = Opened()
        try opened.signIn("ada", "bo")
        let news = ConversationID(type: .publicService, target: "news")
        #expect(try opened.apply(.putAccount("shop", ServiceAccount(news, audience: .followers))) == .done)
        for user in ["ada", "bo"] {
            let key = UserKey(app: "shop", user: UserID(user))
            _ = try opened.apply(.setFollowing(key, news, true))
        }
        var ofNews = job(1, .everybody)
        ofNews.account = news
        #expect(try opened.create(ofNews)?.state == .running)
        #expect(try opened.step(1, 11...11)?.deliveries == [at(1, "ada")])
        #expect(try opened.apply(.setAccount("shop", news, isDeclared: false)) == .done)
        let stopped = try #require(try opened.step(1, 12...13, at: 101))
        #expect(stopped.ids == [] && stopped.isDone)
        #expect(stopped.job.state == .cancelled && stopped.job.changedAt == 101)
        #expect(stopped.job.counts.recipients == 1)
    }

    @Test func `leaves out who has blocked its account, does not follow it, or is it`() throws {
        var opened = Opened()
        try opened.signIn("ada", "bo", "cy", "push")
        _ = try opened.apply(.setBlocked(ada, "push", true, at: 1))
        try opened.create(job(1, .everybody))
        let step = try #require(try opened.step(1, 11...19))
        #expect(step.deliveries == [at(1, "bo"), at(1, "cy")])
        #expect(step.job.counts.skipped == 2)
        try opened.create(job(2, .users(["ada"]), ignoresBlocks: true))
        #expect(try opened.step(2, 21...29)?.deliveries == [at(2, "ada")])

        let followed = ServiceAccount(news, audience: .followers)
        _ = try opened.apply(.putAccount("shop", followed))
        _ = try opened.apply(.setFollowing(bo, news, true))
        try opened.create(job(3, .everybody))
        let third = try #require(try opened.step(3, 31...39))
        #expect(third.deliveries == [at(2, "bo")])
        #expect(third.job.counts.skipped == 3)
    }

    @Test func `looks at no more people in a step than sixteen for each id`() throws {
        var opened = Opened()
        for number in 0..<40 { try opened.signIn(UserID("u\(number)")) }
        _ = try opened.label("u39", .tags(["gold"]))
        try opened.create(job(1, .tag("gold")))
        var seen: [Int] = []
        for number: UInt64 in 0..<2 {
            let step = try #require(try opened.step(1, (10 + number)...(10 + number)))
            #expect(step.ids == [] && !step.isDone)
            seen.append(step.job.counts.lookedAt)
        }
        #expect(seen == [16, 32])
        let last = try #require(try opened.step(1, 12...12))
        #expect(last.deliveries == [at(1, "u39")])
        // The account became known with the job, and is the last.
        #expect(last.job.counts.lookedAt == 40 && !last.isDone)
        #expect(try opened.step(1, 13...13)?.isDone == true)
    }

    @Test func `says of how many people of the app it looked at, not of other apps`() throws {
        var opened = Opened()
        try opened.signIn("ada", "bo")
        try opened.signIn("eve", "mallory", app: "other")
        try opened.create(job(1, .everybody))
        // With the account, which became known with the job.
        #expect(try #require(try opened.step(1, 10...19)).job.counts.lookedAt == 3)
    }

    @Test func `tells of an edit where its recipient sees the message`() throws {
        var opened = Opened()
        try opened.signIn("ada")
        try opened.create(job(1, .everybody))
        _ = try opened.step(1, 10...10)
        let operation = EditOperation(
            app: "shop", message: MessageID(rawValue: 10), actor: nil, content: "{\"content\":\"new\"}", window: 0,
            at: 9)
        let edit = Edit(message: operation.message, conversation: news, content: operation.content, at: 9)
        #expect(try opened.apply(.edit(operation)) == .noted(.edit(edit), deliveries: [at(2, "ada")]))
    }

    @Test func `in the app only is a custom message for each`() throws {
        var opened = Opened()
        try opened.signIn("ada")
        let body = CustomMessage(id: MessageID(rawValue: 0), content: "{}", sentAt: 0)
        try opened.create(job(1, .everybody, body: .custom(body), lifetime: 5))
        let step = try #require(try opened.step(1, 11...12))
        let sent = CustomMessage(id: MessageID(rawValue: 11), content: "{}", sentAt: 100, expiresAt: 105)
        #expect(opened.last(of: ada) == .custom(sent))
        #expect(step.job.entry(for: "ada", on: [], id: MessageID(rawValue: 11), at: 100) == .custom(sent))
        #expect(opened.store.dump().messages.first?.subject == .custom(sent, app: "shop"))
        #expect(refused(try opened.told(1, .recall)) == "not_allowed push")
    }

    @Test func `is in a list page by page, the newest first`() throws {
        var opened = Opened()
        for id: UInt64 in 1...3 { try opened.create(job(id, .everybody)) }
        try opened.create(job(4, .everybody, app: "club"))
        func page(before: UInt64? = nil, _ limit: Int) throws -> [UInt64] {
            let result = try opened.apply(
                .readPushes("shop", before: before.map { MessageID(rawValue: $0) }, limit: limit))
            guard case .pushJobs(let jobs, let hasMore) = result else { return [] }
            #expect(hasMore == (limit < 2 || before == nil))
            return jobs.map(\.id.rawValue)
        }
        #expect(try page(2) == [3, 2])
        #expect(try page(before: 2, 2) == [1])
        #expect(refused(try opened.apply(.readPushes("shop", before: nil, limit: 0))) == "invalid_field limit")
    }

    @Test func `is done once under an idempotency key`() throws {
        var opened = Opened()
        let key = IdempotencyKey(app: "shop", apiKey: "backend", text: "k")
        let request = IdempotentRequest(key: key, fingerprint: [1], keptMax: 10, at: 5)
        _ = try opened.apply(.once(request, .createPush(job(1, .everybody))))
        let repeated = try opened.apply(.once(request, .createPush(job(2, .everybody))))
        let answer = IdempotentAnswer.accepted(MessageID(rawValue: 1), sentAt: 10, isRepeat: false)
        #expect(repeated == .kept(KeptAnswer(request, answer)))
        #expect(try opened.job(2) == nil)
    }

    @Test func `names its files until it is recalled`() throws {
        let file = MediaID("00112233445566778899aabbccddeeff")
        var opened = Opened()
        try opened.signIn("ada")
        let body = template(#"{"content":"","imageUri":"\#(file.reference)"}"#)
        try opened.create(job(1, .everybody, body: .message(body)))
        let use = MediaUse(message: MessageID(rawValue: 1), sender: "push", isBackend: true)
        #expect(try opened.apply(.readMediaUses("shop", file, by: nil)) == .mediaUses([use]))
        _ = try opened.step(1, 11...19)
        #expect(try opened.apply(.readMediaUses("shop", file, by: nil)) == .mediaUses([use]))
        let own = MediaUse(message: MessageID(rawValue: 11), sender: "push", isBackend: true)
        #expect(try opened.apply(.readMedia(ada, file, in: MessageID(rawValue: 11))) == .mediaUse(own))
        _ = try opened.told(1, .recall)
        _ = try opened.step(1, 21...29)
        #expect(try opened.apply(.readMediaUses("shop", file, by: nil)) == .mediaUses([]))
    }
}

@Suite struct `A push job that begins late` {
    @Test(arguments: [(3_601_000, PushJob.State.running), (3_601_001, .missed)] as [(Int64, PushJob.State)])
    func `is missed when that is longer ago than it wants`(at: Int64, state: PushJob.State) throws {
        var opened = Opened()
        try opened.create(job(1, .everybody, sendAt: 1_000))
        let after = try #require(try opened.toldJob(1, .start, at: at))
        #expect(after.state == state)
        guard state == .missed else { return }
        #expect(after.changedAt == at && !after.state.isUnfinished)
        #expect(refused(try opened.told(1, .start, at: at)) == "not_allowed push")
        #expect(try opened.told(1, .cancel, at: at) == .pushJob(after))
        #expect(try opened.told(1, .recall, at: at) == .pushJob(after))
    }

    @Test func `is not late for a time that had passed when it was made`() throws {
        var opened = Opened()
        var early = job(1, .everybody, sendAt: 1_000)
        (early.createdAt, early.lateMilliseconds) = (9_000_000, 0)
        try opened.create(early)
        let after = try #require(try opened.toldJob(1, .start, at: 9_000_000))
        #expect(after.state == .running)
        early.lateMilliseconds = PushJob.lateMax + 1
        early.id = MessageID(rawValue: 2)
        #expect(refused(try opened.apply(.createPush(early))) == "invalid_field late_ms")
    }
}
