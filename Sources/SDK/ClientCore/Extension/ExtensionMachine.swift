package import TidingsModel

/// Decides what the notification service extension does with one push, from the system's call to the one call of its content handler
/// (S2.18–S2.22; design.md P3, P7, §5 "Keep-one", §7 "Extension"). Every decision is taken here: the shipped extension, the World and the
/// scenarios carry out its effects.
///
/// ```text
///            received              the claim's owner is gone
///  waiting ───────────▶ (decide) ───────────────────────────▶ listing
///   ▲   │ the app has     │  ▲                                  │
///   └───┘ claimed it      │  └──────────────────────────────────┘ delivered list
///                         ▼
///                      working ──▶ finished
///            receipts, missed messages, image        (always after `timeExpired`)
/// ```
package struct ExtensionMachine: Hashable, Sendable {
    package enum Event: Hashable, Sendable {
        case received
        case timePassed
        case deliveredListed(Set<String>)
        case missedFetched(JSONValue?, delivered: [NotificationCenterQueue.Entry])
        case posted(MessageID, isTaken: Bool)
        case reported
        case imageFetched(isThere: Bool)
        case portraitFetched(isThere: Bool)
        /// The system's time is up (S2.21), or nobody waits for the answer any more.
        case timeExpired
    }

    package enum Effect: Hashable, Sendable {
        case wait(milliseconds: Int64)
        case listDelivered
        case remove([MessageID])
        case fetch(MissedFetch)
        case report([MessageID])
        case post(MissedDecision.Post, recipientTag: String)
        case fetchImage(String)
        /// The sender's, on the same terms.
        case fetchPortrait(String)
        /// Deletes the donations of messages that were recalled.
        case deleteDonations([MessageID])
        case finish(ContentEdit?)
    }

    private enum State: Hashable, Sendable {
        case waiting
        case listing
        case working(Work)
        case finished(MissedDecision.Post?)
    }

    private static let lookMilliseconds: Int64 = 500

    private let push: ReceivedPush
    let info: PushInfo?
    let badgeInfo: BadgeInfo?
    private var state = State.waiting
    package private(set) var changes: ExtensionDecision.Changes?
    package private(set) var answer: ExtensionDecision.Changes?

    package init(_ push: ReceivedPush) {
        self.push = push
        self.info = PushInfo(userInfo: push.userInfo)
        self.badgeInfo = BadgeInfo(userInfo: push.userInfo)
    }

    package var isFinished: Bool { if case .finished = self.state { true } else { false } }
    /// The push brought none.
    package var hasFetchedText: Bool { self.info?.text == nil && self.changes?.message != nil }
    package var isIdle: Bool { self.state == .finished(nil) }
    /// Claimed and not shown yet, oldest first.
    package var openPosts: [MissedDecision.Post] {
        switch self.state {
        case .waiting, .listing: []
        case .working(let work): (work.posting.map { [$0] } ?? []) + work.posts
        case .finished(let posting): posting.map { [$0] } ?? []
        }
    }
    package var openRequests: Int {
        if case .working(let work) = self.state {
            work.openReports + (work.fetch != nil && !work.isFetched ? 1 : 0)
        } else {
            0
        }
    }

    /// `group` is nil where it cannot be read or written now: then nothing is decided, and what was decided stays.
    /// `canAskServer`: there is an address and an extension token.
    package mutating func handle<Group: ExtensionGroup>(
        _ event: Event, group: inout Group?, canAskServer: Bool, wall: Int64, into effects: inout [Effect]
    ) {
        var turn = Turn(canAskServer: canAskServer, wall: wall)
        self.state = self.next(event, &group, &turn)
        effects += turn.effects
    }

    private struct Turn {
        let canAskServer: Bool
        let wall: Int64
        var effects: [Effect] = []
    }

    private mutating func next<Group: ExtensionGroup>(_ event: Event, _ group: inout Group?, _ turn: inout Turn)
        -> State
    {
        switch (self.state, event) {
        case (.waiting, .received), (.waiting, .timePassed): return self.checkClaim(&group, &turn)
        case (.listing, .deliveredListed(let identifiers)):
            let name = self.info?.message.description ?? self.push.identifier
            return self.decide(isDelivered: identifiers.contains(name), &group, &turn)
        case (.waiting, .timeExpired), (.listing, .timeExpired):
            turn.effects.append(.finish(self.undecided))
            return .finished(nil)
        case (.working(var work), .missedFetched(let answer, let delivered)):
            self.handleMissed(answer, delivered, &work, &group, &turn)
            return self.finishIfDone(work, &group, &turn)
        case (.working(var work), .posted(let message, let isTaken)):
            guard let post = work.posting, post.message.message == message else { return self.state }
            work.posting = nil
            self.settle(post, isTaken: isTaken, &work, &group, &turn)
            self.postNext(&work, &group, &turn)
            return self.finishIfDone(work, &group, &turn)
        case (.working(var work), .reported):
            work.openReports -= 1
            return self.finishIfDone(work, &group, &turn)
        case (.working(var work), .imageFetched(let isThere)):
            work.isFetchingImage = false
            work.hasImage = isThere
            return self.finishIfDone(work, &group, &turn)
        case (.working(var work), .portraitFetched(let isThere)):
            work.isFetchingPortrait = false
            work.hasPortrait = isThere
            return self.finishIfDone(work, &group, &turn)
        case (.working(let work), .timeExpired): return self.finish(work, &group, &turn)
        case (.finished(let post?), .posted(let message, let isTaken)) where post.message.message == message:
            var work = Work()
            self.settle(post, isTaken: isTaken, &work, &group, &turn)
            return .finished(nil)
        // Late, or of something that was not asked for.
        case (.waiting, .deliveredListed), (.waiting, .missedFetched), (.waiting, .posted), (.waiting, .reported),
            (.waiting, .imageFetched), (.listing, .received), (.listing, .timePassed), (.listing, .missedFetched),
            (.listing, .posted), (.listing, .reported), (.listing, .imageFetched), (.working, .received),
            (.working, .timePassed), (.working, .deliveredListed), (.finished, .received), (.finished, .timePassed),
            (.finished, .deliveredListed), (.finished, .missedFetched), (.finished, .posted), (.finished, .reported),
            (.finished, .imageFetched), (.finished, .timeExpired), (.waiting, .portraitFetched),
            (.listing, .portraitFetched), (.finished, .portraitFetched):
            return self.state
        }
    }

    // MARK: The decision

    /// The app may be showing the message now, or have died before it could: the age of its claim tells which.
    private mutating func checkClaim<Group: ExtensionGroup>(_ group: inout Group?, _ turn: inout Turn) -> State {
        if let known = group,
            let wait = ExtensionDecision.wait(
                userInfo: self.push.userInfo, signIn: known.signIn, ledger: known.ledger, wall: turn.wall)
        {
            turn.effects.append(.wait(milliseconds: min(wait, Self.lookMilliseconds)))
            return .waiting
        }
        return self.decide(isDelivered: nil, &group, &turn)
    }

    /// The edit without a decision: the content stays as it came (S2.20), but a push of the number alone is hidden, for any recipient.
    private var undecided: ContentEdit? {
        self.badgeInfo.map { _ in
            ContentEdit(ExtensionDecision.hidden(self.push.mayFilter), of: self.push)
        }
    }

    private mutating func decide<Group: ExtensionGroup>(
        isDelivered: Bool?, _ group: inout Group?, _ turn: inout Turn
    ) -> State {
        var work = Work()
        let decision = group.change { group in
            work.names =
                (try? NotificationPayload(userInfo: self.push.userInfo)).map { group.names(of: $0) } ?? KnownNames()
            let facts = ExtensionDecision.Facts(
                signIn: group.signIn, isDelivered: isDelivered, position: group.position,
                showsContent: group.showsContent, isFilteringEntitled: self.push.mayFilter,
                canFetch: turn.canAskServer, names: work.names, words: group.words)
            // The app reports it to the server, which may then send numbers as alerts.
            if group.extensionFilters != self.push.mayFilter { group.extensionFilters = self.push.mayFilter }
            let changes = group.withLedger { ledger, group in
                ExtensionDecision.changes(
                    userInfo: self.push.userInfo, facts: facts, ledger: &ledger, badge: &group.badge,
                    isRecall: { _ in self.push.isForeignRecall }, wall: turn.wall)
            }
            if let reached = changes?.reached { group.position = reached }
            return changes
        }
        guard let changes = decision ?? nil else {
            // The delivered list tells whether a message was shown whose owner is gone.
            guard decision != nil else {
                turn.effects.append(.finish(self.undecided))
                return .finished(nil)
            }
            turn.effects.append(.listDelivered)
            return .listing
        }
        self.changes = changes
        if !changes.removed.isEmpty { turn.effects.append(.remove(changes.removed)) }
        if let info = self.info, changes.reason == .recall { self.deleteDonations([info.message], &turn) }
        if let fetch = changes.fetch {
            work.fetch = fetch
            turn.effects.append(.fetch(fetch))
        }
        if turn.canAskServer, let message = changes.receipt { self.report([message], &work, &turn) }
        self.fetchImage(changes.imageURL, &work, &turn)
        self.fetchPortrait(&work, &turn)
        return self.finishIfDone(work, &group, &turn)
    }

    private func fetchImage(_ url: String?, _ work: inout Work, _ turn: inout Turn) {
        guard let url else { return }
        work.isFetchingImage = true
        turn.effects.append(.fetchImage(url))
    }

    private func fetchPortrait(_ work: inout Work, _ turn: inout Turn) {
        guard self.push.usesCommunicationNotifications, let changes = self.changes, changes.reason == .rings,
            let portrait = changes.communication?.portrait
        else { return }
        work.isFetchingPortrait = true
        turn.effects.append(.fetchPortrait(portrait))
    }

    private func deleteDonations(_ messages: [MessageID], _ turn: inout Turn) {
        guard self.push.usesCommunicationNotifications, !messages.isEmpty else { return }
        turn.effects.append(.deleteDonations(messages))
    }

    private func report(_ messages: [MessageID], _ work: inout Work, _ turn: inout Turn) {
        work.openReports += 1
        turn.effects.append(.report(messages))
    }

    // MARK: Missed messages

    private mutating func handleMissed<Group: ExtensionGroup>(
        _ answer: JSONValue?, _ delivered: [NotificationCenterQueue.Entry], _ work: inout Work, _ group: inout Group?,
        _ turn: inout Turn
    ) {
        guard let fetch = work.fetch, !work.isFetched else { return }
        work.isFetched = true
        let posts = answer.flatMap { answer in
            group.change { group -> [MissedDecision.Post]? in
                guard self.isForSignedIn(group) else { return nil }
                let posts = group.withLedger { ledger, group in
                    MissedDecision.posts(
                        answer, fetch, hidden: group.showsContent ? nil : group.words.hidden,
                        names: { [group] in group.names(of: $0) }, pushRings: self.changes?.reason == .rings,
                        delivered: Set(delivered.compactMap { MessageID($0.identifier) }), ledger: &ledger,
                        wall: turn.wall)
                }
                // What another push is posting may come to nothing there: then a later push has to fetch it again.
                let isHeld = MissedDecision.claimed(in: answer, fetch, by: group.ledger).contains { message in
                    !posts.contains { $0.message.message == message }
                }
                if isHeld { work.isWhole = false }
                return posts
            } ?? nil
        }
        guard let answer, let posts else {
            work.fetch = nil
            return
        }
        if let info = self.info {
            let hadText = self.changes?.communication != nil
            self.fetchImage(self.changes?.showFetched(answer, of: info, work.names), &work, &turn)
            // It was asked for with a text that the push has brought.
            if !hadText { self.fetchPortrait(&work, &turn) }
        }
        let recalled = MissedDecision.removed(answer)
        self.deleteDonations(recalled, &turn)
        let removed = recalled + MissedDecision.read(answer, delivered: delivered)
        if !removed.isEmpty { turn.effects.append(.remove(removed)) }
        work.posts = posts
        self.postNext(&work, &group, &turn)
    }

    /// A claim whose message is not posted is given back.
    private func postNext<Group: ExtensionGroup>(_ work: inout Work, _ group: inout Group?, _ turn: inout Turn) {
        while group != nil, !work.posts.isEmpty {
            var post = work.posts.removeFirst()
            let isMeant = group.map { self.isForSignedIn($0) && $0.ledger[post.message.message]?.isRecalled != true }
            if isMeant == true, let tag = self.recipientTag {
                // It may have been set since the message was fetched.
                if let group, !group.showsContent { post.message.hide(group.words) }
                if post.isSilent || !self.push.usesCommunicationNotifications { post.message.communication = nil }
                work.posting = post
                return turn.effects.append(.post(post, recipientTag: tag))
            }
            // Not posted, and so not donated.
            post.message.communication = nil
            self.settle(post, isTaken: false, &work, &group, &turn)
        }
        guard let fetch = work.fetch else { return }
        work.fetch = nil
        // Nobody can be asked about the rest: their claims are given back at the end.
        if !work.posts.isEmpty { work.isWhole = false }
        if work.isWhole, !fetch.clearsOnly {
            group.change { group in
                if self.isForSignedIn(group), let known = group.position { group.position = max(known, fetch.before) }
            }
        }
        if !work.shown.isEmpty { self.report(work.shown, &work, &turn) }
    }

    private enum PostEnd {
        case shown
        case recalled
        case failed
    }

    private func settle<Group: ExtensionGroup>(
        _ post: MissedDecision.Post, isTaken: Bool, _ work: inout Work, _ group: inout Group?, _ turn: inout Turn
    ) {
        let message = post.message.message
        var isHidden = false
        let end = group.change { group -> PostEnd in
            isHidden = !group.showsContent
            guard self.isForSignedIn(group) else { return .failed }
            if group.ledger[message]?.isRecalled == true { return .recalled }
            if isTaken {
                group.ledger.markShown(message, by: .pushExtension, wall: turn.wall)
            } else {
                group.ledger.release(message, by: .pushExtension)
            }
            return isTaken ? .shown : .failed
        }
        switch end ?? (isTaken ? .shown : .failed) {
        case .shown:
            work.shown.append(message)
            guard isHidden else { return }
        case .recalled: if isTaken { turn.effects.append(.remove([message])) }
        case .failed:
            work.isWhole = false
            if isTaken { turn.effects.append(.remove([message])) }
        }
        // Donated before the notification centre was asked, and perhaps after a recall, a sign-out or hiding had donations deleted.
        if post.message.communication != nil { self.deleteDonations([message], &turn) }
    }

    // MARK: The end

    private mutating func finishIfDone<Group: ExtensionGroup>(_ work: Work, _ group: inout Group?, _ turn: inout Turn)
        -> State
    { work.isDone ? self.finish(work, &group, &turn) : .working(work) }

    /// Answers with the decision, asked about once more: others were at work meanwhile.
    private mutating func finish<Group: ExtensionGroup>(
        _ work: Work, _ group: inout Group?, _ turn: inout Turn
    ) -> State {
        guard let changes = self.changes else {
            turn.effects.append(.finish(self.undecided))
            return .finished(nil)
        }
        let last =
            group.change { group -> ExtensionDecision.Changes in
                // What was claimed and is not with the notification centre belongs to nobody.
                if self.isForSignedIn(group) {
                    for post in work.posts { group.ledger.release(post.message.message, by: .pushExtension) }
                }
                let facts = ExtensionDecision.Facts(
                    signIn: group.signIn, showsContent: group.showsContent, isFilteringEntitled: self.push.mayFilter,
                    words: group.words)
                return ExtensionDecision.answer(
                    changes, userInfo: self.push.userInfo, facts: facts, ledger: group.ledger, badge: group.badge)
            } ?? changes
        self.answer = last
        var edit = ContentEdit(last, of: self.push)
        edit.hasImage = work.hasImage && last.reason == changes.reason && last.imageURL == changes.imageURL
        edit.hasPortrait = work.hasPortrait && edit.communication != nil
        turn.effects.append(.finish(edit))
        return .finished(work.posting)
    }
    private struct Work: Hashable, Sendable {
        var names = KnownNames()
        var openReports = 0
        var isFetchingImage = false
        var hasImage = false
        var isFetchingPortrait = false
        var hasPortrait = false
        var fetch: MissedFetch?
        var isFetched = false
        /// Missed messages that are claimed and not posted, oldest first, and the one that is with the notification centre.
        var posts: [MissedDecision.Post] = []
        var posting: MissedDecision.Post?
        var shown: [MessageID] = []
        var isWhole = true

        var isDone: Bool {
            self.openReports <= 0 && !self.isFetchingImage && !self.isFetchingPortrait && self.fetch == nil
        }
    }
}
