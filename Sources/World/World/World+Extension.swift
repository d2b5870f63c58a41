import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import SimulatedPhone
import StoreModel
import TidingsModel

// The service extension as it ships: its machine decides, the World carries out (design.md P3, §5 "Keep-one", §7 "Extension").
extension World {
    mutating func extensionCalled(
        _ request: NotificationRequest, _ call: CallbackNumber, in process: ProcessID, on index: Int
    ) {
        let push = ExtensionMachine.ReceivedPush(
            identifier: request.identifier, userInfo: .object(request.content.userInfo),
            mayFilter: self.phones[index].mayFilter,
            isForeignRecall: CornerMarkDecrease.isSet(in: .object(request.content.userInfo)),
            usesCommunicationNotifications: self.kitSettings(of: index).usesCommunicationNotifications)
        var work = ExtensionWork(process: process, request: request, machine: ExtensionMachine(push))
        if self.phones[index].canReadGroup {
            let tag =
                PushInfo(userInfo: push.userInfo)?.recipientTag
                ?? BadgeInfo(userInfo: push.userInfo)?.recipientTag
            let isForAnother = tag != nil && tag != self.phones[index].group.recipient?.tag
            work.isStalled = self.breaksExtension(
                process, of: request.identifier, isForAnother: isForAnother, on: index)
        } else {
            self.appendTrace("phone \(index) extension \(request.identifier) cannot read")
            self.emit(.reached(.lockedExtensions))
        }
        if work.isStalled || !self.phones[index].canReadGroup {
            self.emit(.unextended(identifier: request.identifier, on: self.phones[index].key))
        }
        work.isUnreadable = !self.phones[index].canReadGroup
        self.phones[index].extensionWork[call] = work
        guard !work.isStalled else { return }
        self.plan(.continueExtension(index, call, .received), after: self.phones[index].chance.number(1...30))
    }

    mutating func continueExtension(_ event: ExtensionMachine.Event, for call: CallbackNumber, on index: Int) {
        guard var work = self.phones[index].extensionWork[call], !work.isStalled else { return }
        let wasDecided = work.machine.changes != nil
        let wasFinished = work.machine.isFinished
        var effects: [ExtensionMachine.Effect] = []
        let before = self.phones[index].group.badge
        // Taken out, so that nothing big is copied. A push that could not be decided stays so, whenever the phone is unlocked.
        var group: WorldAppGroup? = work.isUnreadable ? nil : self.phones[index].group
        if group != nil { self.phones[index].group = WorldAppGroup() }
        work.machine.handle(
            event, group: &group, canAskServer: group?.recipient != nil, wall: self.now.wall, into: &effects)
        if let group { self.phones[index].group = group }
        self.phones[index].extensionWork[call] = work
        if !wasDecided, let changes = work.machine.changes {
            self.decided(changes, by: work, on: index)
            self.emitReduced(changes, from: before, by: work, on: index)
        }
        if case .missedFetched = event, !wasFinished {
            let posts = work.machine.openPosts
            self.appendTrace("phone \(index) extension posts \(posts.map(\.message.message))")
            if work.machine.hasFetchedText { self.emit(.reached(.fetchedTexts)) }
            let pushRings = work.machine.changes?.reason == .rings
            self.emit(.fetched(posts, pushRings: pushRings, on: self.phones[index].key))
        }
        for effect in effects { self.performExtension(effect, for: call, of: work, on: index) }
        if self.phones[index].extensionWork[call]?.machine.isIdle == true {
            self.phones[index].extensionWork[call] = nil
        }
    }

    private mutating func performExtension(
        _ effect: ExtensionMachine.Effect, for call: CallbackNumber, of work: ExtensionWork, on index: Int
    ) {
        switch effect {
        case .wait(let milliseconds): self.plan(.continueExtension(index, call, .timePassed), after: milliseconds)
        case .listDelivered:
            let identifiers = Set(self.phones[index].core.listed.map(\.key.identifier))
            self.plan(.continueExtension(index, call, .deliveredListed(identifiers)), after: 1)
        case .remove(let messages):
            self.sendToSystem(work.process, .deliveredRemoved(identifiers: messages.map(\.description)), on: index)
        case .report(let messages):
            self.sendAPIRequests(messages.map { .receipt($0, .shown) }, .report, for: call, on: index, timeLimit: 1_500)
        case .fetch(let fetch):
            self.appendTrace("phone \(index) extension asks for \(fetch.limit) after \(fetch.after)")
            self.emit(.reached(.fetches))
            self.sendAPIRequests(
                [.missed(after: fetch.after, limit: fetch.limit)], .fetch, for: call, on: index, timeLimit: 8_000)
        case .post(let post, let tag):
            let purpose = QueryPurpose.extensionPost(call, post.message.message)
            let (donated, request) = post.posted(
                recipientTag: tag, isEntitled: self.options.population.usesCommunication)
            if let donated { self.donate(donated, in: work.process, on: index) }
            self.querySystem(work.process, .add(request), on: index, for: purpose)
        case .fetchPortrait(let url):
            let isThere = Self.isPushedPortrait(url) && self.phones[index].isOnline
            if isThere { self.emit(.reached(.portraits)) }
            self.plan(
                .continueExtension(index, call, .portraitFetched(isThere: isThere)), after: self.latency(of: index))
        case .deleteDonations(let messages):
            self.sendToSystem(work.process, DonationScope.messages(messages).event, on: index)
        // Images are not simulated.
        case .fetchImage: self.plan(.continueExtension(index, call, .imageFetched(isThere: false)), after: 1)
        case .finish(let edit): self.finishPush(work, call, edit, on: index)
        }
    }

