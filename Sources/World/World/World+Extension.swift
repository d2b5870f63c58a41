import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import StoreModel
import TidingsModel

// The service extension as it ships: it decides, asks the server for what APNs has overwritten, tells it what is shown, and answers
// the system once, with the best content there is by then (DESIGN P3, §5 "Keep-one", §7 "Extension").
extension World {
    /// The system hands the extension a push.
    mutating func extensionCalled(
        _ request: NotificationRequest, _ call: CallbackNumber, in process: ProcessID, on index: Int
    ) {
        var work = ExtensionWork(process: process, request: request, best: request.content)
        guard self.phones[index].canReadGroup else {
            self.note("phone \(index) extension \(request.identifier) cannot read")
            self.see(.unextended(identifier: request.identifier, on: self.phones[index].key))
            self.see(.reached(.lockedExtensions))
            return self.finish(work, call, on: index)
        }
        work.isStalled = self.breaksExtension(process, on: index)
        if work.isStalled {
            self.phones[index].extensionWork[call] = work
            return self.see(.unextended(identifier: request.identifier, on: self.phones[index].key))
        }
        self.phones[index].extensionWork[call] = work
        self.extensionDecides(call, on: index)
    }

    /// Decides when the app cannot be at work on the message any more: until then it looks twice a second.
    mutating func extensionDecides(_ call: CallbackNumber, on index: Int) {
        guard var work = self.phones[index].extensionWork[call], !work.isAnswering else { return }
        let group = self.phones[index].group
        let signIn = group.recipient.map { ExtensionDecision.SignIn.signedIn(recipientTag: $0.tag) } ?? .signedOut
        if let wait = ExtensionDecision.wait(
            userInfo: .object(work.request.content.userInfo), signIn: signIn, ledger: group.ledger, wall: self.now.wall)
        {
            return self.plan(.extensionDecides(index, call), after: min(wait, 500))
        }
        self.decide(&work, on: index)
        self.phones[index].extensionWork[call] = work
        if let message = work.changes?.receipt { self.report(message, for: call, on: index) }
        if let fetch = work.changes?.fetch {
            self.note("phone \(index) extension asks for \(fetch.limit) after \(fetch.after)")
            self.see(.reached(.fetches))
            self.askApi(
                .missed(after: fetch.after, limit: fetch.limit), .fetch(fetch), for: call, on: index,
                patience: 8_000)
        }
        self.finishIfDone(call, on: index)
    }

    private mutating func decide(_ work: inout ExtensionWork, on index: Int) {
        let userInfo = JSONValue.object(work.request.content.userInfo)
        guard let changes = self.changes(userInfo, work.request.identifier, on: index) else { return }
        work.changes = changes
        self.tell(work.process, changes, on: index)
        work.best = Self.content(changes, from: work.best)
        self.note("phone \(index) extension \(work.request.identifier) \(changes.reason.rawValue)")
        guard let info = PushInfo(userInfo: userInfo) else { return }
        if changes.reason == .recall, !info.isRecall { self.see(.reached(.lateWithdrawn)) }
        let isSeen = !changes.isDiscarded || !self.phones[index].mayFilter
        self.see(
            .extended(
                info.message, isQuiet: changes.isSilent, text: isSeen ? work.best.body : nil, on: self.phones[index].key
            ))
    }

    /// The decision; the delivered list is looked at when a claim's owner is gone.
    private mutating func changes(
        _ userInfo: JSONValue, _ identifier: String, on index: Int
    ) -> ExtensionDecision.Changes? {
        var group = self.phones[index].group
        let signIn = group.recipient.map { ExtensionDecision.SignIn.signedIn(recipientTag: $0.tag) } ?? .signedOut
        var facts = ExtensionDecision.Facts(
            signIn: signIn, position: group.recipient?.position, showsContent: !group.hidesContent,
            isFilteringEntitled: self.phones[index].mayFilter, canFetch: group.recipient != nil)
        var changes = ExtensionDecision.changes(
            userInfo: userInfo, facts: facts, ledger: &group.ledger, badge: &group.badge, wall: self.now.wall)
        if changes == nil {
            facts.isDelivered = self.isDelivered(identifier, on: index)
            changes = ExtensionDecision.changes(
                userInfo: userInfo, facts: facts, ledger: &group.ledger, badge: &group.badge, wall: self.now.wall)
        }
        if let reached = changes?.reached { group.recipient?.position = reached }
        self.phones[index].group = group
        return changes
    }

