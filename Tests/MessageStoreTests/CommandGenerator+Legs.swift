import StoreMachine
import StoreModel
import TidingsModel

/// One of each kind, with and without what may be missing.
let everyStep = LegSteps([
    .turned(.deadlineMissed, at: 3), .waited(.quietHours, until: 1_000_000, at: 5),
    .waited(.throttled, until: nil, at: 4),
    .pushed(LegPush(attempt: 0, topic: "com.example.chat", environment: .sandbox, expiration: 2_419_200), at: 9),
    .answered(.refused, status: 503, reason: "ServiceUnavailable", at: 20),
    .pushed(
        LegPush(
            carrier: MessageID(rawValue: 77), attempt: 1, topic: "com.example.chat", environment: .production,
            expiration: 0), at: 30), .answered(.unknown, status: 0, reason: "", at: 31), .read(on: "pad", at: 40),
    .read(on: nil, at: 41), .judged,
])

extension CommandGenerator {
    /// Drawn from what is there, so that the other commands stay as they were.
    func steps() -> LegSteps {
        let kinds = everyStep.all
        guard self.clock % 3 > 0 else { return LegSteps() }
        return LegSteps(kinds.prefix(1 + Int(self.clock) % kinds.count))
    }

    func legQuestion(_ app: AppID, _ id: MessageID) -> LegQuestion {
        let draw = UInt64(bitPattern: self.clock) / 2 &+ id.rawValue
        var question = LegQuestion(app: app, looksMax: [1, 2, 5, 500][Int(draw % 4)])
        if draw % 3 > 0 { question.user = ["ada", "bo", "cy"][Int(draw / 3 % 3)] }
        if draw % 5 == 0 { question.oldest = id }
        if draw % 7 == 0 { question.newest = id }
        if draw % 4 == 1 { question.before = question.user == nil ? id.rawValue : 1 + draw % 12 }
        return question
    }
}
