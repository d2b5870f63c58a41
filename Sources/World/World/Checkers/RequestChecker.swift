// P1 for requests: what a phone was told is done is in the store. And no message is refused but to a person who has blocked its sender, or
// to a group the sender is not in or may not write to.
import ClientCore
import StoreModel
import TidingsModel

struct RequestChecker: Checker {
    static let kinds = FactKinds(
        .asked, .answered, .refused, .change, .recall, .edit, .delete, .set, .named, .acceptCustom)

    private struct Asked: Hashable {
        var key: DeviceKey
        var number: RequestNumber
    }

    private struct Done: Hashable {
        var user: UserID
        var request: ClientRequest
    }

    private struct Block: Hashable {
        var user: UserID
        var sender: UserID
    }

    private var asked: [Asked: ClientRequest] = [:]
    private var done: Set<Done> = []
    private var blocks: Set<Block> = []
    /// Where people were muted at one time or another, and which groups were closed to most.
    private var mutes: Set<ConversationSender> = []
    private var closed: Set<ConversationID> = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .asked(let number, let request, let key): self.asked[Asked(key: key, number: number)] = request
        case .answered(let number, .answered(let answer), let key):
            guard answer.isDone else { return }
            guard let request = self.asked[Asked(key: key, number: number)] else { return }
            if request.isCommand, !self.done.contains(Done(user: key.user.user, request: request)) {
                findings.add("P1", "\(key) was told that \(request) is done, and it is not in the store")
            }
        case .refused(let draft, let problem, let key):
            if !self.isDue(problem, draft, from: key.user.user) {
                findings.add("P1", "\(draft.clientMessageID) of \(key) was refused: \(problem)")
            }
        case .committed(let command, let result):
            if case .refused = result { return }
            if case .change(let operation) = command { self.noteMute(operation) }
            guard let (user, request) = command.request else { return }
            self.done.insert(Done(user: user, request: request))
            if case .setBlocked(let sender, true) = request { self.blocks.insert(Block(user: user, sender: sender)) }
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func noteMute(_ operation: ConversationOperation) {
        if case .mute(let users, _) = operation.action {
            self.mutes.formUnion(users.map { ConversationSender($0, in: operation.conversation) })
        } else if operation.action == .setOnlyAdminsWrite(true) {
            self.closed.insert(operation.conversation)
        }
    }

    /// Where one side is an account, `AccountChecker` says so.
    private func isDue(_ problem: ServerFrame.Problem, _ draft: MessageDraft, from sender: UserID) -> Bool {
        switch draft.conversation.type {
        case .direct:
            problem.code == .blocked
                && self.blocks.contains(Block(user: UserID(draft.conversation.target), sender: sender))
        case .group, .discussion:
            problem.code == .notAMember
                || problem.code == .muted
                    && (self.closed.contains(draft.conversation)
                        || self.mutes.contains(ConversationSender(sender, in: draft.conversation)))
        case .customerService, .system, .appPublicService, .publicService, .pushService: true
        case .chatRoom: false
        }
    }
}

extension ClientAnswer {
    fileprivate var isDone: Bool {
        switch self {
        case .done, .invited, .tags: true
        case .refused, .conversation, .settings, .history, .receipts, .presence, .profiles, .devices, .following: false
        }
    }
}

extension ClientRequest {
    fileprivate var isCommand: Bool {
        switch self {
        case .change, .recall, .edit, .delete, .setConversationSettings, .setConversationState, .setPersonSettings,
            .setBlocked, .setProfile, .setFollowing, .setTags:
            true
        case .conversation, .settings, .history, .enterRoom, .exitRoom, .receipts, .watch, .unwatch, .renewToken,
            .profiles, .registerVoIP, .devices, .signOutDevice, .following:
            false
        }
    }
}

extension StoreCommand {
    /// The person's request that led to it; nil for a command that no person asks for like that.
    fileprivate var request: (user: UserID, request: ClientRequest)? {
        switch self {
        case .change(let operation):
            operation.actor.map { ($0, .change(operation.conversation, operation.action)) }
        case .recall(let operation): operation.actor.map { ($0, .recall(operation.message)) }
        case .edit(let operation): operation.actor.map { ($0, .edit(operation.message, content: operation.content)) }
        case .delete(let key, let deletion, _): (key.user, .delete(deletion))
        case .setConversationSettings(let key, let conversation, let settings, _):
            (key.user, .setConversationSettings(conversation, settings))
        case .setConversationState(let key, let conversation, let change, _):
            (key.user, .setConversationState(conversation, change))
        case .setPersonSettings(let key, let settings, _): (key.user, .setPersonSettings(settings))
        case .setBlocked(let key, let user, let isBlocked, _): (key.user, .setBlocked(user, isBlocked))
        case .setFollowing(let key, let account, let isFollowing): (key.user, .setFollowing(account, isFollowing))
        case .setLabels(let key, .tags(let tags)): (key.user, .setTags(tags))
        case .setProfiles(_, let profiles, isOwn: true): profiles.first.map { ($0.id, .setProfile($0.profile)) }
        default: nil  // tidy: the others are nobody's request
        }
    }
}