    private static func content(
        _ changes: ExtensionDecision.Changes, from original: NotificationContent
    ) -> NotificationContent {
        var content = original
        if changes.isStripped {
            content.title = ""
            content.subtitle = ""
            content.badge = nil
            content.userInfo = ExtensionDecision.strippedUserInfo.objectValue ?? JSONObject()
            content.threadIdentifier = ""
            content.categoryIdentifier = ""
        }
        content.badge = changes.badge ?? content.badge
        content.title = changes.title ?? content.title
        content.body = changes.body ?? content.body
        if changes.isSilent {
            content.sound = nil
            content.interruptionLevel = .passive
        }
        return changes.isDiscarded ? NotificationContent(badge: content.badge) : content
    }

    // MARK: What the server is asked and told

    private mutating func report(_ message: MessageID, for call: CallbackNumber, on index: Int) {
        self.askApi(.receipt(message, .shown), .receipt, for: call, on: index, patience: 1_500)
    }

    private mutating func askApi(
        _ question: ExtensionRequest, _ wait: ExtensionWork.Wait, for call: CallbackNumber, on index: Int,
        patience: Int64
    ) {
        guard let token = self.phones[index].group.recipient?.extensionToken, let issuedAt = Int64(token) else {
            return
        }
        self.lastApiRequest += 1
        let request = ApiRequestID(self.lastApiRequest)
        self.phones[index].extensionWork[call]?.waits[request] = wait
        self.plan(.extensionHears(index, call, request, nil), after: patience)
        let fate = self.httpFate(of: index)
        guard self.phones[index].isOnline else { return }
        guard !fate.isLost else { return self.loseHTTP("request \(request.rawValue)", of: index) }
        self.apiCallers[request] = ApiCaller(phone: index, call: call, isDeaf: fate.losesAnswer)
        let command = ApiCommand.fromExtension(self.phones[index].key, tokenIssuedAt: issuedAt, question)
        self.plan(.apiRequest(request, command), after: self.latency(of: index))
        if fate.comesTwice { self.comeAgain(command, after: 2 * self.latency(of: index)) }
    }

    /// The server has answered a request of an extension.
    mutating func answer(_ request: ApiRequestID, _ result: ApiResult) {
        guard let caller = self.apiCallers.removeValue(forKey: request) else { return }
        let index = caller.phone
        if case .missed(let page, let words, let hidesContent) = result {
            let key = self.phones[index].key
            let answer = page.missedAnswer(for: key.user.user, in: words, hidesContent: hidesContent)
            self.see(.toldMissed(answer, to: key))
        }
        guard !caller.isDeaf else { return self.loseHTTP("the answer to \(request.rawValue)", of: index) }
        self.plan(.extensionHears(index, caller.call, request, result), after: self.latency(of: index))
    }

    private mutating func loseHTTP(_ what: String, of index: Int) {
        self.note("phone \(index) loses \(what)")
        self.see(.reached(.lostRequests))
    }

    /// An answer, or nil when it was waited for long enough.
    mutating func extensionHears(
        _ result: ApiResult?, to request: ApiRequestID, for call: CallbackNumber, on index: Int
    ) {
        guard self.phones[index].extensionWork[call]?.isAnswering == false,
            let wait = self.phones[index].extensionWork[call]?.waits.removeValue(forKey: request)
        else { return }
        if case .fetch(let fetch) = wait, case .missed(let page, let words, let hidesContent)? = result {
            let answer = page.missedAnswer(
                for: self.phones[index].key.user.user, in: words, hidesContent: hidesContent)
            self.take(answer, of: fetch, for: call, on: index)
        }
        self.finishIfDone(call, on: index)
    }

    // MARK: What was overwritten

