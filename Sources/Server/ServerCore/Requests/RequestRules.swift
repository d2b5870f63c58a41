import TidingsModel

// Checks before the store is asked; the store checks what only it knows (`StoreMachine`).
extension ServerCore {
    func checkRequest(_ request: ClientRequest, _ asked: Asked) throws(ServerFrame.Problem) {
        let app = asked.app
        if case .session = asked.requester, let field = request.ownName,
            !self.turn.settings.appsWithOwnProfiles.contains(app)
        {
            throw .init(code: .notAllowed, field: field, rule: "must be chosen by the app's backend")
        }
        do throws(InvalidField) {
            try request.validate()
            switch request {
            case .change(_, let action):
                try self.checkMemberCount(action.people.count, in: app)
            case .history(_, _, let limit):
                try InvalidField.check(Int(limit), in: 1...self.turn.settings.historyMax, "limit")
            case .enterRoom(_, let history):
                try InvalidField.check(Int(history), in: 0...self.turn.settings.historyMax, "history")
            case .registerVoIP(let registration):
                if let registration { try self.turn.settings.checkRegistration(registration, in: app, field: "") }
            case .recall, .edit, .delete, .setConversationSettings, .setConversationState, .setPersonSettings,
                .setBlocked, .conversation, .settings, .exitRoom, .receipts, .watch, .unwatch, .renewToken, .setProfile,
                .profiles, .devices, .signOutDevice, .setFollowing, .following, .setTags:
                break
            }
        } catch {
            throw ServerFrame.Problem(error)
        }
        if case .setTags(let tags) = request { try self.checkTags(tags, of: app, "tags") }
    }

    func checkMemberCount(_ memberCount: Int, in app: AppID) throws(InvalidField) {
        try InvalidField.check(memberCount, atMost: self.turn.settings.membersMax(in: app), "members")
    }
}

extension ClientRequest {
    /// The field with a person's name, if the request sets it.
    fileprivate var ownName: String? {
        switch self {
        case .setProfile: "profile"
        case .change(_, .setNickname): "nickname"
        case .change, .recall, .edit, .delete, .setConversationSettings, .setConversationState, .setPersonSettings,
            .setBlocked, .conversation, .settings, .history, .enterRoom, .exitRoom, .receipts, .watch, .unwatch,
            .renewToken, .profiles, .registerVoIP, .devices, .signOutDevice, .setFollowing, .following,
            .setTags:
            nil
        }
    }
}
