import APNsModel
import Requirements
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `A push to an audience, a PushJob` {
    @Test(.requirement("C1.1"))
    func `is stored, answered, sent to everybody with a phone, and pushed as any message`() {
        var bench = ServerBench.gone()
        bench.goneDevice("carol")
        #expect(
            bench.push(ServerBench.pushDraft()) == [
                "store push j1", "reply j1 running, 0 people", "store step j1 by 1000",
                "push m1 to bob/phone badge 0@1", "push m2 to carol/phone badge 0@1",
            ])
        #expect(
            bench.acceptPush() == [
                "store end m1 bob/phone accepted", "store token of bob/phone is accepted",
                "store cursor bob/phone decided 1",
            ])
        bench.acceptPush()
        let job = bench.job(1)
        #expect(job?.state == .done)
        #expect(job?.counts.recipients == 2)
        #expect(job?.counts.ends == ["accepted": 2])
        #expect(job?.counts.repeated == 0)
        // Nothing is asked about a job that is done.
        #expect(bench.pass(60_000).filter { $0.contains("step") } == [])
    }

    @Test func `says who sends it, and is a message of the person's own in that conversation`() throws {
        var bench = ServerBench.gone()
        bench.push(ServerBench.pushDraft("Sale"))
        let message = try #require(bench.stored(bench.messages[0]))
        #expect(message.sender == "push")
        #expect(message.conversation == ConversationID(type: .pushService, target: "bob"))
        #expect(message.flags == [.stored, .notified])
        #expect(message.pushJob == bench.jobs[0])
        #expect(message.clientMessageID.rawValue == bench.jobs[0].description)
        #expect(bench.payload?["tidings"]?["text"] != nil)
    }

    @Test func `counts as unread if it says so`() {
        var bench = ServerBench.gone()
        #expect(
            bench.push(ServerBench.pushDraft(isCounted: true)).outside == [
                "reply j1 running, 0 people", "push m1 to bob/phone badge 1@1",
            ])
    }

    @Test func `reaches who is connected on the connection, and ends as they settle it`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        #expect(
            bench.push(ServerBench.pushDraft()) == [
                "store push j1", "reply j1 running, 0 people", "store step j1 by 1000", "s1 ← entry 1 m1",
            ])
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: []))))
        #expect(bench.job(1)?.counts.ends == ["settled": 1])
    }

    @Test func `obeys levels as any message does`() {
        var bench = ServerBench.gone()
        bench.settings["bob"] = AllSettings(person: PersonSettings(levels: [.pushService: .blocked]))
        bench.crash()
        bench.pass(20_000)
        bench.push(ServerBench.pushDraft())
        #expect(bench.pushes.isEmpty)
        #expect(bench.job(1)?.counts.ends == ["muted": 1])
    }

    @Test func `to people by name reaches those without a phone in their log alone`() {
        var bench = ServerBench()
        #expect(
            bench.push(ServerBench.pushDraft(to: .users(["dora"]))) == [
                "store push j1", "reply j1 running, 0 people", "store step j1 by 1000", "store load dora",
                "count no_device",
            ])
        #expect(bench.job(1)?.counts.ends == ["no_device": 1])
    }

    @Test func `to the app itself goes to whoever is there, and loads nobody`() {
        var bench = ServerBench()
        bench.goneDevices(1)
        bench.connect("bob")
        var draft = ServerBench.pushDraft()
        draft.body = .custom(CustomMessage(id: MessageID(rawValue: 0), content: "refresh", sentAt: 0))
        #expect(
            bench.push(draft) == [
                "store push j1", "reply j1 running, 0 people", "store step j1 by 1000", "s1 ← entry 1 custom m2",
            ])
        #expect(bench.job(1)?.counts.recipients == 2)
    }

    @Test func `is refused with what is wrong, and then nothing is stored`() {
        var bench = ServerBench()
        #expect(bench.push(ServerBench.pushDraft(to: .tag("vip"))) == ["reply refused invalid_field audience"])
        var late = ServerBench.pushDraft()
        late.sendAt = bench.now.wall + PushDraft.sendAheadMax + 1
        #expect(bench.push(late) == ["reply refused invalid_field send_at"])
        bench.run(.storageMeasured(free: -1))
        #expect(bench.push(ServerBench.pushDraft()) == ["reply refused storage_full "])
    }

    @Test func `under an idempotency key is one job, whose repeat is told how it stands by now`() {
        var bench = ServerBench.gone()
        func asked(_ request: UInt64) -> ServerEvent {
            let key = IdempotencyKey(app: ServerBench.app, apiKey: "backend", text: "k")
            return .api(
                APIRequestID(request),
                .once(key, fingerprint: [1], .createPush(ServerBench.app, ServerBench.pushDraft())))
        }
        #expect(
            bench.run(asked(1)) == [
                "store kept? k", "store once k push j1", "reply j1 running, 0 people", "store step j1 by 1000",
                "push m1 to bob/phone badge 0@1",
            ])
        #expect(bench.run(asked(2)) == ["store kept? k", "store push? j1", "reply j1 done, 1 people"])
    }
}