    private mutating func take(_ answer: JSONValue, of fetch: MissedFetch, for call: CallbackNumber, on index: Int) {
        guard let work = self.phones[index].extensionWork[call], self.isForSignedIn(work, on: index),
            let tag = self.phones[index].group.recipient?.tag
        else { return }
        let delivered = Set(self.phones[index].core.listed.compactMap { MessageID($0.key.identifier) })
        let posts = MissedDecision.posts(
            answer, fetch, showsContent: !self.phones[index].group.hidesContent,
            pushRings: work.changes?.reason == .rings, delivered: delivered, ledger: &self.phones[index].group.ledger,
            wall: self.now.wall)
        self.note("phone \(index) extension posts \(posts.map(\.message.message))")
        self.see(.fetched(posts, pushRings: work.changes?.reason == .rings, on: self.phones[index].key))
        let removed = MissedDecision.removed(answer).map(\.description)
        if !removed.isEmpty { self.tell(work.process, .deliveredRemoved(identifiers: removed), on: index) }
        self.phones[index].extensionWork[call]?.fetch = fetch
        for post in posts { self.post(post, recipientTag: tag, for: call, of: work.process, on: index) }
        if posts.isEmpty { self.reach(fetch, on: index) }
    }

    private mutating func post(
        _ post: MissedDecision.Post, recipientTag tag: String, for call: CallbackNumber, of process: ProcessID,
        on index: Int
    ) {
        let message = post.message
        var content = NotificationContent(
            title: message.text.title ?? "", body: message.text.body, sound: post.isSilent ? nil : .standard,
            userInfo: message.userInfo(recipientTag: tag).objectValue ?? JSONObject(),
            threadIdentifier: message.conversation.description)
        if post.isSilent { content.interruptionLevel = .passive }
        self.phones[index].extensionWork[call]?.posts.append(message.message)
        let request = NotificationRequest(identifier: message.message.description, content: content)
        self.ask(process, .add(request), on: index, for: .extensionPost(call, message.message))
    }

    /// The notification centre has answered one post.
    mutating func extensionPosted(_ message: MessageID, isTaken: Bool, for call: CallbackNumber, on index: Int) {
        guard let work = self.phones[index].extensionWork[call], !work.isAnswering else { return }
        self.phones[index].extensionWork[call]?.posts.remove(message)
        let isWithdrawn = self.phones[index].group.ledger[message]?.isWithdrawn == true
        let isMeant = self.isForSignedIn(work, on: index)
        if isMeant, isWithdrawn {
            if isTaken { self.tell(work.process, .deliveredRemoved(identifiers: [message.description]), on: index) }
        } else if isMeant, isTaken {
            self.phones[index].group.ledger.markShown(message, by: .pushExtension, wall: self.now.wall)
            self.see(.reached(.fetched))
        } else if isMeant {
            self.phones[index].group.ledger.release(message, by: .pushExtension)
        } else if isTaken {
            self.tell(work.process, .deliveredRemoved(identifiers: [message.description]), on: index)
        }
        if !isMeant || !isTaken && !isWithdrawn { self.phones[index].extensionWork[call]?.isWhole = false }
        if isMeant, isTaken, !isWithdrawn { self.report(message, for: call, on: index) }
        guard let rest = self.phones[index].extensionWork[call] else { return }
        if rest.posts.isEmpty, rest.isWhole, let fetch = rest.fetch { self.reach(fetch, on: index) }
        self.finishIfDone(call, on: index)
    }

    private mutating func reach(_ fetch: MissedFetch, on index: Int) {
        guard let known = self.phones[index].group.recipient?.position else { return }
        self.phones[index].group.recipient?.position = max(known, fetch.before)
    }

    private func isForSignedIn(_ work: ExtensionWork, on index: Int) -> Bool {
        let tag = PushInfo(userInfo: .object(work.request.content.userInfo))?.recipientTag
        return tag != nil && tag == self.phones[index].group.recipient?.tag
    }

    // MARK: The end

    private mutating func finishIfDone(_ call: CallbackNumber, on index: Int) {
        guard let work = self.phones[index].extensionWork[call], work.waits.isEmpty, work.posts.isEmpty else { return }
        self.finish(work, call, on: index)
    }

    private mutating func finish(_ work: ExtensionWork, _ call: CallbackNumber, on index: Int) {
        guard !work.isAnswering else { return }
        self.phones[index].extensionWork[call] = work
        self.phones[index].extensionWork[call]?.isAnswering = true
        self.plan(.extensionAnswers(index, call), after: self.phones[index].chance.number(1...30))
    }

