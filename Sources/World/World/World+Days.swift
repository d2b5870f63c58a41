/// A person's day: breaks, the time between them, when they look at the phone seldom, and eight hours of sleep. A World begins at noon, in
/// a break; the first night comes after nine hours.
struct Night: Hashable {
    /// In milliseconds after the beginning of a day.
    let fallsAsleep: Int64

    static let length: Int64 = 28_800_000
    static let day: Int64 = 86_400_000

    /// How long they sleep on, in milliseconds; nil while they are awake. The time is that since the World began.
    func rest(at time: Int64) -> Int64? {
        let asleep = time % Self.day - self.fallsAsleep
        return (0..<Self.length).contains(asleep) ? Self.length - asleep : nil
    }

    /// In minutes of the day, which begins at noon.
    private static let breaks: [Range<Int64>] = [0..<60, 390..<450, 1_200..<1_230]

    /// After how long a phone that nobody touches locks itself, in milliseconds: one of the choices iOS has.
    static let lockTime: Int64 = 60_000

    /// Returns how many times as long as in a break a person waits until their next act.
    static func slowness(at time: Int64) -> Int64 {
        let minute = time % Self.day / 60_000
        return Self.breaks.contains { $0.contains(minute) } ? 1 : 30
    }
}

// Without work and nights, and with everybody writing to everybody, a World of a hundred phones would write far more than a hundred people.
extension World {
    /// How many people write to a group about as often as to one another.
    static let chattyPeople = 16

    /// Per mille of the messages. A message to everybody costs everybody: in a larger World people write to groups
    /// less often, so that nobody gets more from groups than among sixteen. What one person writes stays the same.
    static func groupShare(of people: Int) -> Int64 { Int64(450 * Self.chattyPeople / max(Self.chattyPeople, people)) }
}
