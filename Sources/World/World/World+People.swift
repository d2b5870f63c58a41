import APNsCore
import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

// People: they write, read, put the phone away, and things happen to the phone.
extension World {
    mutating func act(_ index: Int) {
        guard !self.hasHealed else { return }
        self.plan(.personActs(index), after: self.chance.number(2_000...60_000))
        guard !self.chance.chance(perMille: self.options.faults.phone) else { return self.mishap(index) }
        let core = self.phones[index].core
        if core.screen.permissionPrompt != nil {
            return self.handle(PhoneEvent.person(.permissionAnswered(allowed: true)), on: index)
        }
        let isInFront = core.state(of: Self.bundle)?.isInFront == true
        switch (isInFront, self.chance.number(0...9)) {
        case (true, 0...4): self.write(index)
        case (true, 5...6): self.read(index)
        case (true, 7): self.handle(PhoneEvent.person(.locked), on: index)
        case (true, _): self.handle(PhoneEvent.person(.wentHome), on: index)
        case (false, 0...3):
            self.handle(PhoneEvent.person(.appOpened(Self.bundle)), on: index)
        case (false, 4...5):
            guard let entry = core.screen.list.first else { return }
            self.handle(PhoneEvent.person(.notificationTapped(entry.key)), on: index)
        case (false, 6):
            guard let entry = core.screen.list.last else { return }
            self.handle(PhoneEvent.person(.notificationDismissed(entry.key)), on: index)
        case (false, _): break
        }
    }

    private mutating func write(_ index: Int) {
        guard let process = self.phones[index].core.process(of: Self.bundle) else { return }
        var target = Int(self.chance.number(0...Int64(self.phones.count - 2)))
        if target >= index { target += 1 }
        let name = "m\(index)-\(self.time)"
        let draft = MessageDraft(
            clientMessageID: ClientMessageID(name), conversation: ConversationID(type: .direct, target: "p\(target)"),
            objectName: .text, content: JSONValue.members([("content", .string(name))]).text)
        self.note("person \(index) writes \(name) to \(target)")
        self.handle(ClientEvent.sendWished(draft), in: process, on: index)
    }

    private mutating func read(_ index: Int) {
        guard let process = self.phones[index].core.process(of: Self.bundle),
            let (conversation, position) = self.phones[index].disk.newestUnread
        else { return }
        self.note("person \(index) reads \(conversation) to \(position)")
        self.handle(ClientEvent.markReadWished(conversation, upTo: position), in: process, on: index)
    }

    private mutating func mishap(_ index: Int) {
        let number = self.chance.number(0...5)
        self.note("mishap \(number) on phone \(index)")
        switch number {
        case 0: self.handle(PhoneEvent.system(.appFrozen(Self.bundle)), on: index)
        case 1: self.handle(PhoneEvent.system(.appKilled(Self.bundle)), on: index)
        case 2: self.handle(PhoneEvent.person(.appForceQuit(Self.bundle)), on: index)
        case 3: self.handle(PhoneEvent.system(.memoryRanLow), on: index)
        default:
            self.handle(PhoneEvent.person(.airplaneModeChanged(isOn: true)), on: index)
            self.plan(
                .phone(index, .person(.airplaneModeChanged(isOn: false))), after: self.chance.number(5_000...180_000))
        }
    }

    /// From now on nothing breaks; everybody has network, and after some minutes everybody looks at the app.
    mutating func heal() {
        self.note("everything heals")
        self.hasHealed = true
        self.effectsToCrash = nil
        self.handle(APNsService.Event.faultsChanged(FaultPlan()))
        for index in self.phones.indices {
            self.handle(PhoneEvent.person(.airplaneModeChanged(isOn: false)), on: index)
            if self.phones[index].core.screen.permissionPrompt != nil {
                self.handle(PhoneEvent.person(.permissionAnswered(allowed: true)), on: index)
            }
        }
        self.plan(.openEverything, after: 600_000)
    }
}
