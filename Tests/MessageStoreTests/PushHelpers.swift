import StoreModel
import TidingsModel

// One push job of a desk, and people with a phone each: `u0`, `u1`, ….

let desk = ConversationID(type: .pushService, target: "desk")
let jobID = MessageID(rawValue: 100)

func created(_ audience: PushAudience = .everybody, _ text: String = "Sale!", id: PushJobID = jobID)
    -> StoreCommand
{
    var template = message(0, from: "desk", to: "desk", type: .pushService, content: "{\"content\":\"\(text)\"}")
    template.pushText = "push of \(text)"
    template.push = PushOptions(title: .text("title of \(text)"), sound: "a.caf")
    return .createPush(
        PushJob(
            id: id, app: "shop", account: desk, body: .message(template), audience: audience,
            lifetimeMilliseconds: 60_000, ratePerSecond: 5, createdAt: 10))
}

func step(_ ids: ClosedRange<UInt64>, at: Int64 = 50, of id: PushJobID = jobID) -> StoreCommand {
    .stepPush("shop", id, ids: ids.map { MessageID(rawValue: $0) }, at: at)
}

func user(_ number: Int) -> UserKey { UserKey(app: "shop", user: UserID("u\(number)")) }

func signIn(_ count: Int) -> [StoreCommand] {
    (0..<count).map { .signIn(DeviceKey(user: user($0), device: "phone"), platform: "ios", at: 1) }
}
