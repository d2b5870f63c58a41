import SwiftProtobuf
import TidingsModel

func checked<Value>(
    send: ClientMessageID? = nil, _ check: () throws(InvalidField) -> Value
) throws(FrameError) -> Value {
    do throws(InvalidField) { return try check() } catch { throw .invalid(error, send: send) }
}

/// Lays a fault at the door of the request with that number.
func numbered<Value>(_ number: RequestNumber?, _ read: () throws(FrameError) -> Value) throws(FrameError) -> Value {
    do throws(FrameError) { return try read() } catch {
        guard let number, case .invalid(let field, send: nil) = error else { throw error }
        throw .invalidRequest(field, number)
    }
}

func known<Word: RawRepresentable & CaseIterable>(
    _ text: String, field: String, send: ClientMessageID? = nil
) throws(FrameError) -> Word where Word.RawValue == String {
    if let word = Word(rawValue: text) { return word }
    let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
    throw .broken(field, "must be one of \(words)", send: send)
}

func messageID(_ text: String, field: String) throws(FrameError) -> MessageID {
    guard let id = MessageID(text) else {
        throw .broken(field, "must be 13 digits of Crockford's base 32")
    }
    return id
}

func sortedUsers(_ users: [String]) -> [UserID] { Set(users.map { UserID($0) }).sorted() }

extension WireConversation {
    init(_ conversation: ConversationID) {
        self.init()
        self.type = conversation.type.rawValue
        self.target = conversation.target
    }

    func model(field: String, send: ClientMessageID? = nil) throws(FrameError) -> ConversationID {
        let type: ConversationType = try known(self.type, field: "\(field).type", send: send)
        let target = try checked(send: send) { () throws(InvalidField) in
            try UserID.validated(self.target, field: "\(field).target")
        }
        return ConversationID(type: type, target: target.rawValue)
    }
}

extension WireMentions {
    init?(_ mentions: Mentions) {
        self.init()
        switch mentions {
        case .none: return nil
        case .users(let users): self.users = users.map(\.rawValue)
        case .everyone: self.everyone = true
        }
    }

    func model(send: ClientMessageID? = nil) throws(FrameError) -> Mentions {
        if self.users.isEmpty { return self.everyone ? .everyone : .none }
        guard !self.everyone else {
            throw .broken("mentions.users", "must be empty if everyone is mentioned", send: send)
        }
        return .users(sortedUsers(self.users))
    }
}

extension WireAction {
    init(_ action: ConversationAction) {
        self.init()
        switch action {
        case .create(let name, let portrait, let members):
            self.create = .with {
                $0.name = name
                if let portrait { $0.portrait = portrait }
                $0.members = members.map(\.rawValue)
            }
        case .add(let users): self.add = .with { $0.users = users.map(\.rawValue) }
        case .join: self.join = WireJoin()
        case .remove(let users): self.remove = .with { $0.users = users.map(\.rawValue) }
        case .leave: self.leave = WireLeave()
        case .rename(let name): self.rename = .with { $0.name = name }
        case .setPortrait(let portrait): self.setPortrait = .with { if let portrait { $0.portrait = portrait } }
        case .setRole(let user, let role):
            self.setRole = .with {
                $0.user = user.rawValue
                $0.role = role.rawValue
            }
        case .setNickname(let user, let nickname):
            self.setNickname = .with {
                $0.user = user.rawValue
                if let nickname { $0.nickname = nickname }
            }
        case .dissolve: self.dissolve = WireDissolve()
        case .ban(let users, let until):
            self.ban = .with {
                $0.users = users.map(\.rawValue)
                if let until { $0.until = until }
            }
        case .unban(let users): self.unban = .with { $0.users = users.map(\.rawValue) }
        case .mute(let users, let until):
            self.mute = .with {
                $0.users = users.map(\.rawValue)
                if let until { $0.until = until }
            }
        case .unmute(let users): self.unmute = .with { $0.users = users.map(\.rawValue) }
        case .setOnlyAdminsWrite(let isOn): self.onlyAdminsWrite = .with { $0.isOn = isOn }
        case .invite(let users, let name, let portrait):
            self.invite = .with {
                $0.users = users.map(\.rawValue)
                $0.name = name
                if let portrait { $0.portrait = portrait }
            }
        case .decline: self.decline = WireDecline()
        case .withdraw(let users): self.withdraw = .with { $0.users = users.map(\.rawValue) }
        }
    }

    /// nil for an action this build does not know.
    func model() throws(FrameError) -> ConversationAction? {
        switch self.action {
        case nil: return nil
        case .create(let create):
            return .create(
                name: create.name, portrait: create.hasPortrait ? create.portrait : nil,
                members: sortedUsers(create.members))
        case .add(let people): return .add(sortedUsers(people.users))
        case .join: return .join
        case .remove(let people): return .remove(sortedUsers(people.users))
        case .leave: return .leave
        case .rename(let rename): return .rename(rename.name)
        case .setPortrait(let portrait): return .setPortrait(portrait.hasPortrait ? portrait.portrait : nil)
        case .setRole(let role): return .setRole(UserID(role.user), try known(role.role, field: "role"))
        case .setNickname(let name): return .setNickname(UserID(name.user), name.hasNickname ? name.nickname : nil)
        case .dissolve: return .dissolve
        case .ban(let ban): return .ban(sortedUsers(ban.users), until: ban.hasUntil ? ban.until : nil)
        case .unban(let people): return .unban(sortedUsers(people.users))
        case .mute(let mute): return .mute(sortedUsers(mute.users), until: mute.hasUntil ? mute.until : nil)
        case .unmute(let people): return .unmute(sortedUsers(people.users))
        case .onlyAdminsWrite(let write): return .setOnlyAdminsWrite(write.isOn)
        case .invite(let invite):
            return .invite(
                sortedUsers(invite.users), name: invite.name, portrait: invite.hasPortrait ? invite.portrait : nil)
        case .decline: return .decline
        case .withdraw(let people): return .withdraw(sortedUsers(people.users))
        }
    }
}