    private mutating func finishPush(_ work: ExtensionWork, _ call: CallbackNumber, _ edit: ContentEdit?, on index: Int)
    {
        let said = edit?.answer(
            to: work.request.content, isEntitled: self.options.population.usesCommunication)
        if let donated = said?.donated { self.donate(donated, in: work.process, on: index) }
        let content = said?.content ?? work.request.content
        if let changes = work.machine.changes, let answer = work.machine.answer, answer.reason != changes.reason {
            self.appendTrace("phone \(index) extension answers \(work.request.identifier) \(answer.reason.rawValue)")
            if changes.reason == .rings, answer.reason == .recall { self.emit(.reached(.recalledAtWork)) }
            self.emitExtended(answer, of: work, text: content.body, on: index)
        } else if work.machine.changes == nil, !work.isUnreadable {
            self.emit(.unextended(identifier: work.request.identifier, on: self.phones[index].key))
        }
        if work.machine.answer?.isStripped == true, let left = content.leftByStripping,
            let info = PushInfo(userInfo: .object(work.request.content.userInfo))
        {
            self.emit(.extendedForAnother(info.message, isQuiet: true, text: left, on: self.phones[index].key))
        }
        self.handle(.process(work.process, .callbackCompleted(call, .content(content))), on: index)
    }

    // MARK: What the checkers see

    private mutating func decided(_ changes: ExtensionDecision.Changes, by work: ExtensionWork, on index: Int) {
        self.appendTrace("phone \(index) extension \(work.request.identifier) \(changes.reason.rawValue)")
        guard let info = PushInfo(userInfo: .object(work.request.content.userInfo)) else { return }
        if changes.reason == .recall, !info.isRecall { self.emit(.reached(.lateRecalled)) }
        self.emitExtended(changes, of: work, text: changes.body?.plain ?? work.request.content.body, on: index)
    }

    private mutating func emitReduced(
        _ changes: ExtensionDecision.Changes, from before: Badge?, by work: ExtensionWork, on index: Int
    ) {
        let phone = self.phones[index]
        let userInfo = JSONValue.object(work.request.content.userInfo)
        guard let push = BadgeInfo(userInfo: userInfo) else { return }
        let owner = phone.isSignedIn ? self.owner(of: userInfo) : nil
        self.emit(
            .reduced(push, of: owner, from: before, to: phone.group.badge, shown: changes.badge, on: phone.key))
    }

    private mutating func emitExtended(
        _ changes: ExtensionDecision.Changes, of work: ExtensionWork, text: String, on index: Int
    ) {
        guard let info = PushInfo(userInfo: .object(work.request.content.userInfo)) else { return }
        let seen = changes.isDiscarded && self.phones[index].mayFilter ? nil : text
        let key = self.phones[index].key
        self.emit(.extended(info.message, isQuiet: changes.isSilent, text: seen, on: key))
        guard let owner = self.tags[info.recipientTag], owner.user != key.user else { return }
        self.emit(.extendedForAnother(info.message, isQuiet: changes.isSilent, text: seen, on: key))
    }

    // MARK: What the server is asked and told

