import OrderedCollections
import TidingsModel

// What the system is told of the person's own messages, for its suggestions (ios-delivery.md §11). What came is told with its notification.
extension ClientCore {
    /// A provider that never answers must not fill the memory.
    private static let unnamedMax = 100

    /// Suggestions show whom the person writes to, so they follow what notifications may say.
    private var donates: Bool {
        self.kitSettings.map { $0.usesCommunicationNotifications && $0.showsContent } ?? false
    }

    /// Once the server has accepted it.
    mutating func donate(_ message: Message, into effects: inout [ClientEffect]) {
        guard self.donates, let question = CommunicationForm.question(ofSent: message) else { return }
        if self.unnamedSent.count >= Self.unnamedMax { self.unnamedSent.removeFirst() }
        self.unnamedSent[message.id] = message
        effects.append(.nameSent(message.id, question))
    }

    /// The message may have been recalled meanwhile, or the person has left: then it is not there any more.
    mutating func sentNamed(_ id: MessageID, _ names: ResolvedNames, into effects: inout [ClientEffect]) {
        guard let message = self.unnamedSent.removeValue(forKey: id), self.donates, let kit = self.kitSettings,
            let form = CommunicationForm(sent: message, names: names, words: kit.words)
        else { return }
        effects.append(.donate(form))
    }

    mutating func forgetSent(_ message: MessageID) { self.unnamedSent.removeValue(forKey: message) }

    /// With hidden content nobody is suggested any more.
    mutating func deleteDonations(_ scope: DonationScope, into effects: inout [ClientEffect]) {
        switch scope {
        case .messages(let messages): for message in messages { self.unnamedSent.removeValue(forKey: message) }
        case .conversation(let conversation): self.unnamedSent.removeAll { $0.value.conversation == conversation }
        case .all: self.unnamedSent.removeAll()
        }
        guard self.kit?.usesCommunicationNotifications == true else { return }
        effects.append(.deleteDonations(scope))
    }

    /// `before` is nil in a new process: what an extension has donated since must go, too. A kit that is taken away has switched nothing off.
    mutating func kitConfigured(_ kit: KitSettings?, into effects: inout [ClientEffect]) {
        let before = self.kitSettings
        if before?.usesCommunicationNotifications == true, kit?.usesCommunicationNotifications == false {
            // By the earlier settings: an app that uses none has nothing deleted.
            self.deleteDonations(.all, into: &effects)
            self.kit = kit
            return
        }
        self.kit = kit
        guard self.kitSettings?.showsContent == false, before?.showsContent != false else { return }
        self.deleteDonations(.all, into: &effects)
    }
}
