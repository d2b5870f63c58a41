import ClientCore
import Requirements
import Testing
import TidingsModel

@Suite struct `A device's push registration` {
    private let first = PushRegistration(token: "ab01", environment: .production, topic: "com.example.chat")
    private let second = PushRegistration(token: "cd02", environment: .production, topic: "com.example.chat")

    @Test(.requirement("S2.7")) func `reports a token that comes while it is connected, and each one once`() {
        var core = ClientCore.online()
        #expect(core.handle(.pushRegistrationSet(self.first), at: at(1)) == [.sendFrame(1, .registerPush(self.first))])
        #expect(core.handle(.pushRegistrationSet(self.first), at: at(2)) == [])
        #expect(
            core.handle(.pushRegistrationSet(self.second), at: at(3)) == [.sendFrame(1, .registerPush(self.second))])
    }

    @Test(.requirement("S2.7")) func `is not reported before the connection has succeeded, and then the last one is`() {
        var core = ClientCore.fresh()
        _ = core.handle(.connectWished, at: at(0))
        _ = core.handle(.tokenProvided("token"), at: at(0))
        #expect(core.handle(.pushRegistrationSet(self.first), at: at(0)) == [])
        #expect(core.handle(.connectionOpened(1), at: at(1)) == [.sendFrame(1, hello())])
        #expect(core.handle(.pushRegistrationSet(self.second), at: at(1)) == [])
        let effects = core.handle(.frameReceived(1, welcome()), at: at(2))
        #expect(effects.contains(.sendFrame(1, .registerPush(self.second))))
        #expect(!effects.contains(.sendFrame(1, .registerPush(self.first))))
    }

    @Test func `is taken back with the next connection when the app wants no pushes any more`() {
        var core = ClientCore.fresh()
        #expect(core.handle(.pushRegistrationSet(nil), at: at(0)) == [])
        _ = core.handle(.connectWished, at: at(0))
        _ = core.handle(.tokenProvided("token"), at: at(0))
        _ = core.handle(.connectionOpened(1), at: at(0))
        #expect(core.handle(.frameReceived(1, welcome()), at: at(1)).contains(.sendFrame(1, .registerPush(nil))))
    }

    @Test func `is the server's to forget when the person signs out`() {
        var core = ClientCore.online()
        #expect(core.handle(.signOutWished, at: at(1)).contains(.sendFrame(1, .signOut)))
    }
}
