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

extension StoreCommand {
    var app: AppID {
        switch self {
        case .accept(let message, _, _, _, _, _): message.app
        case .putConversation(let record): record.app
        case .change(let operation): operation.app
        case .recall(let operation): operation.app
        case .edit(let operation): operation.app
        case .acceptCustom(let operation): operation.app
        case .delete(let user, _, _), .setConversationSettings(let user, _, _, _),
            .setConversationState(let user, _, _, _), .endLevel(let user, _, _),
            .setPersonSettings(let user, _, _), .setBlocked(let user, _, _, _), .markRead(let user, _, _, _),
            .changeAccount(let user, _, _), .readAccount(let user), .loadUser(let user), .readLog(let user, _, _, _),
            .readHistory(let user, _, _, _, _), .readSettings(let user), .readUnread(let user, _),
            .readConversationList(let user, _, _),
            .mayWrite(let user, _, _), .setFollowing(let user, _, _), .readFollowing(let user),
            .compareLog(let user, _), .readMedia(let user, _, _, _), .readPushRecipient(let user, _),
            .setLabels(let user, _), .readLabels(let user):
            user.app
        case .signIn(let device, _, _, _), .signOut(let device, _), .setPushState(let device, _, _),
            .setVoIPToken(let device, _, _), .setDeviceStatus(let device, _), .advance(let device, _, _):
            device.user.app
        case .keepLeg(let open): open.leg.user.app
        case .endLeg(let ended): ended.leg.user.app
        case .receipt(let leg, _, _): leg.user.app
        case .trace(let app, _), .readConversation(let app, _, _, _), .readReceipts(let app, _, _),
            .setObjectNames(let app, _), .readObjectNames(let app), .readRestrictions(_, let app, _, _, _),
            .setAccount(let app, _, _), .putAccount(let app, _), .readAccounts(let app, _, _, _),
            .readFollowers(let app, _, _, _), .readPeople(let app, _, _), .readConversations(let app, _, _),
            .registerInstallations(let app, _, _), .setProfiles(let app, _, _), .readMessage(let app, _),
            .readProfiles(let app, _, _),
            .readMediaUses(let app, _, _), .stepPush(let app, _, _, _, _), .changePush(let app, _, _, _),
            .readPush(let app, _), .readPushes(let app, _, _), .countAudience(let app, _, _, _):
            app
        case .createPush(let job): job.app
        case .readLegs(let question): question.app
        // Of operators and of the whole server: no tenant's.
        case .changeControl(let change, _): change.app ?? AppID("")
        case .readControl: AppID("")
        case .readAudit(let question, _): question.app ?? AppID("")
        case .once(let request, _): request.key.app
        case .readKept(let key, _): key.app
        }
    }
}
