import PhoneCore
import Testing
import TidingsModel

@testable import ClientCore
@testable import World

@Suite struct `The promise that background time is given back` {
    @Test(arguments: EndReason.allCases)
    func `finds an app that is killed for what the SDK has kept, and no other`(reason: EndReason) {
        var story = Story(BackgroundTimeChecker())
        story.emit(.appKilled(reason, on: ann1))
        let isKept: Set<EndReason> = [
            .backgroundTaskNotEnded, .fetchHandlerNotCalled, .performFetchHandlerNotCalled, .refreshTaskNotCompleted,
            .completionHandlerCalledTwice,
        ]
        #expect(story.broken == (isKept.contains(reason) ? ["background time"] : []))
    }

    /// What is found where one phone holds a task.
    private func broken(isQuiet: Bool, _ change: (inout WorldLoad.Phone) -> Void) -> [String] {
        var story = Story(BackgroundTimeChecker())
        var phone = WorldLoad.Phone(key: ann1)
        phone.holdsTask = true
        change(&phone)
        story.emit(.measured(WorldLoad(isQuiet: isQuiet, phones: [phone])))
        return story.broken
    }

    @Test func `finds a task that is held for nobody, or when all is quiet`() {
        let client = ClientCore(
            settings: ClientCore.Settings(app: World.app, person: "ann", device: "ann-1", platform: "ios"),
            restored: ClientCore.Restored(), isForeground: true, seed: 1
        ).load
        #expect(self.broken(isQuiet: false) { _ in } == ["background time"])
        #expect(self.broken(isQuiet: false) { $0.client = client } == [])
        #expect(self.broken(isQuiet: true) { $0.client = client } == ["background time"])
        // A silent push has just woken it.
        #expect(self.broken(isQuiet: true) { ($0.client, $0.isWoken) = (client, true) } == [])
        #expect(self.broken(isQuiet: true) { ($0.client, $0.holdsTask) = (client, false) } == [])
    }
}
