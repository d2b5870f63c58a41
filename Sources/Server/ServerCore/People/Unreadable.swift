import StoreModel
import TidingsModel

/// What is done where the store cannot read what it needs: whoever asked is told to try again later, and all others go on.
extension ServerCore {
    /// Answers for the store.
    ///
    /// - Parameters:
    ///   - purpose: what the answer would have been for; nil if nobody waits for it.
    ///   - user: who is set aside by the store, if anybody.
    mutating func useUnreadable(
        _ purpose: StorePurpose?, setAside user: UserKey?, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        if let purpose { self.giveUp(purpose, now, &effects) }
        guard let user, let slot = self.slots[user] else { return }
        // Nothing new comes to them any more: a connection that stands would look as if nobody wrote.
        for session in self.people[slot].devices.compactMap(\.session) {
            self.end(session, because: Self.unavailable, now, &effects)
        }
    }

    private mutating func giveUp(_ purpose: StorePurpose, _ now: Now, _ effects: inout [ServerEffect]) {
        switch purpose {
        case .send(let session, let message, _):
            self.finishSend(session, message, .failure(Self.unavailable), &effects)
        case .apiSend(let request, _), .apiAnswer(let request), .apiSignOut(let request, _), .missed(let request, _),
            .errand(.custom(let request, _)), .errand(.put(let request, _)), .errand(.userAccount(let request, _, _)):
            effects.append(.reply(request, .refused(Self.unavailable)))
        case .signIn(let session, let device): self.refuseSignIn(session, device, Self.unavailable, &effects)
        case .signOut(let session, _), .markRead(let session, _, _, _):
            self.sessions[session]?.commandsInFlight -= 1
            self.write(.problem(Self.unavailable, isFatal: false), to: session, &effects)
        case .sync(let session, _):
            self.sessions[session]?.syncsInFlight -= 1
            self.write(.problem(Self.unavailable, isFatal: false), to: session, &effects)
        case .load(let slot), .loadPage(let slot): self.giveUpLoading(slot, now, &effects)
        case .errand(.request(let asked)), .errand(.enterRoom(let asked, _, _)):
            self.answer(asked.requester, .refused(Self.unavailable), &effects)
        case .errand(.pushState(_, let registrant)):
            guard let registrant else { return }
            self.sessions[registrant.session]?.commandsInFlight -= 1
            self.refuse(registrant, Self.unavailable, &effects)
        case .errand(.opened(let session)): self.sessions[session]?.openedInFlight -= 1
        case .errand(.typing(_, _, _, let session)): self.sessions[session]?.isTypingAsked = false
        case .compareLog, .errand(.kick), .errand(.shown), .errand(.readReceipt): break
        }
    }

    /// The person is not taken into memory: everybody who waits for that is told.
    private mutating func giveUpLoading(_ slot: Int, _ now: Now, _ effects: inout [ServerEffect]) {
        guard let loading = self.loadings.removeValue(forKey: slot) else { return }
        for pending in loading.queue {
            switch pending {
            // In the person's log, from where they get it when it can be read again.
            case .delivery, .entry, .takeBack: break
            case .signedIn(let session, _): self.turnAway(session, &effects)
            case .signOut(let request, _), .ofDevices(let request, _), .userAccount(let request, _),
                .fromExtension(let request, _, _, _, _):
                effects.append(.reply(request, .refused(Self.unavailable)))
            }
        }
        self.unload(slot)
        if loading.isRecovery {
            self.recoveryLoads -= 1
            self.loadRecovering(now, &effects)
        }
    }

    private mutating func turnAway(_ session: SessionID, _ effects: inout [ServerEffect]) {
        guard self.openings[session] != nil else { return }
        effects.append(.write(session, .problem(Self.unavailable, isFatal: true)))
        self.close(session, &effects)
    }
}
