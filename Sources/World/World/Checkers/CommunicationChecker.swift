// A notification of a person tells what its message is: whose, of which conversation, a mention or a reply, and it rings. And what the system was
// told of messages (ios-delivery.md §11) is of the person who is signed in, true, and gone with a recall, a deletion, a sign-out and hidden content.
import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

struct CommunicationChecker: Checker {
    static let kinds = FactKinds(.lacks, .shown, .signedIn, .signedOut, .looked)

    private static let recipientsOfGroupMin = 2

    private var old: Set<DeviceID> = []
    private var left: Set<DeviceKey> = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .lacksLevels(let device): self.old.insert(device)
        case .shown(let request, let key):
            guard let details = request.content.communication, let id = MessageID(request.identifier) else { return }
            self.check(details, request.content, of: id, on: key, state, into: &findings)
        case .signedOut(let key): self.left.insert(key)
        case .signedIn(let key): self.left.remove(key)
        case .looked(let ending): self.checkEnding(ending, in: state, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private func check(
        _ details: CommunicationDetails, _ content: NotificationContent, of id: MessageID, on key: DeviceKey,
        _ state: CheckerState, into findings: inout Findings
    ) {
        let user = key.user.user
        // A push for another person is the business of P7.
        guard let accepted = state.committed.messages[id], accepted.position(of: user) != nil else { return }
        let message = accepted.message
        let isGroup = message.conversation.hasMembers
        var wrong: [String] = []
        if self.old.contains(key.device) { wrong.append("a form that its system does not know") }
        if details.conversation != message.conversation(seenBy: user).description { wrong.append("the conversation") }
        if (details.group != nil) != isGroup { wrong.append("the group") }
        if isGroup ? details.recipientCount < Self.recipientsOfGroupMin : details.recipientCount != 1 {
            wrong.append("\(details.recipientCount) recipients")
        }
        if details.mentionsPerson != message.mentions.include(user) { wrong.append("the mention") }
        if details.isReply != message.answers(user) { wrong.append("the reply") }
        if let portrait = details.portrait, !state.names.isPortrait(portrait, of: message.sender) {
            wrong.append("the portrait \(portrait)")
        }
        if content.sound == nil { wrong.append("a person though it does not ring") }
        if PushInfo(userInfo: .object(content.userInfo))?.counted.isEmpty == false { wrong.append("one of several") }
        guard !wrong.isEmpty else { return }
        findings.add("communication", "\(key) shows \(id) with \(wrong.joined(separator: ", "))")
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        for phone in ending.phones where !phone.donations.isEmpty {
            let hides = state.committed.settings(of: phone.key.user.user).person.hidesContent
            if hides || self.left.contains(phone.key) || self.old.contains(phone.key.device) {
                findings.add(
                    "communication",
                    "the system of \(phone.key) knows of \(phone.donations.count) messages"
                        + (hides ? ", whose content is hidden" : ""))
            }
            for donation in phone.donations {
                guard let fault = self.fault(of: donation, of: phone.key.user.user, state) else { continue }
                findings.add("communication", "the system of \(phone.key) knows \(donation.identifier): \(fault)")
            }
        }
    }

    private func fault(of donation: DonatedMessage, of user: UserID, _ state: CheckerState) -> String? {
        guard let id = MessageID(donation.identifier), let accepted = state.committed.messages[id] else {
            return "no message"
        }
        let message = accepted.message
        let isOwn = message.sender == user
        guard isOwn || accepted.position(of: user) != nil else { return "it is somebody else's" }
        if state.committed.recalled[id] != nil { return "it was recalled" }
        if state.committed.isDeleted(id, by: user) { return "it was deleted" }
        let conversation = message.conversation(seenBy: user).description
        if donation.conversation != conversation || donation.group != conversation { return "of another conversation" }
        if donation.isOutgoing != isOwn { return "of another direction" }
        if let sender = donation.sender, isOwn || !state.names.isOf(message.sender, sender, in: message.conversation) {
            return "of \(sender)"
        }
        if donation.sender == nil, !isOwn { return "of nobody" }
        if let group = donation.groupName, !state.names.isOf(message.conversation, group) { return "in \(group)" }
        if (donation.groupName != nil) != message.conversation.hasMembers { return "another kind of conversation" }
        let peer = UserID(message.conversation.target)
        for name in donation.recipients where !state.names.isOf(peer, name, in: message.conversation) {
            return "to \(name)"
        }
        return nil
    }
}
