import ClientCore
import PhoneCore

// How the app answers calls, and the SDK's custom callback.
extension ScenarioReader {
    mutating func answers(_ node: ScenarioNode, _ app: inout AppSetup) {
        guard let fields = self.reader.fields(node, .answers) else { return }
        for member in fields.members {
            guard let call = AnsweredCall(rawValue: member.key) else { continue }
            let usual = Self.usual(call)
            app.answers[call] = self.answer(member.node, call, usual)
            guard let of = self.answersOf(member.node, "answers.\(member.key)") else { continue }
            if !call.isAboutNotification {
                self.reader.problem(of.position, "\(member.key) is about no notification: `of` has no meaning")
                continue
            }
            for one in of.members {
                app.answersOf[call, default: [:]][one.key] = self.answer(one.node, call, usual)
                self.refuseNested(one.node)
            }
        }
    }

    /// The mapping under `of`: names of notifications, which the case must bring.
    private mutating func answersOf(
        _ node: ScenarioNode, _ key: String
    ) -> (position: ScenarioPosition, members: [ScenarioNode.Member])? {
        guard case .mapping = node.value, let of = node["of"], let members = self.reader.mapping(of, "of") else {
            return nil
        }
        if members.isEmpty { self.reader.problem(of.position, "of must name a notification") }
        for member in members { self.promise(member, of: "\(key).of") }
        return (of.position, members)
    }

    private mutating func refuseNested(_ node: ScenarioNode) {
        if let nested = node["of"] {
            self.reader.problem(nested.position, "an answer for one notification has no `of` of its own")
        }
    }

    private static func usual(_ call: AnsweredCall) -> AnswerHabit {
        switch call {
        // What every version knows: `alert` stands for banner and list before iOS 14 (ios-delivery.md §5.5).
        case .willPresent: AnswerHabit(result: .presentation([.alert, .banner, .list, .sound, .badge]))
        case .didReceiveRemoteNotificationFetch, .performFetch: AnswerHabit(result: .fetch(.newData))
        default: AnswerHabit(result: .returned)  // tidy: the others take no answer
        }
    }

    private mutating func answer(_ node: ScenarioNode, _ call: AnsweredCall, _ usual: AnswerHabit) -> AnswerHabit {
        guard case .mapping = node.value else { return self.habit(node, call) }
        var habit = usual
        guard let fields = self.reader.fields(node, .answer) else { return habit }
        if let node = fields["result"] { habit = self.habit(node, call) }
        if let node = fields["after"] { habit.after = self.reader.time(node, "after") ?? 0 }
        if let node = fields["twice"] {
            habit.isTwice = self.reader.flag(node, "twice") ?? false
            if habit.isTwice, let death = habit.death {
                self.reader.problem(node.position, "a process that \(death.rawValue) answers nothing, and not twice")
            }
        }
        return habit
    }

    private mutating func habit(_ node: ScenarioNode, _ call: AnsweredCall) -> AnswerHabit {
        var habit = AnswerHabit(reportsCall: node.text == "reportsCall")
        if call == .serviceExtension { habit.death = node.text.flatMap { AnswerHabit.Death(rawValue: $0) } }
        habit.result = self.result(node, call)
        return habit
    }

    /// nil for never.
    private mutating func result(_ node: ScenarioNode, _ call: AnsweredCall) -> CallbackResult? {
        if node.text == "never" { return nil }
        switch call {
        case .willPresent:
            let words: [(String, WillPresentOptions)] = [
                ("banner", .banner), ("list", .list), ("sound", .sound), ("badge", .badge), ("alert", .alert),
            ]
            return self.reader.options(node, "presentation option", words).map { .presentation($0) }
        case .didReceiveRemoteNotificationFetch, .performFetch:
            let words = FetchResult.allCases.map { ("\($0)", $0) } + [("never", FetchResult.noData)]
            return self.reader.word(node, "fetch result", words).map { .fetch($0) }
        case .didReceiveIncomingPush:
            let words = ["reportsCall", "returns", "never"].map { ($0, true) }
            return self.reader.word(node, call.rawValue, words).map { _ in .returned }
        case .serviceExtension:
            let words = ["returns", "never"] + AnswerHabit.Death.allCases.map(\.rawValue)
            return self.reader.word(node, call.rawValue, words.map { ($0, true) }).map { _ in .returned }
        case .didReceive, .didFinishLaunching, .didEnterBackground:
            return self.reader.word(node, call.rawValue, [("returns", true), ("never", true)]).map { _ in .returned }
        }
    }

    // MARK: The SDK's custom callback

    mutating func customCallback(_ node: ScenarioNode, _ sdk: inout SDKSetup) {
        sdk.customCallback = self.callbackHabit(node, mayBeNone: true)
        if let of = self.answersOf(node, "sdk.customCallback") {
            for one in of.members {
                sdk.customCallbackOf[one.key] = self.callbackHabit(one.node, mayBeNone: false)
                self.refuseNested(one.node)
            }
        }
        if sdk.customCallback == nil, !sdk.customCallbackOf.isEmpty {
            self.reader.problem(node.position, "without a custom callback `of` has no meaning")
        }
        sdk.kit.hasDelegate = sdk.customCallback != nil
    }

    /// nil: there is none.
    private mutating func callbackHabit(_ node: ScenarioNode, mayBeNone: Bool) -> CustomCallbackHabit? {
        let words: [(String, CustomCallbackHabit?)] =
            (mayBeNone ? [("none", nil)] : []) + [
                ("handled", CustomCallbackHabit(isHandled: true)),
                ("notHandled", CustomCallbackHabit(isHandled: false)), ("never", CustomCallbackHabit()),
            ]
        guard case .mapping = node.value else { return self.reader.word(node, "customCallback", words) ?? nil }
        var habit: CustomCallbackHabit? = CustomCallbackHabit(isHandled: false)
        guard let fields = self.reader.fields(node, .answer) else { return habit }
        if let node = fields["result"] { habit = self.reader.word(node, "customCallback", words) ?? nil }
        if let node = fields["after"] {
            if habit?.isHandled == nil { self.reader.problem(node.position, "what is never answered has no `after`") }
            habit?.after = self.reader.time(node, "after") ?? 0
        }
        if let node = fields["twice"] {
            self.reader.problem(node.position, "the custom callback answers by returning, and cannot do so twice")
        }
        return habit
    }
}
