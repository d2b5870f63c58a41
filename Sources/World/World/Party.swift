/// Whoever does something to a world from outside. Each party draws from streams of its own, so that leaving out what one does
/// changes nothing of what the others draw.
package enum Party: Hashable, Sendable {
    /// Who owns which phone, and when people begin.
    case setup
    /// Which faults and which people there are.
    case swarm
    /// What crashes the server.
    case server
    /// What ails Apple.
    case apns
    /// The app's backend.
    case backend
    /// Another app on the same server.
    case otherTenant
    /// People with clients of their own, who mean ill.
    case hostile
    /// Whoever holds a phone, by the phone's number from 0 on.
    case person(Int)
    /// Who signs in on a phone on which nobody is.
    case signIn(Int)
    /// The network between a phone and the server.
    case network(Int)
    /// The air between Apple and a phone.
    case air(Int)
    /// Which connections of a phone are on a slow link.
    case link(Int)
    /// What happens to the HTTP requests of a phone's extension.
    case http(Int)
    /// What happens to a phone's extension while it has a push.
    case pushExtension(Int)
    /// Which calls of the system the app on a phone never answers.
    case app(Int)
    /// Which HTTP requests of the app's backend come twice.
    case gateway
    /// What is no fault: how long the processes of a phone take.
    case phone(Int)
    /// What is no fault: how long the server's disk takes, and how long a server takes to start.
    case disk
    /// What is no fault: how long requests and answers take between the server and Apple.
    case road
    /// What is no fault: the jitter of the server's APNs client.
    case pool

    /// The number of its streams.
    var stream: UInt64 {
        switch self {
        case .setup: 0
        case .swarm: 6
        case .server: 1
        case .apns: 2
        case .backend: 3
        case .disk: 4
        case .road: 5
        case .gateway: 7
        case .otherTenant: 8
        case .pool: 9
        case .hostile: 10
        case .person(let phone): 16 + 8 * UInt64(phone)
        case .signIn(let phone): 20 + 8 * UInt64(phone)
        case .network(let phone): 17 + 8 * UInt64(phone)
        case .air(let phone): 18 + 8 * UInt64(phone)
        case .phone(let phone): 19 + 8 * UInt64(phone)
        case .link(let phone): 21 + 8 * UInt64(phone)
        case .http(let phone): 22 + 8 * UInt64(phone)
        case .pushExtension(let phone): 23 + 8 * UInt64(phone)
        // The eight of a phone are taken: behind those of all phones there may be.
        case .app(let phone): 16_384 + UInt64(phone)
        }
    }
}

extension Party: CustomStringConvertible {
    /// `server`, or with the phone's number `person-3`.
    package var description: String {
        switch self {
        case .setup: "everybody"
        case .swarm: "swarm"
        case .server: "server"
        case .apns: "apns"
        case .backend: "backend"
        case .otherTenant: "other tenant"
        case .hostile: "hostile"
        case .disk: "disk"
        case .road: "road"
        case .pool: "pool"
        case .person(let phone): "person-\(phone)"
        case .signIn(let phone): "sign-in-\(phone)"
        case .network(let phone): "network-\(phone)"
        case .air(let phone): "air-\(phone)"
        case .link(let phone): "link-\(phone)"
        case .http(let phone): "http-\(phone)"
        case .pushExtension(let phone): "extension-\(phone)"
        case .app(let phone): "app-\(phone)"
        case .gateway: "gateway"
        case .phone(let phone): "phone-\(phone)"
        }
    }

    /// A party that does something from outside, by its description; nil for another text.
    init?(_ text: Substring) {
        switch text {
        case "server": self = .server
        case "apns": self = .apns
        case "backend": self = .backend
        case "gateway": self = .gateway
        case "other tenant": self = .otherTenant
        case "hostile": self = .hostile
        default:
            guard let mark = text.lastIndex(of: "-"), let phone = Int(text[text.index(after: mark)...]),
                (0..<1_000).contains(phone)
            else { return nil }
            switch text[..<mark] {
            case "person": self = .person(phone)
            case "network": self = .network(phone)
            case "air": self = .air(phone)
            case "link": self = .link(phone)
            case "http": self = .http(phone)
            case "extension": self = .pushExtension(phone)
            case "app": self = .app(phone)
            default: return nil
            }
        }
    }

    /// The phone it is about; nil if it is about none.
    var phone: Int? {
        switch self {
        case .setup, .swarm, .server, .apns, .backend, .disk, .road, .pool, .gateway, .otherTenant, .hostile: nil
        case .person(let phone), .signIn(let phone), .network(let phone), .air(let phone), .phone(let phone),
            .link(let phone), .http(let phone), .pushExtension(let phone), .app(let phone):
            phone
        }
    }
}

/// Something that comes to a world from outside: an act of a person or the backend, a crash, a fault. Its number stays the same in
/// a run in which others are left out.
package struct OutsideEvent: Hashable, Sendable, CustomStringConvertible {
    /// Whose doing it is.
    package var party: Party
    /// How many turns the party had before; for a network, how many connections it has broken.
    package var turn: Int

    /// The event of a party's turn.
    package init(_ party: Party, turn: Int) {
        self.party = party
        self.turn = turn
    }

    /// An event by its description; nil for another text.
    package init?(_ text: some StringProtocol) {
        let parts = Substring(text).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let party = Party(parts[0]), let turn = Int(parts[1]), turn >= 0 else { return nil }
        self.init(party, turn: turn)
    }

    /// `person-3/17`.
    package var description: String { "\(self.party)/\(self.turn)" }
}

/// An outside event that has happened, and when, in milliseconds since the beginning.
package struct Happening: Hashable, Sendable {
    /// What happened.
    package var event: OutsideEvent
    /// When.
    package var at: Int64
}