    /// The extension answers, and asks before whether what it has decided still holds: others were at work meanwhile.
    mutating func extensionAnswers(_ call: CallbackNumber, on index: Int) {
        guard let work = self.phones[index].extensionWork.removeValue(forKey: call) else { return }
        var content = work.best
        if let changes = work.changes {
            let answer = self.answer(of: work, changes, on: index)
            if answer.reason != changes.reason {
                self.note("phone \(index) extension answers \(work.request.identifier) \(answer.reason.rawValue)")
                content = Self.content(answer, from: work.request.content)
                self.seeAnswer(answer, instead: changes, of: work, text: content.body, on: index)
            } else {
                content.badge = answer.badge ?? content.badge
            }
        }
        self.handle(.process(work.process, .callbackCompleted(call, .content(content))), on: index)
    }

    private func answer(
        of work: ExtensionWork, _ changes: ExtensionDecision.Changes, on index: Int
    ) -> ExtensionDecision.Changes {
        let group = self.phones[index].group
        let signIn = group.recipient.map { ExtensionDecision.SignIn.signedIn(recipientTag: $0.tag) } ?? .signedOut
        return ExtensionDecision.answer(
            changes, userInfo: .object(work.request.content.userInfo),
            facts: .init(signIn: signIn, isFilteringEntitled: self.phones[index].mayFilter), ledger: group.ledger,
            badge: group.badge)
    }

    /// Takes out of the notification centre what the changes name.
    private mutating func tell(_ process: ProcessID, _ changes: ExtensionDecision.Changes, on index: Int) {
        guard !changes.removed.isEmpty else { return }
        self.tell(process, .deliveredRemoved(identifiers: changes.removed.map(\.description)), on: index)
    }

    private mutating func seeAnswer(
        _ answer: ExtensionDecision.Changes, instead changes: ExtensionDecision.Changes, of work: ExtensionWork,
        text: String, on index: Int
    ) {
        let key = self.phones[index].key
        if changes.reason == .rings, answer.reason == .recall { self.see(.reached(.withdrawnAtWork)) }
        guard let info = PushInfo(userInfo: .object(work.request.content.userInfo)) else { return }
        let isSeen = !answer.isDiscarded || !self.phones[index].mayFilter
        self.see(.extended(info.message, isQuiet: answer.isSilent, text: isSeen ? text : nil, on: key))
    }

    /// The time is up: the best there is by now is shown.
    mutating func extensionTimeIsUp(in process: ProcessID, on index: Int) {
        for (call, work) in self.phones[index].extensionWork where work.process == process && !work.isStalled {
            self.finish(work, call, on: index)
        }
    }

    /// The system has ended an extension's process: what it had under way is shown as it came.
    mutating func extensionKilled(_ process: ProcessID, on index: Int) {
        for work in self.phones[index].extensionWork.values
        where work.process == process && !work.isStalled && !(work.isAnswering && work.changes == nil)
            && (work.changes?.isSilent != false || !self.isForSignedIn(work, on: index))
        {
            self.see(.unextended(identifier: work.request.identifier, on: self.phones[index].key))
        }
        self.phones[index].extensionWork.removeAll { $0.value.process == process }
    }
}

/// Whose request the server has to answer, and whether the answer is lost.
struct ApiCaller: Hashable {
    var phone: Int
    var call: CallbackNumber
    var isDeaf: Bool
}

/// A push the extension has at work.
struct ExtensionWork {
    /// What an answer is waited for.
    enum Wait: Hashable {
        case receipt
        case fetch(MissedFetch)
    }

    /// Its process does not go on.
    var isStalled = false
    /// Everything is done, and its content handler is about to be called.
    var isAnswering = false
    let process: ProcessID
    let request: NotificationRequest
    /// What is shown if nothing better comes.
    var best: NotificationContent
    /// The decision; nil if none was possible.
    var changes: ExtensionDecision.Changes?
    var waits: OrderedDictionary<ApiRequestID, Wait> = [:]
    /// The fetch that was answered, its posts that were not, and whether all others were taken.
    var fetch: MissedFetch?
    var posts: OrderedSet<MessageID> = []
    var isWhole = true
}
