import PhoneCore
import TidingsModel

/// Somebody's day: breaks, the time between them, when they look at the phone seldom, and eight hours of sleep. A world begins at
/// noon, in a break; the first night comes after nine hours.
struct Night: Hashable {
    /// How long after the beginning of a day they lay the phone away, in milliseconds.
    let fallsAsleep: Int64

    static let length: Int64 = 28_800_000
    static let day: Int64 = 86_400_000

    /// How long they sleep on, in milliseconds; nil while they are awake.
    ///
    /// - Parameter time: milliseconds since the world began.
    func rest(at time: Int64) -> Int64? {
        let asleep = time % Self.day - self.fallsAsleep
        return (0..<Self.length).contains(asleep) ? Self.length - asleep : nil
    }

    /// When people have a break, in minutes of the day: from noon to one, from half past six to half past seven in the evening, and from
    /// eight to half past eight in the morning.
    private static let breaks: [Range<Int64>] = [0..<60, 390..<450, 1_200..<1_230]

    /// After how long a phone that nobody touches locks itself, in milliseconds: one of the choices iOS has.
    static let lockTime: Int64 = 60_000

    /// How many times as long as in a break somebody waits until they do something again.
    static func slowness(at time: Int64) -> Int64 {
        let minute = time % Self.day / 60_000
        return Self.breaks.contains { $0.contains(minute) } ? 1 : 30
    }
}

// What a day looks like: without work and nights, and with everybody writing to everybody, a world of a hundred phones would be many
// times as loud as a hundred people are.
extension World {
    /// How many people write to a group about as often as to one another.
    static let chattyPeople = 16

    /// How many of a thousand messages go to a group. A message to everybody costs everybody: in a larger world people write there
    /// less often, so that nobody hears more from groups than among sixteen. What one person writes stays the same.
    static func groupShare(of people: Int) -> Int64 { Int64(450 * Self.chattyPeople / max(Self.chattyPeople, people)) }

    /// The phone lies on the night table.
    mutating func goToSleep(_ index: Int) {
        guard self.happens() else { return }
        self.note("person on phone \(index) sleeps")
        self.see(.reached(.nights))
        self.handle(PhoneEvent.person(.locked), on: index)
    }
}
