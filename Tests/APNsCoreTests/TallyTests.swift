import APNsModel
import Testing
import TidingsModel

@testable import APNsCore

@Suite struct `A tally of accepted pushes` {
    private static let other = PushToken(String(repeating: "cd", count: 32))

    /// With two devices, whose tally has begun.
    private func counting() -> Apple {
        var apple = Apple()
        for (phone, token) in [("one", Apple.token), ("two", Self.other)] {
            let target = DeviceTopic(phone: PhoneID(phone), topic: "com.example.chat", environment: .sandbox)
            _ = apple.handle(.deviceRegistered(target, drawn: token))
        }
        _ = apple.handle(.tallyChanged(isOn: true))
        return apple
    }

    private static func request(_ token: PushToken, id: Int, collapse: String? = nil) -> WireRequest {
        let uuid = Hexadecimal.uuid(high: 0x4000, low: 0x8000_0000_0000_0000 + UInt64(id))
        return Apple.request(
            token: token.rawValue,
            extra: [("apns-id", uuid)] + (collapse.map { [("apns-collapse-id", $0)] } ?? []))
    }

    private func counts(_ apple: Apple) -> [Int] {
        guard let tally = apple.service.tally else { return [] }
        return [tally.pushes, tally.devices, tally.once, tally.repeated, tally.repeats, tally.several, tally.names]
    }

    @Test func `counts a device once however often it gets the same push`() {
        var apple = self.counting()
        #expect(self.counts(apple) == [0, 0, 0, 0, 0, 0, 0])
        _ = apple.send(Self.request(Apple.token, id: 1))
        _ = apple.send(Self.request(Self.other, id: 2))
        #expect(self.counts(apple) == [2, 2, 2, 0, 0, 0, 2])
        _ = apple.send(Self.request(Apple.token, id: 1))
        _ = apple.send(Self.request(Apple.token, id: 1))
        #expect(self.counts(apple) == [4, 2, 1, 1, 2, 0, 2])
    }

    @Test func `tells a second push from a repeat, by its id as by its collapse id`() {
        var apple = self.counting()
        _ = apple.send(Self.request(Apple.token, id: 1, collapse: "a"))
        _ = apple.send(Self.request(Apple.token, id: 3, collapse: "a"))
        _ = apple.send(Self.request(Self.other, id: 2, collapse: "a"))
        #expect(self.counts(apple) == [3, 2, 1, 0, 0, 1, 3])
        _ = apple.send(Self.request(Self.other, id: 2, collapse: "b"))
        #expect(self.counts(apple) == [4, 2, 0, 0, 0, 2, 4])
        // One that repeats the first is a repeat yet.
        _ = apple.send(Self.request(Self.other, id: 2, collapse: "a"))
        #expect(self.counts(apple) == [5, 2, 0, 0, 1, 2, 4])
    }

    @Test func `counts a repeat that is followed by another push as several`() {
        var apple = self.counting()
        for id in [1, 1, 2, 2] { _ = apple.send(Self.request(Apple.token, id: id)) }
        #expect(self.counts(apple) == [4, 1, 0, 0, 1, 1, 2])
    }

    @Test func `sees two devices that get one id`() {
        var apple = self.counting()
        for token in [Apple.token, Self.other] { _ = apple.send(Self.request(token, id: 1)) }
        #expect(self.counts(apple) == [2, 2, 2, 0, 0, 0, 1])
    }

    @Test func `counts nothing that was refused, and begins afresh when it is asked to`() {
        var apple = self.counting()
        _ = apple.send(Self.request(PushToken(String(repeating: "ef", count: 32)), id: 1))
        #expect(self.counts(apple) == [0, 0, 0, 0, 0, 0, 0])
        _ = apple.send(Self.request(Apple.token, id: 1))
        _ = apple.handle(.tallyChanged(isOn: true))
        #expect(self.counts(apple) == [0, 0, 0, 0, 0, 0, 0])
        _ = apple.handle(.tallyChanged(isOn: false))
        _ = apple.send(Self.request(Apple.token, id: 2))
        #expect(apple.service.tally == nil)
    }
}

@Suite struct `A phone that does not connect` {
    private static let target = DeviceTopic(phone: "phone", topic: "com.example.chat", environment: .sandbox)

    @Test func `has one token for an app, which is good at once and kept`() {
        var apple = Apple()
        let effects = apple.handle(.deviceRegistered(Self.target, drawn: Apple.token))
        let device = RegisteredDevice(token: Apple.token, target: Self.target, since: apple.wall)
        #expect(effects == [.save(device.record)])
        #expect(apple.handle(.deviceRegistered(Self.target, drawn: "cd")) == [])
        #expect(apple.service.token(of: Self.target) == Apple.token)
        #expect(apple.answer()?.status == 200)
    }

    @Test func `has the token it got when it was connected`() {
        var apple = Apple.connected()
        #expect(apple.handle(.deviceRegistered(Self.target, drawn: "cd")) == [])
        #expect(apple.service.token(of: Self.target) == Apple.token)
        // It stays connected.
        #expect(apple.send().pushed == ["1:id-1"])
    }

    @Test func `gets none that stands for another phone`() {
        var apple = Apple.connected()
        let other = DeviceTopic(phone: "other", topic: "com.example.chat", environment: .sandbox)
        #expect(apple.handle(.deviceRegistered(other, drawn: Apple.token)) == [])
        #expect(apple.service.token(of: other) == nil)
    }
}
