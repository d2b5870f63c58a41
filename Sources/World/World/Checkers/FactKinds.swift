import StoreModel

/// The kind of a fact. A fact that the store has carried out has the kind of the command, whatever the result.
enum FactKind: UInt64, CaseIterable {
    // What the store has carried out.
    /// Pushes to audiences come with custom messages: there is room for 64 kinds.
    case accept, acceptCustom, recall, edit, delete, change, markRead
    case set
    /// Names of people and accounts; which accounts there are, and who follows them.
    case named
    case signIn, signOut, setPushState, advance, keepLeg, endLeg
    /// Questions, receipts and object names: no promise is about them.
    case askStore
    case otherTenantStored

    // The server.
    case heard, clockSet, wrongEnvironment, serverStarted, pushed, pool, otherTenantNotified, apiAccepted, hostile

    // A person and the app they look at.
    case written, acknowledged, refused, asked, answered, tapped, disturbed, appStarted, appEnded, opened, refusedWrite,
        tokenEnded
    case signedIn, signedOut

    // The SDK on a phone.
    case stored, applied, passedGate, posted, nameless, extended, extendedForAnother, unextended, toldMissed, told,
        fetched,
        handedOver, rangInForeground

    // The phone.
    case presented, shown, lacks, away, moved, held, wakeHeld, probeEnded
    case measured, looked, reached
}

struct FactKinds: OptionSet {
    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }

    init(_ kinds: FactKind...) {
        self.rawValue = kinds.reduce(0) { $0 | 1 << $1.rawValue }
    }

    static let all = FactKinds(rawValue: .max)

    func contains(_ kind: FactKind) -> Bool { self.rawValue & 1 << kind.rawValue != 0 }
}

extension Fact {
    // tidy: long because it is one case per fact.
    var kind: FactKind {
        switch self {
        case .committed(let command, _): command.app == World.app ? command.kind : .otherTenantStored
        case .heard: .heard
        case .clockSet: .clockSet
        case .wrongEnvironment, .tokenRefused: .wrongEnvironment
        case .serverStarted: .serverStarted
        case .pushed: .pushed
        case .pool: .pool
        case .otherTenantNotified, .toldProfiles: .otherTenantNotified
        case .apiAccepted: .apiAccepted
        case .hostile: .hostile
        case .written: .written
        case .acknowledged: .acknowledged
        case .refused: .refused
        case .asked: .asked
        case .answered: .answered
        case .tapped: .tapped
        case .disturbed: .disturbed
        case .appStarted: .appStarted
        case .appEnded, .appKilled: .appEnded
        case .opened: .opened
        case .refusedWrite: .refusedWrite
        case .tokenEnded: .tokenEnded
        case .signedIn: .signedIn
        case .signedOut: .signedOut
        case .stored: .stored
        case .applied: .applied
        case .passedGate: .passedGate
        case .posted: .posted
        case .nameless: .nameless
        case .extended: .extended
        // There is room for 64 kinds: what is seldom and alike shares one.
        case .extendedForAnother, .reduced: .extendedForAnother
        case .unextended: .unextended
        case .toldMissed: .toldMissed
        case .told: .told
        case .rangInForeground: .rangInForeground
        case .fetched: .fetched
        case .handedOver: .handedOver
        case .presented: .presented
        case .shown, .exposed: .shown
        case .lacksLevels, .lacksNames, .unsilenced: .lacks
        case .away: .away
        case .moved: .moved
        case .held: .held
        case .wakeHeld: .wakeHeld
        case .finalProbeEnded, .readingProbeEnded: .probeEnded
        case .measured: .measured
        case .looked: .looked
        case .reached: .reached
        }
    }
}

extension StoreCommand {
    fileprivate var kind: FactKind {
        switch self {
        case .accept: .accept
        case .acceptCustom, .createPush, .stepPush, .changePush, .setLabels: .acceptCustom
        case .recall: .recall
        case .edit: .edit
        case .delete: .delete
        case .change, .putConversation: .change
        case .markRead: .markRead
        case .setProfiles, .setAccount, .putAccount, .setFollowing: .named
        case .setConversationSettings, .setConversationState, .endLevel, .setPersonSettings, .setBlocked: .set
        case .signIn: .signIn
        case .signOut: .signOut
        case .setPushState: .setPushState
        case .advance: .advance
        case .keepLeg: .keepLeg
        case .endLeg: .endLeg
        case .once(_, let command): command.kind
        // Calls are no promise of the World: they bypass log, legs and verdict. Nor does its backend bring tokens.
        default: .askStore  // tidy: questions, and what no promise is about
        }
    }
}
