import Foundation
package import TidingsModel
package import UIKit

/// Names and portraits of people and groups for screens: from the app's providers, then the groups' records, then the server. Answers of
/// providers and server are kept as long as one person is signed in; the records are read anew when they change.
@MainActor package final class PeopleNames {
    private struct Member: Hashable {
        var user: UserID
        var group: ConversationID
    }
    private struct Answer {
        /// Empty where nobody says one.
        var name = ""
        var portrait: UIImage?
        var generation: Int
    }
    private struct Record {
        var name: String
        var nicknames: [UserID: String]
    }

    /// The number of people that the server is asked about at once.
    private static let questionMax = 100
    /// The number of people that the app is asked about before its answers are shown.
    private static let askedAtOnce = 20

    private let kit: NotificationIntegration
    private var person: UserID?
    /// Answers of earlier ones are shown until there are new ones.
    private var generation = 0
    private var people: [UserID: Answer] = [:]
    private var members: [Member: Answer] = [:]
    private var groups: [ConversationID: Answer] = [:]
    private var records: [ConversationID: Record] = [:]
    private let forgettings = ValueBroadcast<Void>()

    package init(kit: NotificationIntegration) { self.kit = kit }

    /// Nothing of a person who has left is known to the next one. Returns whether there is another one.
    package func checkPerson() -> Bool {
        guard self.kit.client.userID != self.person else { return false }
        self.person = self.kit.client.userID
        self.people = [:]
        self.members = [:]
        self.groups = [:]
        self.records = [:]
        return true
    }

    // MARK: What is known

    /// Returns a person's name; nil if nobody was asked about them.
    package func name(of user: UserID, in group: ConversationID?) -> String? {
        if let group {
            let given = self.members[Member(user: user, group: group)]
            if given == nil, self.kit.groupMemberInfoProvider != nil { return nil }
            if let given, !given.name.isEmpty { return given.name }
            if let nickname = self.records[group]?.nicknames[user] { return nickname }
        }
        return self.people[user].map { $0.name.isEmpty ? user.rawValue : $0.name }
    }

    package func title(of group: ConversationID) -> String? {
        [self.groups[group]?.name, self.records[group]?.name].compactMap(\.self).first { !$0.isEmpty }
    }

    package func portrait(of user: UserID) -> UIImage? { self.people[user]?.portrait }
    package func portrait(of group: ConversationID) -> UIImage? { self.groups[group]?.portrait }

    // MARK: Learning

    /// Has everybody asked about again.
    package func forget() {
        self.generation += 1
        self.forgettings.send(())
    }

    /// An element each time that everybody is to be asked about again.
    package func whenForgotten() -> AsyncStream<Void> { self.forgettings.stream() }

    /// Asks about those of whom nothing is known.
    ///
    /// - Parameter show: called as often as some more are known.
    package func learn(_ users: [UserID], in group: ConversationID?, show: () -> Void = {}) async {
        if let group, self.records[group] == nil { self.readRecord(of: group) }
        let unknown = users.filter { !self.isLearned($0, in: group) }
        let hasProvider = self.kit.userInfoProvider != nil || self.kit.groupMemberInfoProvider != nil
        let size = hasProvider ? Self.askedAtOnce : Self.questionMax
        for start in stride(from: 0, to: unknown.count, by: size) {
            let person = self.person
            await self.askProviders(about: unknown[start..<min(start + size, unknown.count)], in: group)
            guard person == self.person else { return }
            show()
        }
    }

    package func learnTitle(of group: ConversationID) async {
        let (person, generation) = (self.person, self.generation)
        if self.groups[group]?.generation != generation {
            let given = await self.kit.groupInfoProvider?.groupInfo(for: group)
            guard self.isStill(person) else { return }
            let portrait = given?.portrait.flatMap { Self.portrait(of: $0) }
            self.groups[group] = Answer(name: given?.name ?? "", portrait: portrait, generation: generation)
        }
        if self.groups[group]?.name.isEmpty == true { self.readRecord(of: group) }
    }

    private func isLearned(_ user: UserID, in group: ConversationID?) -> Bool {
        guard self.people[user]?.generation == self.generation else { return false }
        return group.map { self.members[Member(user: user, group: $0)]?.generation == self.generation } ?? true
    }

    private func askProviders(about users: ArraySlice<UserID>, in group: ConversationID?) async {
        let (person, generation) = (self.person, self.generation)
        var answers: [UserID: Answer] = [:]
        var inGroup: [Member: Answer] = [:]
        for user in users {
            let given = await self.kit.userInfoProvider?.userInfo(for: user)
            let portrait = given?.portrait.flatMap { Self.portrait(of: $0) }
            answers[user] = Answer(name: given?.name ?? "", portrait: portrait, generation: generation)
            guard let group else { continue }
            let name = await self.kit.groupMemberInfoProvider?.memberName(of: user, in: group)
            inGroup[Member(user: user, group: group)] = Answer(name: name ?? "", generation: generation)
        }
        let nameless = users.filter { answers[$0]?.name.isEmpty == true }
        if self.kit.client.usesServerNames, !nameless.isEmpty {
            do {
                for profile in try await self.kit.client.profiles(of: Array(nameless)) {
                    answers[profile.id]?.name = profile.profile.name ?? ""
                }
            } catch {
                // They are asked about again when a screen shows them again.
                for user in nameless { answers[user] = nil }
            }
        }
        // Another person may have signed in meanwhile.
        guard self.isStill(person) else { return }
        self.people.merge(answers) { $1 }
        self.members.merge(inGroup) { $1 }
    }

    private static func portrait(of data: Data) -> UIImage? {
        SmallImages.image(of: data, pixels: SmallImages.pixels.portrait)
    }

    private func isStill(_ person: UserID?) -> Bool { self.person == person && self.kit.client.userID == person }

    // MARK: Records of groups

    /// Reads a group's record anew if the log's entry may have changed it.
    package func apply(_ entry: LogEntry) {
        guard case .change(let change) = entry.body, self.records[change.conversation] != nil else { return }
        self.readRecord(of: change.conversation)
    }

    /// After a gap in the log's stream.
    package func readRecords() {
        for group in self.records.keys.sorted(by: { $0.target < $1.target }) { self.readRecord(of: group) }
    }

    package func record(_ info: ConversationInfo) {
        var nicknames: [UserID: String] = [:]
        for member in info.members { nicknames[member.id] = member.nickname }
        self.records[info.id] = Record(name: info.name, nicknames: nicknames)
    }

    private func readRecord(of group: ConversationID) {
        guard let info = (try? self.kit.client.storedConversationInfo(group)) ?? nil else { return }
        self.record(info)
    }
}