@Suite struct `The steps of a PushJob` {
    @Test func `begin when it is due`() {
        var bench = ServerBench.gone()
        var draft = ServerBench.pushDraft()
        draft.sendAt = bench.now.wall + 3_600_000
        #expect(bench.push(draft) == ["store push j1", "reply j1 scheduled, 0 people"])
        #expect(bench.pass(3_599_999).filter { $0.contains("j1") } == [])
        #expect(
            bench.pass(1) == [
                "store start j1", "store step j1 by 1000", "store load bob", "push m1 to bob/phone badge 0@1",
            ])
    }

    @Test func `do not begin where the server was down for longer than the job may be late`() {
        var bench = ServerBench.gone()
        var draft = ServerBench.pushDraft()
        draft.sendAt = bench.now.wall + 1_000
        draft.lateMilliseconds = 500
        bench.push(draft)
        bench.now.wall += 1_501
        bench.crash()
        #expect(bench.pass(1_000) == ["store start j1"])
        #expect(bench.job(1)?.state == .missed)
        #expect(bench.jobReports.last?.state == .missed && bench.jobReports.last?.isNews == true)
        #expect(bench.pushes.isEmpty)
    }

    @Test func `go on as legs end, and keep no more than two thousand under way`() {
        var bench = ServerBench()
        bench.goneDevices(3_500)
        bench.push(ServerBench.pushDraft())
        #expect(bench.messages.count >= 2_000)
        // APNs answers nobody: a thousand are in flight, a thousand wait for their turn.
        bench.pass(10_000)
        #expect(bench.pushes.count == 1_000)
        #expect(bench.core.load(at: bench.now).legs == 2_000)
        #expect(bench.job(1)?.counts.recipients == 2_000)
        // It answers ninety-nine: a step of one person each would be a sync each.
        for _ in 0..<99 { bench.acceptPush() }
        #expect(bench.pass(1_000).filter { $0.contains("step") } == [])
        bench.acceptPush()
        #expect(bench.pass(50).filter { $0.contains("step") } == ["store step j1 by 100"])
        while bench.job(1)?.state != .done || !bench.pushes.isEmpty {
            while !bench.pushes.isEmpty { bench.acceptPush() }
            bench.pass(50)
        }
        #expect(bench.job(1)?.counts.ends == ["accepted": 3_500])
    }

    @Test func `reach fewer people where these have many devices`() {
        var bench = ServerBench()
        for number in 0..<300 { for phone in 0..<20 { bench.goneDevice(UserID("p\(number)"), DeviceID("d\(phone)")) } }
        bench.push(ServerBench.pushDraft())
        // APNs answers nobody.
        bench.pass(10_000)
        #expect((2_000...3_000).contains(bench.core.load(at: bench.now).legs))
        #expect((bench.job(1)?.counts.recipients ?? 0) <= 150)
    }

    @Test func `leave nobody in memory who is done with it`() {
        var bench = ServerBench()
        bench.goneDevices(5_000)
        bench.push(ServerBench.pushDraft())
        var most = 0
        while bench.job(1)?.state != .done || !bench.pushes.isEmpty {
            while !bench.pushes.isEmpty { bench.acceptPush() }
            bench.pass(1_000)
            most = max(most, bench.core.load(at: bench.now).people)
        }
        bench.pass(2_000)
        #expect(bench.job(1)?.counts.ends == ["accepted": 5_000])
        #expect(most < 3_000)
        #expect(bench.core.load(at: bench.now).people == 0)
    }

    @Test func `wait for nobody's quiet hours`() {
        var bench = ServerBench()
        bench.goneDevices(1_500)
        let night = AllSettings(
            person: PersonSettings(
                quietHours: QuietHours(start: 0, end: 1_439, weekdays: [1, 2, 3, 4, 5, 6, 7], timeZone: "UTC")))
        for number in 0..<1_500 { bench.settings[UserID("p\(number)")] = night }
        bench.goneDevice("zoe")
        bench.settings["bob"] = nil
        let lines = bench.push(ServerBench.pushDraft())
        #expect(lines.contains("zone? UTC"))
        bench.run(.timeZoneRead("UTC", TimeZoneFacts(offsets: [.init(from: 0, seconds: 0)], until: .max)))
        bench.pass(100)
        #expect(bench.job(1)?.state == .done)
        #expect(bench.core.load(at: bench.now).legs >= 1_500)
        #expect(bench.pushes.map(\.device.user.user) == ["zoe"])
    }

    @Test func `keep to the job's rate`() {
        var bench = ServerBench()
        bench.goneDevices(40)
        var draft = ServerBench.pushDraft()
        draft.ratePerSecond = 10
        // What a second brings goes at once.
        #expect(bench.push(draft).filter { $0.contains("step") } == ["store step j1 by 10"])
        #expect(bench.pass(99).filter { $0.contains("step") } == [])
        #expect(bench.pass(1).filter { $0.contains("step") } == ["store step j1 by 1"])
        bench.pass(1_000)
        #expect(bench.job(1)?.counts.recipients == 21)
        bench.pass(2_000)
        #expect(bench.job(1)?.counts.recipients == 40)
    }

    @Test func `stop while the disk is full, the app is suspended or the store is behind, and go on after it`() {
        var settings = ServerBench.plain
        settings.freeBytesMin = 1_000
        settings.pushBacklogMax = 1
        var bench = ServerBench(settings: settings)
        bench.goneDevices(1)
        var draft = ServerBench.pushDraft()
        draft.sendAt = bench.now.wall + 1_000
        bench.push(draft)
        bench.run(.storageMeasured(free: 10))
        #expect(bench.pass(5_000) == ["store start j1"])
        bench.run(.storageMeasured(free: 10_000))
        bench.isStoreHeld = true
        bench.run(.api(APIRequestID(9), .trace(ServerBench.app, MessageID(rawValue: 1))))
        #expect(bench.pass(2_000) == [])
        bench.releaseStore()
        bench.makeApp()
        bench.change(.suspendApp(ServerBench.app, true))
        #expect(bench.pass(2_000) == [])
        bench.change(.suspendApp(ServerBench.app, false))
        #expect(bench.pass(1_000).first == "store step j1 by 1000")
        #expect(bench.job(1)?.state == .done)
    }

    @Test func `begin one after the other, in turn with those of other jobs`() {
        var bench = ServerBench()
        bench.goneDevices(1_200)
        bench.isStoreHeld = true
        bench.push(ServerBench.pushDraft("one"))
        bench.push(ServerBench.pushDraft("two"))
        let lines = bench.releaseStore() + bench.pass(200)
        #expect(
            lines.filter { $0.contains("step") }.prefix(2) == ["store step j1 by 1000", "store step j2 by 1000"])
        while !bench.pushes.isEmpty || bench.job(2)?.state != .done || bench.job(1)?.state != .done {
            while !bench.pushes.isEmpty { bench.acceptPush() }
            bench.pass(50)
        }
        #expect(bench.job(1)?.counts.ends == ["accepted": 1_200])
        #expect(bench.job(2)?.counts.ends == ["accepted": 1_200])
    }

    @Test func `are told to whoever watches, at most once a second`() {
        var bench = ServerBench()
        bench.goneDevices(3_000)
        bench.push(ServerBench.pushDraft())
        while bench.job(1)?.state != .done {
            while !bench.pushes.isEmpty { bench.acceptPush() }
            bench.pass(50)
        }
        #expect(bench.jobReports.map(\.state) == [.running, .done])
        #expect(bench.jobReports.map(\.isNews) == [true, true])
        #expect(bench.jobReports.last?.recipients == 3_000)
        #expect(bench.reports.contains { if case .accepted = $0 { true } else { false } } == false)
    }
}

