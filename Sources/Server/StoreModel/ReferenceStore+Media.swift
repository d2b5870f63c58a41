import TidingsModel

// What messages say about media that lie elsewhere.
extension ReferenceStore {
    func mediaUse(of media: MediaID, in id: MessageID, by key: UserKey, room: RoomAccess) -> MediaUse? {
        guard let accepted = self.messages[id], accepted.message.app == key.app,
            let use = self.use(of: media, accepted),
            self.people.read(key, { $0.deleted.contains(id) }) != true
        else { return nil }
        let conversation = accepted.message.conversation
        if conversation.type == .chatRoom {
            let standing = self.standing(of: key.user, in: conversation, of: key.app, at: room.at)
            guard StoreRules.refusal(toEnter: conversation, standing, room: room) == nil else { return nil }
        } else {
            guard accepted.deliveries.contains(where: { $0.user == key.user }) else { return nil }
        }
        return use
    }

    /// Nil if the message was recalled, or neither names the file nor is from somebody whose portrait it is.
    private func use(of media: MediaID, _ accepted: Accepted) -> MediaUse? {
        if accepted.names(media) { return accepted.use }
        let portrait = self.profile(of: accepted.message.sender, in: accepted.message.app).profile.portrait
        guard !accepted.isRecalled, portrait == media.reference else { return nil }
        var use = accepted.use
        use.isPortrait = true
        use.sender = accepted.message.sender
        return use
    }

    func mediaUses(of media: MediaID, by owner: UserID?, in app: AppID) -> [MediaUse] {
        // Of a job's messages its one template speaks, but for those that were edited.
        // tidy: order does not leave: they are sorted with those of jobs
        let single = self.messages.values.filter {
            $0.message.app == app && ($0.message.pushJob == nil || $0.content != nil) && $0.names(media)
        }.map(\.use)
        // tidy: order does not leave: as above
        let pushes = self.pushes.values.map(\.job).filter { $0.app == app }.compactMap { $0.use(of: media) }
        let uses = (single + pushes).filter { $0.isBy(owner) }.sorted { $0.message > $1.message }
        let portrait = owner.flatMap { MediaUse(portrait: media, of: self.profile(of: $0, in: app)) }
        var list = MediaUseList()
        for use in uses { guard list.add(use) else { break } }
        return (portrait.map { [$0] } ?? []) + list.uses
    }
}

extension ReferenceStore.Accepted {
    fileprivate func names(_ media: MediaID) -> Bool {
        !self.isRecalled && self.message.namedMedia.contains(media)
    }

    fileprivate var use: MediaUse {
        MediaUse(
            message: self.message.id, sender: self.writer, isBackend: self.device == nil,
            expiresAt: self.message.expiresAt)
    }
}
