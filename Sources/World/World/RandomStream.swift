/// Where what happens to a World from outside is drawn. Each has random streams of its own, one for each draw, so that leaving out what
/// one does changes nothing of what the others draw.
package enum RandomStream: Hashable, Sendable {
    /// Who owns which phone, and when people begin.
    case setup
    case swarm
    case server
    /// The faults of the rows under the server's store.
    case store
    case apns
    case backend
    case otherTenant
    case hostile
    /// The names of people and groups.
    case names
    /// The events about accounts.
    case accounts
    /// Whom the backend pushes to, and what it makes of that.
    case pushes
    /// The events about the app's push credentials.
    case credentials
    /// Which HTTP requests of the app's backend come twice.
    case gateway
    case person(Int)
    case signIn(Int)
    case network(Int)
    /// Between Apple and a phone.
    case radio(Int)
    /// Which connections of a phone are slow.
    case link(Int)
    /// Which connections a phone does not read for a while.
    case reader(Int)
    case http(Int)
    case pushExtension(Int)
    case app(Int)
    /// Who clears what the kit of a phone has shown, before the server is told.
    case dismissal(Int)
    /// No fault: how long the processes of a phone take.
    case phone(Int)
    /// No fault: how long the server's disk takes, and how long a server takes to start.
    case disk
    /// No fault: how long requests and answers take between the server and Apple.
    case appleNetwork
    /// No fault: the jitter of the server's APNs clients.
    case pool

    private var parts: (name: String, number: UInt64, phone: Int?) {
        switch self {
        case .setup: ("everybody", 0, nil)
        case .server: ("server", 1, nil)
        case .apns: ("apns", 2, nil)
        case .backend: ("backend", 3, nil)
        case .disk: ("disk", 4, nil)
        case .appleNetwork: ("apple-network", 5, nil)
        case .swarm: ("swarm", 6, nil)
        case .gateway: ("gateway", 7, nil)
        case .otherTenant: ("other tenant", 8, nil)
        case .pool: ("pool", 9, nil)
        case .hostile: ("hostile", 10, nil)
        case .names: ("names", 11, nil)
        case .accounts: ("accounts", 12, nil)
        case .pushes: ("pushes", 13, nil)
        case .credentials: ("credentials", 14, nil)
        case .store: ("store", 15, nil)
        case .person(let phone): ("person", 16, phone)
        case .network(let phone): ("network", 17, phone)
        case .radio(let phone): ("radio", 18, phone)
        case .phone(let phone): ("phone", 19, phone)
        case .signIn(let phone): ("sign-in", 20, phone)
        case .link(let phone): ("link", 21, phone)
        case .http(let phone): ("http", 22, phone)
        case .pushExtension(let phone): ("extension", 23, phone)
        // The eight of a phone are taken: behind those of all phones there may be.
        case .app(let phone): ("app", 16_384, phone)
        case .dismissal(let phone): ("dismissal", 32_768, phone)
        case .reader(let phone): ("reader", 49_152, phone)
        }
    }

    var number: UInt64 {
        let (_, first, phone) = self.parts
        return first + (first < 16_384 ? 8 : 1) * UInt64(phone ?? 0)
    }

    var phone: Int? { self.parts.phone }

    /// Nil for another text, and for a stream of which no outside event is drawn.
    init?(_ text: Substring) {
        let withoutPhone: [Self] = [
            .server, .store, .apns, .backend, .gateway, .otherTenant, .hostile, .names, .accounts, .pushes,
            .credentials,
        ]
        let ofPhone: [(Int) -> Self] = [
            Self.person, Self.network, Self.radio, Self.link, Self.http, Self.pushExtension, Self.app, Self.dismissal,
            Self.reader,
        ]
        let phone = text.lastIndex(of: "-").flatMap { Int(text[text.index(after: $0)...]) } ?? -1
        let all = withoutPhone + ((0..<1_000).contains(phone) ? ofPhone.map { $0(phone) } : [])
        guard let stream = all.first(where: { $0.description == text }) else { return nil }
        self = stream
    }
}

extension RandomStream: CustomStringConvertible {
    /// `server`, or with the phone's number `person-3`.
    package var description: String {
        let (name, _, phone) = self.parts
        return phone.map { "\(name)-\($0)" } ?? name
    }
}

/// Something that comes to a World from outside: an act of a person or the backend, a crash, a fault. Its number stays the same in a
/// run in which others are left out.
package struct OutsideEvent: Hashable, Sendable, CustomStringConvertible {
    package var stream: RandomStream
    /// How many draws the stream had before; for a network, how many connections it has broken.
    package var draw: Int

    package init(_ stream: RandomStream, draw: Int) {
        self.stream = stream
        self.draw = draw
    }

    package init?(_ text: some StringProtocol) {
        let parts = Substring(text).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let stream = RandomStream(parts[0]), let draw = Int(parts[1]), draw >= 0 else {
            return nil
        }
        self.init(stream, draw: draw)
    }

    /// `person-3/17`.
    package var description: String { "\(self.stream)/\(self.draw)" }
}

package struct Happening: Hashable, Sendable {
    package var event: OutsideEvent
    /// In milliseconds since the beginning.
    package var at: Int64
}