@Suite struct `What a backend asks about pushes` {
    @Test func `is how many people are in an audience, counted in parts`() {
        var bench = ServerBench()
        bench.goneDevices(3)
        #expect(
            bench.run(.api(APIRequestID(1), .countAudience(ServerBench.app, .everybody))).last
                == "reply audience of 3 with 3 devices")
        #expect(
            bench.run(.api(APIRequestID(1), .countAudience(ServerBench.app, .tag("vip"))))
                == ["reply refused invalid_field audience"])
    }

    @Test func `is the jobs there are, and the message that somebody got`() {
        var bench = ServerBench.gone()
        bench.push(ServerBench.pushDraft("one"))
        bench.push(ServerBench.pushDraft("two"))
        let newest = bench.read(.readPushes(ServerBench.app, before: nil, limit: 1))?.pushJobs
        #expect(newest?.jobs.map(\.id) == [bench.jobs[1]] && newest?.hasMore == true)
        func got(_ user: UserID) -> StoreResult? {
            bench.read(.readPushRecipient(ServerBench.key(user), bench.jobs[0]))
        }
        #expect(got("bob") == .pushRecipient(bench.messages[0]))
        #expect(got("eve") == .pushRecipient(nil))
    }

    @Test func `is whom aliases and tags of the app name`() {
        var settings = ServerBench.plain
        settings.tags = [ServerBench.app: ["vip"]]
        var bench = ServerBench.gone(settings)
        bench.goneDevice("carol")
        func label(_ user: UserID, _ change: LabelChange) -> [String] {
            bench.run(.api(APIRequestID(1), .setLabels(ServerBench.key(user), change))).outside
        }
        #expect(label("bob", .tags(["vip"])) == ["reply done"])
        #expect(label("bob", .tags(["unknown"])) == ["reply refused invalid_field tags"])
        #expect(label("carol", .aliases(["c-1"])) == ["reply done"])
        #expect(bench.read(.readLabels(ServerBench.key("bob")))?.labels?.tags == ["vip"])
        bench.push(ServerBench.pushDraft(to: .tag("vip")))
        bench.push(ServerBench.pushDraft(to: .all([.everybody, .not(.tag("vip"))])))
        bench.push(ServerBench.pushDraft(to: .any([.alias("c-1"), .alias("c-2")])))
        #expect(bench.pushes.map(\.device.user.user) == ["bob", "carol"])
        bench.acceptPush()
        bench.acceptPush()
        #expect(bench.pushes.map(\.device.user.user) == ["carol"])
    }

    @Test func `is whom tags name that people have chosen on their phones, out of the app's list`() {
        var settings = ServerBench.plain
        settings.tags = [ServerBench.app: ["shoes", "vip"]]
        var bench = ServerBench(settings: settings)
        bench.connect("bob")
        #expect(
            bench.ask(1, 1, .setTags(["vip", "shoes", "vip"])) == [
                "store labels bob tags([\"vip\", \"shoes\", \"vip\"])", "s1 ← answer 1 tags([\"shoes\", \"vip\"])",
            ])
        #expect(
            bench.ask(1, 2, .setTags(["gold"])) == [
                "s1 ← answer 2 refused(invalid_field: tags must have tags of the app's list, got \"gold\")"
            ])
        #expect(
            bench.ask(1, 3, .setTags([])) == ["store labels bob tags([])", "s1 ← answer 3 tags([])"])
        #expect(bench.read(.readLabels(ServerBench.key("bob")))?.labels?.tags == [])
    }
}
