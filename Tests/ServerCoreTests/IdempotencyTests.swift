import ServerCore
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `A request under an idempotency key` {
    private static let bob = ConversationID(type: .direct, target: "bob")

    private static func once(
        _ command: APICommand, _ text: String = "k", print fingerprint: UInt8 = 1, as request: UInt64 = 1,
        by apiKey: String = "backend"
    ) -> ServerEvent {
        let key = IdempotencyKey(app: ServerBench.app, apiKey: apiKey, text: text)
        return .api(APIRequestID(request), .once(key, fingerprint: [fingerprint], command))
    }

    private static func send(_ text: String, client: ClientMessageID = "c1") -> APICommand {
        let draft = MessageDraft(
            clientMessageID: client, conversation: Self.bob, objectName: .text,
            content: JSONValue.members([("content", .string(text))]).text)
        return .send(ServerBench.key("alice"), draft)
    }

    private static let create = APICommand.request(
        ServerBench.app, actor: nil,
        .change(
            ConversationID(type: .group, target: "team"), .create(name: "Team", portrait: nil, members: ["alice"])))

    @Test func `is looked up, then carried out together with keeping its answer`() {
        var bench = ServerBench()
        let lines = bench.run(Self.once(Self.send("hi")))
        #expect(lines.prefix(3) == ["store kept? k", "store once k accept m1", "reply accepted m1"])
        #expect(bench.store.dump().kept.map(\.key.text) == ["k"])
    }

    @Test func `is answered as the first time, and not carried out again`() {
        var bench = ServerBench()
        bench.run(Self.once(Self.send("hi")))
        #expect(bench.run(Self.once(Self.send("hi"), as: 2)) == ["store kept? k", "reply accepted m1"])
        let told = bench.replies.compactMap { reply -> [String]? in
            guard case .accepted(let accepted, let isRepeat) = reply else { return nil }
            return ["\(accepted.messageID)", "\(accepted.clientMessageID)", "\(accepted.sentAt)", "\(isRepeat)"]
        }
        #expect(told.count == 2 && told.first == told.last)
    }

    @Test func `is answered as the first time where that was a repeat of a message`() {
        var bench = ServerBench()
        bench.run(.api(APIRequestID(1), Self.send("hi")))
        #expect(bench.run(Self.once(Self.send("hi"))).contains("reply accepted m1 again"))
        #expect(bench.run(Self.once(Self.send("hi"))) == ["store kept? k", "reply accepted m1 again"])
    }

    @Test func `is refused where the key was another request's, or that is not answered yet`() {
        var bench = ServerBench()
        bench.isStoreHeld = true
        #expect(bench.run(Self.once(Self.send("hi"))) == ["store kept? k"])
        #expect(bench.run(Self.once(Self.send("hi"), as: 2)) == ["reply key in use"])
        bench.releaseStore()
        #expect(
            bench.run(Self.once(Self.send("ho", client: "c2"), print: 2, as: 3)) == [
                "store kept? k", "reply key reused",
            ])
        // The same text of another API key is another key.
        #expect(
            bench.run(Self.once(Self.send("ho", client: "c2"), print: 2, by: "robot")).contains("reply accepted m2"))
    }

    @Test func `is answered as the first time after a crash between its commit and its answer`() {
        var bench = ServerBench()
        bench.isStoreHeld = true
        bench.run(Self.once(Self.create))
        bench.answerNext()
        bench.carryOutUnheard()
        bench.isStoreHeld = false
        bench.crash()
        #expect(bench.replies == [])
        #expect(bench.run(Self.once(Self.create)) == ["store kept? k", "reply answer done(0)"])
        // Without the key the conversation would be there already.
        #expect(bench.run(.api(APIRequestID(9), Self.create)).last?.contains("refused(exists") == true)
    }

    @Test func `is carried out after a crash before its commit`() {
        var bench = ServerBench()
        bench.isStoreHeld = true
        bench.run(Self.once(Self.send("hi")))
        bench.crash()
        bench.isStoreHeld = false
        #expect(bench.run(Self.once(Self.send("hi"))).contains("reply accepted m1"))
    }

    @Test func `keeps nothing of a refusal: the repeat is judged anew`() {
        var bench = ServerBench()
        let rename = APICommand.request(
            ServerBench.app, actor: nil, .change(ConversationID(type: .group, target: "team"), .rename("T")))
        #expect(bench.run(Self.once(rename)).last?.contains("refused(unknown_conversation") == true)
        bench.run(.api(APIRequestID(2), Self.create))
        #expect(bench.run(Self.once(rename)).contains("reply answer done(0)"))
    }

    @Test func `is answered as the first time where it would be refused by now`() {
        var settings = ServerBench.plain
        settings.freeBytesMin = 1_000
        var bench = ServerBench(settings: settings)
        bench.run(Self.once(Self.send("hi")))
        bench.run(.storageMeasured(free: 1))
        #expect(bench.run(Self.once(Self.send("ho", client: "c2"), "k2")).last == "reply refused storage_full ")
        #expect(bench.run(Self.once(Self.send("hi"))) == ["store kept? k", "reply accepted m1"])
    }

    @Test func `issues the same token again, as of the first time`() {
        var bench = ServerBench()
        let issue = APICommand.issueToken(ServerBench.key("bob"))
        #expect(bench.run(Self.once(issue)).last == "reply may issue a token at 20000")
        bench.pass(5_000)
        #expect(bench.run(Self.once(issue)) == ["store kept? k", "reply may issue a token at 20000"])
        #expect(bench.run(.api(APIRequestID(2), issue)).last == "reply may issue a token at 25000")
    }

    @Test func `issues no token to somebody who is banned`() {
        var bench = ServerBench()
        bench.run(.api(APIRequestID(1), .changeAccount(ServerBench.key("bob"), .ban())))
        let issue = APICommand.issueToken(ServerBench.key("bob"))
        #expect(bench.run(Self.once(issue)).last == "reply refused disabled user")
        #expect(bench.store.dump().kept == [])
    }

    @Test func `frees its key when the store fails`() {
        var bench = ServerBench()
        bench.isStoreHeld = true
        bench.run(Self.once(Self.send("hi")))
        let id = bench.waiting[0].id
        #expect(bench.run(.stored(id, .failed("no disk"))).contains("reply refused unavailable "))
        #expect(bench.run(Self.once(Self.send("hi"))) == ["reply refused unavailable "])
    }

    @Test func `is refused where the app has used too many keys`() {
        var settings = ServerBench.plain
        settings.idempotencyKeysMax = 1
        var bench = ServerBench(settings: settings)
        bench.run(Self.once(Self.send("hi")))
        #expect(
            bench.run(Self.once(Self.send("ho", client: "c2"), "k2")).last
                == "reply refused rate_limited Idempotency-Key")
        #expect(
            bench.run(Self.once(.changeAccount(ServerBench.key("bob"), .ban()), "k2")).last
                == "reply refused rate_limited Idempotency-Key")
    }
}

