import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import World

@Suite struct `The promise that another app on the server is not heard` {
    @Test func `finds its message on a phone of ours, though the person has the same name`() {
        var story = Story(PersonChecker())
        var message = story.message()
        message.app = World.otherTenant
        story.accept(message)
        story.emit(.extended(message.id, isQuiet: false, text: "hi", on: ann1))
        #expect(story.broken == ["P7"])
    }

    @Test func `finds that it is told of a message of ours as its own`() {
        var story = Story(PersonChecker())
        var theirs = story.message()
        theirs.app = World.otherTenant
        story.accept(theirs)
        story.emit(.otherTenantNotified(theirs.id))
        #expect(story.broken == [])
        story.emit(.otherTenantNotified(story.accepted().id))
        #expect(story.broken == ["P7"])
    }

    @Test func `takes its settings and its log for nobody's of ours`() {
        var story = Story(ConvergenceChecker())
        story.commit(.signIn(DeviceKey(user: theirs, device: ann1.device), platform: "ios", at: story.now))
        story.commit(.setBlocked(theirs, "bob", true, at: story.now))
        story.checkEnding()
        #expect(story.broken == [])
    }

    /// `app.ID.offered_accounts`. What else might cross is `The card of an account that is offered to other apps`.
    @Test func `has one exception, the card of an account that the server's operator offers`() throws {
        let store = MemoryStore()
        let epoch = store.open().epoch
        let news = UserKey(app: World.app, user: "news")
        let profile = Profile(name: "News", portrait: "https://a/n.png")
        let account = ServiceAccount(
            ConversationID(type: .publicService, target: "news"), owner: "ann", operators: ["bob"], audience: .followers
        )
        for command in [
            StoreCommand.putAccount(World.app, account),
            .setProfiles(World.app, [UserProfile("news", profile), UserProfile("ann", profile)], isOwn: false),
        ] {
            #expect(try store.apply(command, epoch: epoch) == .done)
        }
        let ids: [UserID] = ["ours/news", "ours/ann"]
        let none = ids.map { UserProfile($0, Profile()) }
        let asked = StoreCommand.readProfiles(World.otherTenant, ids)
        #expect(try store.apply(asked, epoch: epoch) == .profiles(none))
        let offered = StoreCommand.readProfiles(World.otherTenant, ids, offered: ["ours/news": news])
        #expect(offered.app == World.otherTenant)
        #expect(try store.apply(offered, epoch: epoch) == .profiles([UserProfile("ours/news", profile), none[1]]))
    }

    private let theirs = UserKey(app: World.otherTenant, user: "ann")
}
