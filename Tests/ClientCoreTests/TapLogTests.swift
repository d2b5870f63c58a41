import ClientCore
import Requirements
import Testing

@Suite struct `An action on a notification that started the app` {
    private func tap(
        _ origin: PersonResponse.Origin, request: String? = nil, at date: Int64? = nil, content: String = "m",
        action: String = MessageCategory.defaultAction
    ) -> TapLog.Identity {
        TapLog.Identity(request: request, deliveredAt: date, content: content, action: action, origin: origin)
    }

    /// The launch options have told of the notification "m".
    private var launched: TapLog {
        var taps = TapLog()
        _ = taps.insert(self.tap(.launchOptions))
        return taps
    }

    @Test(.requirement("S0.19", "S0.21")) func `finds its screen open, once for each launch`() {
        var taps = self.launched
        let reply = self.tap(.callback, request: "r", at: 77, action: MessageCategory.replyAction)
        let answers = (1...2).map { _ in taps.consumeLaunch(by: reply) }
        #expect(answers == [true, false])
        // The action itself is new, and its work is done.
        let isNew = taps.insert(reply)
        #expect(isNew)
    }

    @Test func `finds nothing open that another notification, another callback path or no launch has opened`() {
        let reply = MessageCategory.replyAction
        func takes(_ log: TapLog, _ identity: TapLog.Identity) -> Bool {
            var log = log
            return log.consumeLaunch(by: identity)
        }
        #expect(!takes(self.launched, self.tap(.callback, content: "n", action: reply)))
        #expect(!takes(self.launched, self.tap(.callback)))
        var running = TapLog()
        _ = running.insert(self.tap(.callback))
        #expect(!takes(running, self.tap(.callback, action: reply)))
        // The callback has told of the tap already: the launch is not an action's any more.
        var echoed = self.launched
        _ = echoed.insert(self.tap(.callback))
        #expect(!takes(echoed, self.tap(.callback, action: reply)))
    }
}

@Suite struct `A launch that is over` {
    private func tap(_ origin: PersonResponse.Origin, request: String? = nil, at date: Int64? = nil) -> TapLog.Identity
    {
        TapLog.Identity(
            request: request, deliveredAt: date, content: "m", action: MessageCategory.defaultAction, origin: origin)
    }

    @Test(.requirement("S1.10", "S1.11"), arguments: [false, true])
    func `makes a tap by an old callback path a new one, for its echo has come by then or never will`(isOver: Bool) {
        var taps = TapLog()
        _ = taps.insert(self.tap(.launchOptions))
        if isOver { taps.launchEnded() }
        let isNew = taps.insert(self.tap(.callback))
        #expect(isNew == isOver)
    }

    @Test func `leaves the callback that tells of the delivery an echo, which may come late`() {
        var taps = TapLog()
        _ = taps.insert(self.tap(.launchOptions))
        taps.launchEnded()
        let isNew = taps.insert(self.tap(.callback, request: "r", at: 77))
        #expect(!isNew)
    }
}

@Suite struct `A log of taps` {
    @Test func `forgets the oldest, and takes its echo for a tap`() {
        func tap(_ number: Int, _ origin: PersonResponse.Origin) -> TapLog.Identity {
            TapLog.Identity(
                request: nil, deliveredAt: nil, content: "m\(number)", action: MessageCategory.defaultAction,
                origin: origin)
        }
        var taps = TapLog()
        for number in 0...TapLog.capacity { _ = taps.insert(tap(number, .launchOptions)) }
        let isNew = [1, 0].map { taps.insert(tap($0, .callback)) }
        #expect(isNew == [false, true])
    }
}