    /// Sends requests at once; the last one's answer is waited for.
    private mutating func sendAPIRequests(
        _ questions: [ExtensionRequest], _ wait: ExtensionWork.Wait, for call: CallbackNumber, on index: Int,
        timeLimit: Int64
    ) {
        let requests = questions.map { question in
            self.lastAPIRequest += 1
            return (APIRequestID(self.lastAPIRequest), question)
        }
        guard let last = requests.last?.0 else { return }
        self.phones[index].extensionWork[call]?.waits[last] = wait
        self.plan(.extensionAnswered(index, call, last, nil), after: timeLimit)
        guard let token = self.phones[index].group.recipient?.extensionToken, let issuedAt = Int64(token) else {
            return
        }
        for (request, question) in requests {
            let outcome = self.httpOutcome(of: index)
            guard self.phones[index].isOnline else { return }
            guard !outcome.isLost else {
                self.loseHTTP("request \(request.rawValue)", of: index)
                continue
            }
            self.apiCallers[request] = APICaller(phone: index, call: call, isDeaf: outcome.losesAnswer)
            let command = APICommand.fromExtension(self.phones[index].key, tokenIssuedAt: issuedAt, question)
            self.plan(.apiRequest(request, command), after: self.latency(of: index))
            if outcome.comesTwice { self.repeatRequest(command, after: 2 * self.latency(of: index)) }
        }
    }

    mutating func answerExtension(_ request: APIRequestID, _ result: APIResult) {
        guard let caller = self.apiCallers.removeValue(forKey: request) else { return }
        let index = caller.phone
        if case .missed(let page, let words, let hidesContent) = result {
            let key = self.phones[index].key
            let answer = page.missedAnswer(for: key.user.user, in: words, hidesContent: hidesContent)
            self.emit(.toldMissed(answer, to: key))
        }
        guard !caller.isDeaf else { return self.loseHTTP("the answer to \(request.rawValue)", of: index) }
        self.plan(.extensionAnswered(index, caller.call, request, result), after: self.latency(of: index))
    }

    private mutating func loseHTTP(_ what: String, of index: Int) {
        self.appendTrace("phone \(index) loses \(what)")
        self.emit(.reached(.lostRequests))
    }

    /// The result is nil when it was waited for long enough.
    mutating func extensionAnswered(
        _ result: APIResult?, to request: APIRequestID, for call: CallbackNumber, on index: Int
    ) {
        guard let wait = self.phones[index].extensionWork[call]?.waits.removeValue(forKey: request) else { return }
        switch wait {
        case .report: self.continueExtension(.reported, for: call, on: index)
        case .fetch:
            var missed: JSONValue?
            if case .missed(let page, let words, let hidesContent)? = result {
                missed = page.missedAnswer(
                    for: self.phones[index].key.user.user, in: words, hidesContent: hidesContent)
            }
            let delivered = self.phones[index].core.listed.map {
                NotificationCenterQueue.Entry($0.notification.request)
            }
            self.continueExtension(.missedFetched(missed, delivered: delivered), for: call, on: index)
        }
    }

    // MARK: The end

    mutating func extensionKilled(_ process: ProcessID, on index: Int) {
        let tag = self.phones[index].group.recipient?.tag
        for work in self.phones[index].extensionWork.values
        where work.process == process && !work.isStalled && !work.isUnreadable && !work.machine.isFinished {
            let isForSignedIn =
                tag != nil && tag == PushInfo(userInfo: .object(work.request.content.userInfo))?.recipientTag
            guard work.machine.changes?.isSilent != false || !isForSignedIn else { continue }
            self.emit(.unextended(identifier: work.request.identifier, on: self.phones[index].key))
        }
        self.phones[index].extensionWork.removeAll { $0.value.process == process }
    }
}

struct APICaller: Hashable {
    var phone: Int
    var call: CallbackNumber
    var isDeaf: Bool
}

struct ExtensionWork {
    enum Wait: Hashable {
        case report
        case fetch
    }

    let process: ProcessID
    let request: NotificationRequest
    var machine: ExtensionMachine
    var isStalled = false
    var isUnreadable = false
    var waits: OrderedDictionary<APIRequestID, Wait> = [:]
}

extension WorldAppGroup: ExtensionGroup {
    var signIn: ExtensionDecision.SignIn {
        self.recipient.map { .signedIn(recipientTag: $0.tag) } ?? .signedOut
    }
    var position: LogPosition? {
        get { self.recipient?.position }
        set { if let newValue { self.recipient?.position = newValue } }
    }
    var showsContent: Bool { !self.hidesContent }
    var words: NotificationWords { .english }
    func names(of payload: NotificationPayload) -> KnownNames { self.names.known(of: payload) }
}

extension NotificationContent {
    /// The parts of its message that a stripped push still has, besides its text; nil for none.
    fileprivate var leftByStripping: String? {
        var left = [self.title, self.subtitle, self.categoryIdentifier, self.threadIdentifier].filter { !$0.isEmpty }
        if self.sound != nil || self.hasText && self.interruptionLevel != .passive { left.append("a ring") }
        left += self.userInfo.members.map(\.key).filter { $0 != PushInfo.key }
        return left.isEmpty ? nil : left.joined(separator: ", ")
    }
}
