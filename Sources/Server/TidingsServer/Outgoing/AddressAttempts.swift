import Foundation
import NIOCore

/// The addresses of one host, one after the other until one can be connected to. Each has a time of its own, so that one whose packets are
/// swallowed does not use up the time of the others.
struct AddressAttempts: Sendable {
    /// To connect to one of several.
    static let connectTimeMax: TimeAmount = .milliseconds(2_500)
    static let connectTimeMin: TimeAmount = .milliseconds(250)

    let deadline: NIODeadline
    private let now: @Sendable () -> NIODeadline

    init(until deadline: NIODeadline, now: @escaping @Sendable () -> NIODeadline = { .now() }) {
        self.deadline = deadline
        self.now = now
    }

    /// - Parameters:
    ///   - addresses: in the order in which they are tried.
    ///   - attempt: connects within the time it is given, and does what is to be done. Where it cannot connect the next address is tried;
    ///     whatever else it throws is the end, since something may have been sent.
    /// - Throws: what the last attempt has thrown, or `HTTPExchange.Fault.noAnswerInTime` without one.
    func first<Value: Sendable>(
        of addresses: [SocketAddress], _ attempt: (SocketAddress, TimeAmount) async throws -> Value
    ) async throws -> Value {
        var last: any Error = HTTPExchange.Fault.noAnswerInTime
        for (index, address) in addresses.enumerated() {
            let left = self.deadline - self.now()
            guard left > .nanoseconds(0) else { break }
            do {
                return try await attempt(address, Self.connectTime(of: left, addresses.count - index))
            } catch let fault where Self.isUnconnected(fault) {
                last = fault
            }
        }
        throw last
    }

    /// - Parameter count: how many addresses are left; the last one has all the time there is.
    static func connectTime(of left: TimeAmount, _ count: Int) -> TimeAmount {
        guard count > 1 else { return left }
        let share = TimeAmount.nanoseconds(left.nanoseconds / Int64(count))
        return min(left, max(Self.connectTimeMin, min(Self.connectTimeMax, share)))
    }

    /// Nothing was sent.
    private static func isUnconnected(_ error: any Error) -> Bool {
        switch error {
        case ChannelError.connectTimeout: true
        case let error as IOError: error.isUnreachable
        default: false
        }
    }
}

extension IOError {
    /// Nothing was sent.
    var isUnreachable: Bool {
        [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL].contains(self.errnoCode)
    }
}
