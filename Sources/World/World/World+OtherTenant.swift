import ClientCore
import OrderedCollections
import ServerCore
import StoreModel
import TidingsModel

// Another app on the same server: its people, groups, devices and messages have the names of ours. No checker is told of it, so that
// whatever of it shows on a phone of ours breaks a promise (design.md P7).
extension World {
    static let otherTenant = AppID("other tenant")

    mutating func otherTenantActs() {
        guard !self.hasHealed else { return }
        self.beginDraw(of: .otherTenant)
        self.plan(.otherTenantActs, after: self.chance.number(20_000...120_000))
        guard self.server != nil, self.happens(), let person = self.drawn(self.people),
            let conversation = self.drawn(self.groups)
        else { return }
        let message = self.drawn(self.phones)?.disk.store.rows.messages.elements.last?.key ?? MessageID(rawValue: 1)
        switch self.chance.number(0...9) {
        case 0...2: self.sendAsOtherTenant(from: person, to: conversation)
        case 3:
            self.createGroupOfOtherTenant(conversation)
            let names = self.people.map { UserProfile($0, Profile(name: "the other tenant's \($0)")) }
            self.callAsOtherTenant(.setProfiles(Self.otherTenant, names))
        // It recalls, deletes and edits messages of ours: it has to be told that there is no such message.
        case 4: self.requestOfOtherTenant(nil, .recall(message))
        case 5: self.requestOfOtherTenant(nil, .edit(message, content: #"{"content":"not theirs"}"#))
        case 6: self.requestOfOtherTenant(person, .delete(Deletion(conversation: conversation, messages: [message])))
        case 7:
            let mute = ConversationSettings(level: .blocked)
            self.requestOfOtherTenant(person, .setConversationSettings(conversation, mute))
        case 8: self.requestOfOtherTenant(nil, .change(conversation, .remove([person])))
        default:
            let device = self.drawn(self.phones)?.device ?? DeviceID("phone-0")
            let user = UserKey(app: Self.otherTenant, user: person)
            self.appendTrace("the other tenant signs \(person) out of \(device)")
            self.callAsOtherTenant(.signOut(DeviceKey(user: user, device: device)))
        }
    }

    /// Sends under the number of the last message a person of ours has written.
    private mutating func sendAsOtherTenant(from person: UserID, to group: ConversationID) {
        let other = self.drawn(self.people) ?? person
        let conversation =
            self.chance.chance(perMille: 500) ? group : ConversationID(type: .direct, target: other.rawValue)
        let phone = self.phones.first { $0.person == person }
        let name = phone?.drafts.keys.last ?? ClientMessageID("n\(self.time)")
        self.appendTrace("the other tenant sends \(name) to \(conversation) as \(person)")
        self.callAsOtherTenant(
            .send(
                UserKey(app: Self.otherTenant, user: person),
                Self.draft(name.rawValue, to: conversation, saying: "the other tenant's")))
    }

    private mutating func createGroupOfOtherTenant(_ conversation: ConversationID) {
        self.appendTrace("the other tenant makes \(conversation)")
        self.callAsOtherTenant(
            .putConversation(
                ConversationRecord(
                    app: Self.otherTenant, conversation: conversation, name: "the other tenant's", portrait: nil,
                    members: self.people.map { Member($0) })))
    }

    mutating func requestOfOtherTenant(_ actor: UserID?, _ request: ClientRequest) {
        self.appendTrace("the other tenant asks", more: "\(request)")
        self.callAsOtherTenant(.request(Self.otherTenant, actor: actor, request))
    }

    mutating func callAsOtherTenant(_ command: APICommand) {
        self.emit(.reached(.otherTenants))
        self.lastAPIRequest += 1
        self.otherTenants.insert(APIRequestID(self.lastAPIRequest))
        self.callAPI(command, as: APIRequestID(self.lastAPIRequest))
    }
}
