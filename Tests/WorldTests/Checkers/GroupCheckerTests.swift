import ClientCore
import StoreModel
import Testing
import TidingsModel

@testable import World

extension Story {
    fileprivate mutating func operation(_ action: ConversationAction, by actor: UserID?) -> ConversationOperation {
        ConversationOperation(app: World.app, conversation: team, action: action, actor: actor, at: self.now)
    }

    /// Carried out by the store's rules.
    fileprivate mutating func change(_ action: ConversationAction, by actor: UserID?) {
        self.commit(.change(self.operation(action, by: actor)))
    }

    /// As a store would that does not keep to the rules.
    fileprivate mutating func make(_ action: ConversationAction, by actor: UserID?, told: [UserID] = []) {
        let change = ConversationChange(
            conversation: team, version: 9, action: action, by: actor, at: self.now)
        let deliveries = told.map { Delivery(user: $0, position: 9, unread: 0) }
        self.emit(.committed(.change(self.operation(action, by: actor)), .changed([MadeChange(change, deliveries)])))
    }

    fileprivate mutating func allow(_ consent: AddingConsent) {
        let settings = PersonSettings(mayBeAddedBy: consent)
        self.commit(.setPersonSettings(ann1.user, settings, at: self.now))
    }
}

private let bobAlone = ConversationRecord(
    app: World.app, conversation: team, name: "Team", portrait: nil, members: [Member("bob", role: .owner)])

@Suite struct `The promise that who is muted is not heard` {
    @Test func `finds a message and an edit that came through`() {
        var story = Story(GroupChecker())
        story.commit(.putConversation(teamRecord))
        let before = story.accepted(to: team)
        story.change(.mute(["bob"], until: story.now + 1_000), by: nil)
        let message = story.message(to: team)
        story.emit(.committed(.accept(message: message, senderDevice: "bob-1"), .accepted(deliveries: [])))
        let asked = EditOperation(
            app: World.app, message: before.id, actor: "bob", content: "{}", window: 9_000, at: story.now)
        let edit = Edit(message: before.id, conversation: team, content: "{}", at: story.now)
        story.emit(.committed(.edit(asked), .noted(.edit(edit), deliveries: [])))
        #expect(story.broken == ["mute", "mute"])
    }

    @Test func `finds a message of a member where only owner and admins write`() {
        var story = Story(GroupChecker())
        story.commit(.putConversation(teamRecord))
        story.change(.setOnlyAdminsWrite(true), by: nil)
        let message = story.message(to: team)
        story.emit(.committed(.accept(message: message, senderDevice: "bob-1"), .accepted(deliveries: [])))
        #expect(story.broken == ["mute"])
    }

    @Test func `lets pass what comes when the time is over, and what an owner says`() {
        var story = Story(GroupChecker())
        story.commit(.putConversation(bobAlone))
        story.change(.mute(["bob"], until: story.now + 1_000), by: nil)
        story.wait(1_000)
        _ = story.accepted(to: team)
        story.change(.mute(["bob"], until: nil), by: nil)
        story.change(.unmute(["bob"]), by: nil)
        story.change(.setOnlyAdminsWrite(true), by: "bob")
        _ = story.accepted(to: team)
        story.checkEnding()
        #expect(story.broken == [])
    }
}

@Suite struct `The promise that nobody is added who would be asked` {
    @Test func `finds somebody who was made a member all the same`() {
        var story = Story(GroupChecker())
        story.commit(.putConversation(bobAlone))
        story.allow(.nobody)
        story.make(.add(["ann"]), by: "bob")
        story.allow(.contacts)
        story.make(.create(name: "Team", portrait: nil, members: ["ann"]), by: "bob")
        #expect(story.broken == ["consent", "consent"])
    }

    @Test func `finds what an invited person gets beside the invitation`() {
        var story = Story(GroupChecker())
        story.commit(.putConversation(bobAlone))
        story.allow(.nobody)
        story.change(.add(["ann"]), by: "bob")
        let message = story.message(to: team)
        let deliveries = [Delivery(user: "ann", position: 2, unread: 1), Delivery(user: "bob", position: 1, unread: 0)]
        story.emit(.committed(.accept(message: message, senderDevice: "bob-1"), .accepted(deliveries: deliveries)))
        story.make(.rename("Crew"), by: "bob", told: ["ann", "bob"])
        #expect(story.broken == ["consent", "consent"])
    }

    @Test func `finds what the log on their phone has of the group, and who else is invited`() {
        var story = Story(GroupChecker())
        func entry(_ position: LogPosition, _ action: ConversationAction) -> LogEntry {
            LogEntry(
                position: position,
                body: .change(
                    ConversationChange(conversation: team, version: position, action: action, by: "bob", at: 1)))
        }
        var disk = story.disk(of: ann1)
        let entries = [
            entry(1, .invite(["ann", "cat"], name: "Team", portrait: nil)), entry(2, .rename("Crew")),
            LogEntry(position: 3, body: .message(story.message(to: team))),
            entry(4, .withdraw(["ann"])), entry(5, .rename("Team")),
        ]
        _ = disk.carryOut(.write(entries, for: "ann"))
        story.checkEnding([ann1: disk])
        #expect(story.broken == ["consent", "consent", "consent"])
    }

    @Test func `lets pass who lets them, the backend, and whoever accepts`() {
        var story = Story(GroupChecker())
        story.commit(.putConversation(bobAlone))
        story.change(.add(["ann"]), by: "bob")
        story.change(.remove(["ann"]), by: "bob")
        story.allow(.contacts)
        story.change(.add(["ann"]), by: "bob")
        story.change(.join, by: "ann")
        _ = story.accepted(to: team)
        story.change(.leave, by: "ann")
        story.commit(
            .accept(
                message: story.message(from: "ann", to: ConversationID(type: .direct, target: "bob")),
                senderDevice: "ann-1"))
        story.change(.add(["ann"]), by: "bob")
        story.change(.remove(["ann"]), by: "bob")
        story.allow(.nobody)
        story.change(.add(["ann"]), by: nil)
        story.checkEnding()
        #expect(story.broken == [])
    }
}
