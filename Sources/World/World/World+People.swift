import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

// People: they write, read, put the phone away, and things happen to the phone. What else they do: World+Operations.swift.
extension World {
    mutating func actAsPerson(_ index: Int) {
        guard !self.hasHealed else { return }
        self.beginDraw(of: .person(index))
        let pause = self.chance.number(2_000...60_000)
        if let rest = self.phones[index].night.rest(at: self.time) {
            self.plan(.personActs(index), after: rest + pause)
            guard self.happens() else { return }
            self.appendTrace("person on phone \(index) sleeps")
            self.emit(.reached(.nights))
            return self.handle(PhoneEvent.person(.locked), on: index)
        }
        let wait = pause * Night.slowness(at: self.time)
        self.plan(.personActs(index), after: wait)
        if wait > Night.lockTime { self.plan(.phone(index, .person(.locked)), after: Night.lockTime) }
        guard self.time >= self.phones[index].sleepsUntil, self.happens() else { return }
        guard !self.followsBehaviour(index) else { return }
        guard !self.chance.chance(perMille: self.options.faults.phone) else { return self.fault(index) }
        if self.phones[index].core.asksForPermission {
            return self.handle(PhoneEvent.person(.permissionAnswered(allowed: true)), on: index)
        }
        let isInForeground = self.phones[index].core.state(of: Self.bundle)?.isInForeground == true
        let isSignedIn = self.phones[index].isSignedIn
        switch (isInForeground, self.chance.number(0...19)) {
        case (true, 0...15) where !isSignedIn: break
        case (true, 0...7) where self.phones[index].person.isAnonymous: self.operateAnonymously(index)
        case (true, 11...15) where self.phones[index].person.isAnonymous: self.leaveAnonymously(index)
        case (true, 0...7): self.writeMessage(index)
        case (true, 8...10): self.readConversation(index)
        case (true, 11...15): self.operate(index)
        case (true, 16...17): self.handle(PhoneEvent.person(.locked), on: index)
        case (true, _): self.handle(PhoneEvent.person(.wentHome), on: index)
        case (false, 0...7): self.handle(PhoneEvent.person(.appOpened(Self.bundle)), on: index)
        case (false, 8...11):
            guard let entry = self.phones[index].core.listed.first else { return }
            self.tapNotification(entry, on: index)
        case (false, 12...13):
            guard let entry = self.phones[index].core.listed.last else { return }
            self.handle(PhoneEvent.person(.notificationDismissed(entry.key)), on: index)
        case (false, _): break
        }
    }

    private mutating func tapNotification(_ entry: ListEntry, on index: Int) {
        let userInfo = JSONValue.object(entry.notification.request.content.userInfo)
        // A stripped push, for the person before, has nothing to open.
        if let message = MessageID(entry.notification.request.identifier),
            self.isOfRecipient(userInfo, on: index),
            userInfo != ExtensionDecision.strippedUserInfo
        {
            self.appendTrace("person taps \(message) on phone \(index)")
            self.emit(.tapped(message, on: self.phones[index].key))
        }
        self.handle(PhoneEvent.person(.notificationTapped(entry.key)), on: index)
    }

    /// Not by the kit's rule, which is to be held by it.
    private func isOfRecipient(_ userInfo: JSONValue, on index: Int) -> Bool {
        guard let tag = PushInfo(userInfo: userInfo)?.recipientTag else { return true }
        return tag == self.phones[index].group.recipient?.tag
    }

    // MARK: Writing and reading

    private mutating func writeMessage(_ index: Int) {
        guard let process = self.phones[index].core.process(of: Self.bundle) else { return }
        let conversation = self.anyConversation(of: index)
        let name = "m\(index)-\(self.time)"
        var draft = Self.draft(name, to: conversation)
        if conversation.hasMembers, self.chance.chance(perMille: 400) {
            draft.mentions = self.chance.chance(perMille: 300) ? .everyone : .users([self.anybody(but: index)])
        }
        switch self.chance.number(0...19) {
        case 0: draft.lifetimeMilliseconds = self.chance.number(1_000...60_000)
        case 1: draft.flags = [.stored, .counted]
        case 2: draft.flags.remove(.stored)
        case 3: draft.push = Self.loudOptions(of: name)
        case 4: self.makeReply(&draft, on: index)
        default: break
        }
        self.appendTrace("person on phone \(index) writes \(name) to \(conversation)")
        self.phones[index].drafts[draft.clientMessageID] = draft
        let key = self.phones[index].key
        self.emit(.written(draft, by: key))
        self.handle(ClientEvent.sendRequested(draft), in: process, on: index)
        self.maybeWriteMore(to: conversation, in: process, on: index)
        if self.chance.chance(perMille: 120) { self.phones[index].regrets.append(draft.clientMessageID) }
    }

    /// Makes a reply to the newest message of another person there.
    private func makeReply(_ draft: inout MessageDraft, on index: Int) {
        let (person, conversation) = (self.phones[index].person, draft.conversation)
        guard
            let answered = self.phones[index].disk.store.rows.messages.values.last(where: {
                $0.conversation == conversation && $0.message.sender != person
            })
        else { return }
        draft.objectName = .reference
        draft.content =
            JSONValue.members([
                ("referMsgUserId", .string(answered.message.sender.rawValue)),
                ("said", .string(draft.clientMessageID.rawValue)),
            ]).text
    }

    mutating func anyConversation(of index: Int) -> ConversationID {
        if self.chance.chance(perMille: Self.groupShare(of: self.people.count)), let group = self.drawn(self.groups) {
            return group
        }
        return ConversationID(type: .direct, target: self.anybody(but: index).rawValue)
    }

    mutating func anybody(but index: Int) -> UserID {
        let person = self.phones[index].person
        return self.drawn(self.people.filter { $0 != person }) ?? person
    }

    mutating func drawn<Value>(_ values: [Value]) -> Value? {
        values.isEmpty ? nil : values[Int(self.chance.number(0...Int64(values.count - 1)))]
    }

    private mutating func readConversation(_ index: Int) {
        guard let process = self.phones[index].core.process(of: Self.bundle),
            let (conversation, position) = self.drawn(self.phones[index].disk.store.rows.unreadConversations),
            !self.deletesNewest(in: process, on: index)
        else { return }
        self.appendTrace("person on phone \(index) reads \(conversation) to \(position)")
        self.handle(ClientEvent.markReadRequested(conversation, upTo: position), in: process, on: index)
    }

    // MARK: Healing

    /// From now on nothing breaks; everybody has network, after some minutes everybody looks at the app, and puts the
    /// phone away some minutes later. The final probe runs once no connection is alive in the background, in two
    /// parts: everybody is called, then reads on one phone; then everybody looks again.
    mutating func heal() {
        self.appendTrace("everything heals")
        self.hasHealed = true
        self.effectsToCrash = nil
        self.hangUpHostile()
        self.setAPNsFault(nil)
        self.healCredentials()
        self.healDisk()
        if self.clockSkew != 0 { self.setClock(0) }
        self.healPhones()
        self.plan(.openEverything, after: 600_000)
        self.plan(.endLook, after: 840_000)
        self.plan(.leaveEverything, after: 840_000)
        self.plan(.finalProbe, after: 1_080_000)
        self.plan(.finalProbeEnds, after: 1_140_000)
        self.plan(.readingProbeEnds, after: 1_260_000)
        self.plan(.openEverything, after: 1_260_000)
        self.plan(.leaveEverything, after: 1_320_000)
    }
}
