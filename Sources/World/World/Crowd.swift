import ServerCore
import StoreModel
import TidingsModel

/// How many people there are, how many phones each has, and which groups the app's backend makes of them.
package struct Crowd: Hashable, Sendable {
    package struct Group: Hashable, Sendable {
        var type: ConversationType
        var name: String
        /// Per mille of the people; two at least.
        var share: Int64
    }

    var furtherPhones: Int64 = 400
    var phonesMax = 2
    /// People without a phone, who are written to all the same, and who may sign in on another's phone later.
    var phoneless = 0
    var groups = [
        Group(type: .group, name: "team", share: 1_000), Group(type: .discussion, name: "talk", share: 1_000),
    ]

    init() {}

    /// Who owns a phone depends on the phones before it alone, so that leaving out the last phones of a run changes
    /// nothing of the others' owners.
    static func drawn(_ chance: inout SplitMix64) -> Crowd {
        var crowd = Crowd()
        crowd.furtherPhones = chance.number(0...800)
        crowd.phonesMax = Int(chance.number(1...5))
        crowd.phoneless = Int(max(0, chance.number(-2...3)))
        crowd.groups = (0..<chance.number(0...4)).map { number in
            Group(
                type: chance.chance(perMille: 600) ? .group : .discussion, name: "group-\(number)",
                share: chance.chance(perMille: 300) ? 1_000 : chance.number(100...900))
        }
        return crowd
    }
}

extension World {
    /// The next person's, and sometimes one's who has a phone already. There are two people at least.
    mutating func owner(of index: Int) -> UserID {
        let crowd = self.options.population.crowd
        let candidates = self.people.filter { person in
            self.phones.count { $0.person == person } < crowd.phonesMax
        }
        if self.people.count >= 2, self.chance.chance(perMille: crowd.furtherPhones),
            let person = self.drawn(candidates)
        {
            let isThird = self.phones.count { $0.person == person } == 2
            self.emit(.reached(isThird ? .thirdPhones : .secondPhones))
            return person
        }
        let person = UserID("p\(self.people.count)")
        self.people.append(person)
        return person
    }

    mutating func beginGroups() {
        self.beginNames()
        for (number, group) in self.options.population.crowd.groups.enumerated() {
            // Draw 0 is who owns which phone.
            var chance = SplitMix64(seed: self.options.seed, stream: .setup, draw: 1 + number)
            var names = self.people.filter { _ in chance.chance(perMille: group.share) }
            if names.count < 2 { names = Array(self.people.prefix(2)) }
            if names.count < self.people.count { self.emit(.reached(.smallGroups)) }
            let conversation = ConversationID(type: group.type, target: group.name)
            self.groups.append(conversation)
            var members = names.map { Member($0) }
            if group.type == .group { members[0].role = .owner }
            self.callAPI(
                .putConversation(
                    ConversationRecord(
                        app: Self.app, conversation: conversation, name: Self.name(of: conversation), portrait: nil,
                        members: members)))
        }
        self.setConsent()
        self.beginAccounts()
        self.beginPushes()
    }

    /// Some people let nobody add them, some those they have written to.
    private mutating func setConsent() {
        // Behind the draws of the groups.
        var chance = SplitMix64(seed: self.options.seed, stream: .setup, draw: 100)
        for person in self.people where chance.chance(perMille: 500) {
            let consent: AddingConsent = chance.chance(perMille: 700) ? .nobody : .contacts
            self.callAPI(
                .request(Self.app, actor: person, .setPersonSettings(PersonSettings(mayBeAddedBy: consent))))
        }
    }
}