@Suite struct `What is left of a limit` {
    private static func ask(_ question: QuotaQuestion, _ bench: inout ServerBench) -> String? {
        bench.run(.api(APIRequestID(99), .quotas(question))).last
    }

    private static func bench() -> ServerBench {
        var settings = ServerBench.plain
        settings.limits = .none
        settings.limits[.app, .messages] = RateLimit(perSecond: 10, burst: 20)
        settings.limits[.app, .deliveries] = RateLimit(perSecond: 100, burst: 200)
        settings.limits[.app, .requests] = RateLimit(perSecond: 1, burst: 5)
        settings.limits[.person, .requests] = RateLimit(perSecond: 1, burst: 3)
        return ServerBench(settings: settings)
    }

    @Test func `is all of it before anything is asked, and less by each message and its deliveries`() {
        var bench = Self.bench()
        let full = Self.ask(.messages(ServerBench.app), &bench)
        #expect(full == #"reply quotas ["app messages 20 0", "app deliveries 200 0"]"#)
        bench.say(to: .direct("bob"))
        let left = Self.ask(.messages(ServerBench.app), &bench)
        #expect(left == #"reply quotas ["app messages 19 100", "app deliveries 198 20"]"#)
    }

    @Test func `comes back with time, and is nothing when all is taken`() {
        var bench = Self.bench()
        for number in 0..<6 as Range<UInt64> {
            bench.run(.api(APIRequestID(number), .request(ServerBench.app, actor: "bob", .settings)))
        }
        #expect(Self.ask(.requests(ServerBench.app), &bench) == #"reply quotas ["app requests 0 5000"]"#)
        bench.pass(2_500)
        #expect(Self.ask(.requests(ServerBench.app), &bench) == #"reply quotas ["app requests 2 2500"]"#)
    }

    @Test func `of a phone's extension is the app's and the person's, and of no limit nothing`() {
        var bench = Self.bench()
        #expect(
            Self.ask(.extensionRequests(ServerBench.key("bob")), &bench)
                == #"reply quotas ["app requests 5 0", "person requests 3 0"]"#)
        var settings = ServerBench.plain
        settings.limits = .none
        var unlimited = ServerBench(settings: settings)
        #expect(Self.ask(.messages(ServerBench.app), &unlimited) == "reply quotas []")
    }
}
