/// Whoever does something to a world from outside. Each party draws from streams of its own, so that leaving out what one does
/// changes nothing of what the others draw.
package enum Party: Hashable, Sendable {
    /// Who owns which phone, and when people begin.
    case setup
    /// What crashes the server.
    case server
    /// What ails Apple.
    case apns
    /// The app's backend.
    case backend
    /// Whoever holds a phone, by the phone's number from 0 on.
    case person(Int)
    /// Who signs in on a phone on which nobody is.
    case signIn(Int)
    /// The network between a phone and the server.
    case network(Int)
    /// The air between Apple and a phone.
    case air(Int)
    /// What is no fault: how long the processes of a phone take.
    case phone(Int)
    /// What is no fault: how long the server's disk takes, and how long a server takes to start.
    case disk
    /// What is no fault: how long requests and answers take between the server and Apple.
    case road

    /// The number of its streams.
    var stream: UInt64 {
        switch self {
        case .setup: 0
        case .server: 1
        case .apns: 2
        case .backend: 3
        case .disk: 4
        case .road: 5
        case .person(let phone): 16 + 8 * UInt64(phone)
        case .signIn(let phone): 20 + 8 * UInt64(phone)
        case .network(let phone): 17 + 8 * UInt64(phone)
        case .air(let phone): 18 + 8 * UInt64(phone)
        case .phone(let phone): 19 + 8 * UInt64(phone)
        }
    }
}
