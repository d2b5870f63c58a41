import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `A change of an app while the server runs` {
    @Test func `is stored first, then known outside the core, then answered`() {
        var bench = ServerBench()
        #expect(
            bench.makeApp() == ["store control create shop", "changed create shop shop 1", "reply control shop 1"])
        #expect(
            bench.change(.addSecret(ServerBench.app, ServerBench.secret("s2"), previousEndsAt: bench.now.wall + 5))
                == [
                    "store control add secret s2 of shop", "changed add secret s2 of shop shop 2",
                    "reply control shop 2",
                ])
        guard case .control(.app(let app))? = bench.replies.last else { Issue.record("no app"); return }
        #expect(app.secrets.map(\.id) == ["s2", "s1"])
        #expect(app.secrets.map(\.endsAt) == [nil, bench.now.wall + 5])
    }

    @Test func `that the store refuses changes nothing, and nobody outside the core hears of it`() {
        var bench = ServerBench()
        bench.makeApp()
        #expect(bench.makeApp() == ["store control create shop", "reply refused exists id"])
        #expect(
            bench.change(.setAppSettings(ServerBench.app, AppSettings(), revision: 7)) == [
                "store control set shop", "reply refused not_allowed revision",
            ])
    }

    @Test func `of operators, and the use of keys, is told in the same way`() {
        var bench = ServerBench()
        let record = OperatorRecord(
            name: "olga", role: .administer, hashes: KeyHashes([UInt8](repeating: 1, count: 32)), createdAt: 1)
        #expect(
            bench.change(.addOperator(record)) == [
                "store control add operator olga", "changed add operator olga olga administer",
                "reply control olga administer",
            ])
        #expect(
            bench.change(.removeOperator(name: "olga")) == [
                "store control remove olga", "reply refused not_allowed name",
            ])
        #expect(
            bench.change(.noteUses([KeyUse(.ofOperator(name: "olga"), at: bench.now.wall)])) == [
                "store control note 1 uses", "changed note 1 uses noted", "reply control noted",
            ])
    }

    @Test func `is stored with who has asked for it, and outside the core it is the change that counts`() {
        var bench = ServerBench()
        let olga = ControlAuthor(.ofOperator, name: "olga", address: "192.0.2.1")
        bench.makeApp()
        #expect(
            bench.change(.by(olga, .suspendApp("shop", true))) == [
                "store control olga: suspend shop", "changed suspend shop shop 2 suspended",
                "reply control shop 2 suspended",
            ])
        let call = AuditedCall("shop", action: "POST pushes", subject: "")
        #expect(
            bench.change(.by(olga, .noteCall(call))) == [
                "store control olga: note POST pushes of shop", "changed note POST pushes of shop noted",
                "reply control noted",
            ])
        let records = bench.read(.readAudit(AuditQuestion(app: "shop"), limit: 9))?.audit?.records
        #expect(records?.map(\.action) == ["POST pushes", "suspend"])
    }

    @Test func `is not made twice under one idempotency key, and a repeat is told no more than that it is done`() {
        var bench = ServerBench()
        func asked(_ request: UInt64) -> ServerEvent {
            let key = IdempotencyKey(app: "", apiKey: "operator:olga", text: "k")
            return .api(
                APIRequestID(request),
                .once(
                    key, fingerprint: [1],
                    .changeControl(.createApp("shop", AppSettings(), ServerBench.secret("s1")))))
        }
        #expect(
            bench.run(asked(1)) == [
                "store kept? k", "store once k control create shop", "changed create shop shop 1",
                "reply control shop 1",
            ])
        #expect(bench.run(asked(2)) == ["store kept? k", "reply done"])
    }

    @Test func `cannot be read, so it can be tried again`() {
        var core = ServerCore(seed: 1)
        let now = Now(monotonic: 1_000, wall: ServerBench.started)
        _ = core.handle(.opened(StoreOpening(epoch: 1, lastMessageID: MessageID(rawValue: 0), pending: [])), at: now)
        let change = ControlChange.removeOperator(name: "olga")
        #expect(
            core.handle(.api(APIRequestID(1), .changeControl(change)), at: now) == [
                .store(StoreRequestID(1), .changeControl(change, at: ServerBench.started))
            ])
        let effects = core.handle(.stored(StoreRequestID(1), .unreadable(nil, "damaged")), at: now)
        guard effects.count == 1, case .reply(APIRequestID(1), .refused(let problem)) = effects[0] else {
            Issue.record("\(effects)")
            return
        }
        #expect(problem.code == .unavailable)
    }
}

@Suite struct `What is set of an app` {
    private static func longMembers(_ count: Int) -> APICommand {
        .putConversation(
            ConversationRecord(
                app: ServerBench.app, conversation: .group("team"), name: "Team",
                members: (0..<count).map { UserID("u\($0)") }))
    }

