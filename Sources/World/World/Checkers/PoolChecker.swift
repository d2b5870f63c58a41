// The server's APNs client ends each request once, within 30 seconds, as what became of it with Apple. A request that
// Apple has accepted is never told to be refused or not sent, and never sent again; only such a request is told to be
// accepted. And no push is given to a client whose credential is not active, or has expired.
import OrderedCollections
import StoreModel
import TidingsModel

/// A fact about a request of one of the server's APNs clients, by the clients' number of it; no number is used twice.
enum PoolFact: Hashable {
    case asked(UInt64, by: String? = nil)
    case taken(UInt64)
    case ended(UInt64, PoolEnd)
    /// The server's process has ended, and with it the clients.
    case lost
    /// The credentials that the server may push with from now on.
    case active([PushCredentialRecord])
}

enum PoolEnd: String, Hashable, CaseIterable {
    case accepted
    case refused
    case unknown
    case notSent
}

struct PoolChecker: Checker {
    /// How long the client may keep a request, in milliseconds: its default.
    static let deadline: Int64 = 30_000

    static let kinds = FactKinds(.pool, .measured)

    private struct Request: Hashable {
        var at: Int64
        var isTaken = false
    }

    private var open: OrderedDictionary<UInt64, Request> = [:]
    private var active: [PushCredentialRecord] = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .pool(.asked(let number, let credential)):
            if let credential, !self.isGood(credential, at: state.now.wall) {
                findings.add("push client", "request \(number) was asked of \(credential), which is not active")
            }
            if self.open.updateValue(Request(at: state.now.monotonic), forKey: number) != nil {
                findings.add("push client", "request \(number) was asked for twice")
            }
        case .pool(.taken(let number)):
            guard let request = self.open[number] else { return }
            if request.isTaken {
                findings.add("push client", "request \(number) was sent again after Apple had taken it")
            }
            self.open[number]?.isTaken = true
        case .pool(.ended(let number, let end)): self.end(number, end, state.now.monotonic, into: &findings)
        case .pool(.lost): self.open = [:]
        case .pool(.active(let records)): self.active = records
        case .measured(let load):
            guard !load.pools.isEmpty else { return }
            if load.poolRequests != self.open.count {
                findings.add("push client", "\(load.poolRequests) requests are open, \(self.open.count) have no end")
            }
            // In the order they were asked for.
            if let (number, request) = self.open.elements.first, state.now.monotonic > request.at + Self.deadline {
                findings.add("push client", "request \(number) has no end after \(state.now.monotonic - request.at) ms")
            }
        default: break  // tidy: the other facts are other promises'
        }
    }

    private func isGood(_ credential: String, at wall: Int64) -> Bool {
        self.active.contains { $0.id == credential && !$0.isExpired(at: wall) }
    }

    private mutating func end(_ number: UInt64, _ end: PoolEnd, _ now: Int64, into findings: inout Findings) {
        guard let request = self.open.removeValue(forKey: number) else {
            return findings.add("push client", "request \(number) ended as \(end) and was not open")
        }
        if now > request.at + Self.deadline {
            findings.add("push client", "request \(number) ended after \(now - request.at) ms")
        }
        switch (end, request.isTaken) {
        case (.accepted, false): findings.add("push client", "request \(number) ended as accepted and was not")
        case (.refused, true), (.notSent, true):
            findings.add("push client", "request \(number) ended as \(end), and Apple has taken it")
        case (.accepted, true), (.refused, false), (.notSent, false), (.unknown, _): break
        }
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        for number in self.open.keys { findings.add("push client", "request \(number) never ended") }
    }
}
