import OrderedCollections
import StoreModel
import TidingsModel

// Which messages name media. The rows only find the messages: what these say now is read from the journal.
extension StoreMachine {
    /// - Parameter author: who has written it from a device as the account that is its sender.
    func noteMedia(_ named: [MediaID], of message: Message, isBackend: Bool, by author: UserID?) {
        let writer = isBackend ? message.sender : author ?? message.sender
        for media in named {
            self.mediaTail.append(MediaMention(media: media, sender: writer, message: message.id))
            if isBackend { self.mediaTail.append(MediaMention(media: media, sender: "", message: message.id)) }
        }
    }

    func noteMedia(in edit: Edit, of accepted: JournalPosition) throws {
        let named = MediaID.named(in: edit.content)
        guard !named.isEmpty,
            let message = try self.accepted(edit.message, in: self.record(at: accepted), at: accepted)
        else { return }
        self.noteMedia(named, of: message.message, isBackend: message.isBackend, by: message.author)
    }

    func storeMediaUses(_ rows: inout Int) throws {
        let mentions = Array(self.mediaTail.prefix(max(0, rows)))
        for mention in mentions { try self.rows.put(.mediaUse(mention)) }
        self.mediaTail.removeFirst(mentions.count)
        rows -= mentions.count
    }

    func mediaUse(of media: MediaID, in id: MessageID, by key: UserKey, room: RoomAccess) throws -> MediaUse? {
        guard let accepted = try self.accepted(id, in: key.app), let use = try self.use(of: media, accepted) else {
            return nil
        }
        let person = try self.find(key)
        if let person, try self.isDeleted(id, by: person) { return nil }
        let conversation = accepted.message.conversation
        if conversation.type == .chatRoom {
            let standing = try self.standing(of: key.user, in: conversation, of: key.app, at: room.at)
            return StoreRules.refusal(toEnter: conversation, standing, room: room) == nil ? use : nil
        }
        guard let person, try self.entry(of: accepted, in: person) != nil else { return nil }
        return use
    }

    func mediaUses(of media: MediaID, by owner: UserID?, in app: AppID) throws -> [MediaUse] {
        let sender = owner ?? ""
        let stored = try self.rows.mediaUses(of: media, by: sender.rawValue)
        let recent = self.mediaTail.filter { $0.media == media && $0.sender == sender }.map(\.message)
        var list = MediaUseList()
        for message in Set(stored + recent).sorted(by: >) {
            guard let use = try self.use(of: media, by: message, in: app), !use.isPortrait else { continue }
            guard list.add(use) else { break }
        }
        let portrait = try owner.flatMap { owner in
            try self.find(UserKey(app: app, user: owner)).flatMap {
                MediaUse(portrait: media, of: UserProfile(owner, $0.profile))
            }
        }
        return (portrait.map { [$0] } ?? []) + list.uses
    }

    /// By a message, or by a push job for all of its messages.
    private func use(of media: MediaID, by id: MessageID, in app: AppID) throws -> MediaUse? {
        if let push = try self.push(id, of: app) { return push.job.use(of: media) }
        return try self.accepted(id, in: app).flatMap { try self.use(of: media, $0) }
    }

    /// Nil if the message was recalled, or neither names the media any more nor is from the person whose portrait it is.
    private func use(of media: MediaID, _ accepted: AcceptedMessage) throws -> MediaUse? {
        let message = accepted.message
        let revision = try self.revision(of: message.id)
        guard revision.recalled == 0 else { return nil }
        // An edit says everything anew; the image of the notification is none of it.
        let named = try self.editedContent(revision).map { MediaID.named(in: $0) } ?? message.namedMedia
        var use = MediaUse(
            message: message.id, sender: accepted.writer, isBackend: accepted.isBackend, expiresAt: message.expiresAt)
        guard !named.contains(media) else { return use }
        use.isPortrait = try self.names(of: message).portrait == media.reference
        use.sender = message.sender
        return use.isPortrait ? use : nil
    }
}