    @Test func `holds from the answer on, and what is left out has its default again`() {
        var bench = ServerBench()
        bench.makeApp()
        var settings = AppSettings()
        settings.membersMax = 2
        #expect(bench.run(.api(APIRequestID(1), Self.longMembers(3))).last == "reply done")
        bench.change(.setAppSettings(ServerBench.app, settings, revision: 1))
        #expect(
            bench.run(.api(APIRequestID(1), Self.longMembers(3))) == ["reply refused invalid_field members"])
        bench.change(.setAppSettings(ServerBench.app, AppSettings(), revision: nil))
        #expect(bench.run(.api(APIRequestID(1), Self.longMembers(3))).last == "reply done")
    }

    @Test func `is there again in the next process, whatever its configuration says`() {
        var bench = ServerBench()
        var settings = AppSettings()
        settings.membersMax = 2
        bench.makeApp(settings)
        var configured = ServerBench.plain
        configured.membersMaxByApp[ServerBench.app] = 100
        bench.crash(settings: configured)
        #expect(
            bench.run(.api(APIRequestID(1), Self.longMembers(3))) == ["reply refused invalid_field members"])
    }

    @Test func `takes the place of everything that was set of it, and of nothing of others`() {
        var settings = ServerSettings()
        settings.credentialTopics = ["shop": ["com.example.shop"]]
        var all = AppSettings()
        all.membersMax = 5
        all.devicesMax = 4
        all.limits[.app, .messages] = .unlimited
        all.pushTopics = ["com.example.beta"]
        all.hasOwnProfiles = true
        all.offeredAccounts = ["news"]
        all.pushText = .idOnly
        all.isOnlyPushSender = true
        all.push.clientSounds = ["a.caf"]
        settings.apply(all, to: "shop")
        settings.apply(all, to: "mail")
        #expect(
            settings.pushTopics == ["shop": ["com.example.beta", "com.example.shop"], "mail": ["com.example.beta"]])
        #expect(settings.offeredAccounts.keys.sorted() == ["mail/news", "shop/news"])

        settings.apply(AppSettings(), to: "shop")
        var one = ServerSettings()
        one.credentialTopics = ["shop": ["com.example.shop"]]
        one.apply(all, to: "mail")
        one.words["shop"] = AppWords()
        one.pushTopics["shop"] = ["com.example.shop"]
        #expect(settings == one)
    }
}

@Suite struct `A suspended app` {
    @Test func `has its connections ended, and takes no others`() {
        var bench = ServerBench()
        bench.makeApp()
        bench.connect("alice")
        bench.connect("bob")
        #expect(
            bench.change(.suspendApp(ServerBench.app, true)).outside == [
                "changed suspend shop shop 2 suspended", "s1 ← fatal wrong_app", "close s1", "s2 ← fatal wrong_app",
                "close s2", "reply control shop 2 suspended",
            ])
        #expect(bench.connect("alice").lines == ["s3 ← fatal wrong_app", "close s3"])
        #expect(
            bench.change(.suspendApp(ServerBench.app, false)).outside == [
                "changed resume shop shop 3", "reply control shop 3",
            ])
        #expect(bench.connect("alice").lines.outside.first == "s4 ← welcome head 0 unread 0")
    }

    @Test func `has those ended, too, that are about to be welcomed`() {
        var bench = ServerBench()
        bench.makeApp()
        bench.isStoreHeld = true
        bench.connect("alice")
        bench.change(.suspendApp(ServerBench.app, true))
        let lines = bench.releaseStore()
        #expect(!lines.contains { $0.hasPrefix("BUG") })
        #expect(lines.filter { $0.hasPrefix("s1 ←") }.last == "s1 ← fatal wrong_app")
    }

    @Test func `does not touch the connections of others`() {
        var bench = ServerBench()
        bench.connect("alice")
        bench.change(.createApp("mail", AppSettings(), ServerBench.secret("s1")))
        #expect(
            bench.change(.suspendApp("mail", true)) == [
                "store control suspend mail", "changed suspend mail mail 2 suspended",
                "reply control mail 2 suspended",
            ])
    }

    @Test func `has its pushes waiting, which go when it is resumed`() {
        var bench = ServerBench()
        bench.makeApp()
        bench.goneDevice("bob")
        bench.pass(60_000)
        bench.change(.suspendApp(ServerBench.app, true))
        let said = bench.say("hi", to: .direct("bob"))
        #expect(!said.contains { $0.hasPrefix("push ") })
        #expect(said.contains { $0.hasPrefix("reply accepted") })
        #expect(bench.pass(60_000).filter { $0.hasPrefix("push ") } == [])
        let resumed = bench.change(.suspendApp(ServerBench.app, false))
        #expect(resumed.filter { $0.hasPrefix("push ") } == ["push m1 to bob/phone badge 1@1"])
        #expect(resumed.last == "reply control shop 3")
    }

    @Test func `is suspended in the next process, too`() {
        var bench = ServerBench()
        bench.makeApp()
        bench.goneDevice("bob")
        bench.change(.suspendApp(ServerBench.app, true))
        bench.crash()
        #expect(bench.connect("alice").lines == ["s2 ← fatal wrong_app", "close s2"])
        bench.say("hi", to: .direct("bob"))
        #expect(bench.pass(120_000).filter { $0.hasPrefix("push ") } == [])
        #expect(
            bench.change(.suspendApp(ServerBench.app, false)).filter { $0.hasPrefix("push ") } == [
                "push m1 to bob/phone badge 1@1"
            ])
    }

    @Test func `goes on waiting when it is resumed while APNs is down`() {
        var bench = ServerBench()
        bench.makeApp()
        bench.goneDevice("bob")
        bench.change(.suspendApp(ServerBench.app, true))
        bench.say("hi", to: .direct("bob"))
        bench.report(.paused(LaneOutage(.connection, reason: "down")))
        let resumed = bench.change(.suspendApp(ServerBench.app, false))
        #expect(resumed.filter { $0.hasPrefix("push ") } == [])
        #expect(bench.report(.usable).filter { $0.hasPrefix("push ") } == ["push m1 to bob/phone badge 1@1"])
    }
}
