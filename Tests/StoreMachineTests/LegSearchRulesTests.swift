import StoreModel
import Testing
import TidingsModel

@Suite struct `A search for legs` {
    private static func leg(_ message: UInt64, _ user: UserKey = bo, _ device: DeviceID? = "phone") -> LegID {
        LegID(message: MessageID(rawValue: message), user: user, device: device)
    }

    /// What a step tells, message by message, and where the next goes on.
    private static func told(_ result: StoreResult) -> [String] {
        guard case .legs(let page) = result else { return ["no legs"] }
        let lines = page.messages.map { message in
            let ended = message.ended.map { "\($0.leg.user.user)/\($0.leg.device?.rawValue ?? "-") \($0.end.name)" }
            let open = message.open.map { "\($0.leg.user.user)/\($0.leg.device?.rawValue ?? "-") \($0.wait.rawValue)" }
            return (["\(message.id.rawValue)"] + ended + open).joined(separator: " ")
        }
        return lines + (page.next.map { ["next \($0)"] } ?? [])
    }

    /// Messages 1 to 4 to bo, who has a phone from the second on, and 5 to ada.
    private static func opened() throws -> Opened {
        var opened = try Opened(sending: message(1))
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 7))
        for id: UInt64 in 2...4 { _ = try opened.send(message(id)) }
        _ = try opened.apply(.endLeg(EndedLeg(leg: Self.leg(2), end: .muted, at: 8)))
        _ = try opened.apply(.endLeg(EndedLeg(leg: Self.leg(3), end: .accepted(apnsID: "A"), at: 9)))
        _ = try opened.apply(.keepLeg(OpenLeg(leg: Self.leg(4), position: 4, wait: .quietHours, notBefore: 99)))
        _ = try opened.send(message(5, from: "bo", in: toAda))
        _ = try opened.apply(.endLeg(EndedLeg(leg: Self.leg(5, ada, "mac"), end: .settled(.shown), at: 9)))
        return opened
    }

    @Test func `for a person goes back through their log, with what is open and what had no device`() throws {
        var opened = try Self.opened()
        let question = LegQuestion(app: "shop", user: "bo", looksMax: 100)
        #expect(
            Self.told(try opened.apply(.readLegs(question))) == [
                "5", "4 bo/phone quiet_hours", "3 bo/phone accepted", "2 bo/phone muted", "1 bo/- no_device",
            ])
        guard case .legs(let page) = try opened.apply(.readLegs(question)) else { return }
        #expect(page.messages.map(\.place) == [5, 4, 3, 2, 1])
        #expect(page.reached == MessageID(rawValue: 1))
        #expect(page.messages[1].about == MessageLegs.About(.message(message(4))))
    }

    @Test func `for anybody has what has ended on devices`() throws {
        var opened = try Self.opened()
        #expect(
            Self.told(try opened.apply(.readLegs(LegQuestion(app: "shop", looksMax: 100)))) == [
                "5 ada/mac settled", "3 bo/phone accepted", "2 bo/phone muted",
            ])
        #expect(Self.told(try opened.apply(.readLegs(LegQuestion(app: "club", looksMax: 100)))) == [])
    }

    @Test func `looks at so much, and says where it goes on`() throws {
        var opened = try Self.opened()
        for user in [nil, "bo"] as [UserID?] {
            let whole = Self.told(try opened.apply(.readLegs(LegQuestion(app: "shop", user: user, looksMax: 100))))
            for looks in 1...4 {
                var question = LegQuestion(app: "shop", user: user, looksMax: looks)
                var told: [String] = []
                var steps = 0
                repeat {
                    guard case .legs(let page) = try opened.apply(.readLegs(question)) else { return }
                    told += Self.told(.legs(page)).filter { !$0.hasPrefix("next") }
                    question.before = page.next
                    steps += 1
                } while question.before != nil && steps < 20
                #expect(told == whole)
                #expect(steps > 1 && steps <= 6)
            }
        }
    }

    @Test func `keeps to the ids of its time`() throws {
        var opened = try Self.opened()
        var question = LegQuestion(app: "shop", user: "bo", looksMax: 100)
        (question.oldest, question.newest) = (MessageID(rawValue: 2), MessageID(rawValue: 4))
        let wanted = ["3 bo/phone accepted", "2 bo/phone muted"]
        #expect(Self.told(try opened.apply(.readLegs(question))) == wanted)
        question.user = nil
        #expect(Self.told(try opened.apply(.readLegs(question))) == wanted)
    }

    @Test func `filters by person, device, state and reason`() {
        let end = LegEnd.tokenQuarantined(reason: "BadDeviceToken", status: 400)
        let ended = EndedLeg(leg: Self.leg(1), end: end, at: 1)
        let open = OpenLeg(leg: Self.leg(2), position: 2, wait: .throttled)
        func admitted(_ filter: LegFilter) -> [Bool] { [filter.admits(ended), filter.admits(open)] }
        #expect(admitted(LegFilter()) == [true, true])
        #expect(admitted(LegFilter(user: "bo", device: "phone")) == [true, true])
        #expect(admitted(LegFilter(user: "ada")) == [false, false])
        #expect(admitted(LegFilter(device: "pad")) == [false, false])
        #expect(admitted(LegFilter(state: .open)) == [false, true])
        #expect(admitted(LegFilter(state: .ended)) == [true, false])
        #expect(admitted(LegFilter(state: .named("token_quarantined"))) == [true, false])
        #expect(admitted(LegFilter(state: .named("throttled"))) == [false, true])
        #expect(admitted(LegFilter(state: .waiting(.throttled))) == [false, true])
        #expect(admitted(LegFilter(state: .waiting(.quietHours))) == [false, false])
        #expect(admitted(LegFilter(reason: "baddevice")) == [true, false])
        #expect(admitted(LegFilter(reason: "THROTT")) == [false, true])
    }

    @Test func `knows the names of ends, each once`() {
        #expect(Set(LegFilter.ends).count == 17)
        #expect(LegFilter.ends.count == 17)
    }
}

@Suite struct `The steps of a leg` {
    @Test func `are kept with its end, also where its device signs out`() throws {
        var opened = Opened()
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 7))
        _ = try opened.send(message(1))
        let steps = LegSteps([.waited(.quietHours, until: 20, at: 10)])
        let leg = LegID(message: MessageID(rawValue: 1), user: bo, device: "phone")
        _ = try opened.apply(.keepLeg(OpenLeg(leg: leg, position: 1, wait: .quietHours, steps: steps)))
        #expect(try opened.user(bo)?.openLegs.map(\.steps) == [steps])
        _ = try opened.apply(.signOut(phone, at: 11))
        #expect(try opened.ended(1) == EndedLeg(leg: leg, end: .signedOut, at: 11, steps: steps))
    }

    @Test func `have a wait that goes on once, with its last end`() {
        var steps = LegSteps([.waited(.quietHours, until: 20, at: 10), .waited(.quietHours, until: 30, at: 15)])
        #expect(steps.all == [.waited(.quietHours, until: 30, at: 10)])
        steps.append(.waited(.throttled, until: nil, at: 16))
        steps.append(.turned(.returned, at: 17))
        steps.append(.waited(.throttled, until: nil, at: 18))
        #expect(steps.all.count == 4)
    }

    @Test func `are the first and the newest where there are many`() {
        let steps = LegSteps((0..<100).map { .turned(.silent, at: $0) })
        let times = steps.all.map { step -> Int64 in
            guard case .turned(_, let at) = step else { return -1 }
            return at
        }
        #expect(times == Array(0..<8) + Array(76..<100))
    }
}
