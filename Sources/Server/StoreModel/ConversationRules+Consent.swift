package import TidingsModel

/// One change of a conversation that a store has made, and the entries that tell of it, sorted by person.
package struct MadeChange: Hashable, Sendable {
    package var change: ConversationChange
    package var deliveries: [Delivery]

    package init(_ change: ConversationChange, _ deliveries: [Delivery] = []) {
        self.change = change
        self.deliveries = deliveries
    }
}

/// The kind of list of people who are not, or not fully, in a conversation.
package enum RestrictionKind: Hashable, Sendable {
    case bans
    case mutes
    case invitations
}

// Who may not be made a member without their consent is invited instead (docs/inside/decisions/0034-consent.md).
extension ConversationRules {
    /// The changes that carry out what was decided, in order, and who of those it names is asked first, sorted.
    package struct Plan: Hashable, Sendable {
        package var actions: [ConversationAction]
        package var invited: [UserID] = []
    }

    /// The app's backend asks nobody, and a chat room gives its members nothing that they would have to be asked for.
    ///
    /// - Parameters:
    ///   - action: what `decide` has decided.
    ///   - mayAdd: returns true if a person lets the actor add them.
    package static func plan(
        _ action: ConversationAction, of operation: ConversationOperation, known: StoredConversation?,
        mayAdd: (_ user: UserID, _ actor: UserID) throws -> Bool
    ) rethrows -> Result<Plan, ServerFrame.Problem> {
        if action == .dissolve, let known, !known.invited.isEmpty {
            return .success(Plan(actions: [.withdraw(known.invited.map(\.user)), .dissolve]))
        }
        guard let actor = operation.actor, operation.conversation.type != .chatRoom else {
            return .success(Plan(actions: [action]))
        }
        let asked: [UserID]
        var plan = Plan(actions: [])
        var group: (name: String, portrait: String?)
        switch action {
        case .add(let users):
            asked = try users.filter { try !mayAdd($0, actor) }
            let added = users.filter { !asked.contains($0) }
            if !added.isEmpty { plan.actions.append(.add(added)) }
            group = (known?.record.name ?? "", known?.record.portrait)
        case .create(let name, let portrait, let members):
            asked = try members.filter { try !mayAdd($0, actor) }
            plan.actions.append(
                .create(name: name, portrait: portrait, members: members.filter { !asked.contains($0) }))
            group = (name, portrait)
        case .join, .remove, .leave, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .ban, .unban, .mute,
            .unmute, .setOnlyAdminsWrite, .invite, .decline, .withdraw:
            return .success(Plan(actions: [action]))
        }
        let earlier = known?.invited ?? []
        let new = asked.filter { user in !earlier.contains { $0.user == user } }
        guard earlier.count + new.count <= Self.invitedMax else {
            let rule = "must leave at most \(Self.invitedMax) people invited, got \(earlier.count + new.count)"
            return .failure(.init(code: .invalidField, field: "users", rule: rule))
        }
        if !new.isEmpty { plan.actions.append(.invite(new, name: group.name, portrait: group.portrait)) }
        plan.invited = asked
        return .success(plan)
    }

    /// Returns true if a person lets the actor add them.
    ///
    /// - Parameter hasWritten: whether the person has written to them, one to one.
    package static func mayAdd(
        _ settings: PersonSettings, hasWritten: @autoclosure () throws -> Bool
    ) rethrows -> Bool {
        switch settings.mayBeAddedBy ?? .everybody {
        case .everybody: true
        case .contacts: try hasWritten()
        case .nobody: false
        }
    }
}
