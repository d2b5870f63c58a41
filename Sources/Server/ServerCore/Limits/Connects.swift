import StoreModel
import TidingsModel

// Connections cost more than frames: a handshake, a token to be checked, a person to be loaded, a record of the sign-in.
extension ServerCore {
    /// Milliseconds until a sign-in refused because of others of the same person may be tried again.
    private static let signInWait: Int64 = 1_000

    /// `address` is empty if it is not known who is behind the connection.
    mutating func accept(_ session: SessionID, from address: String) {
        guard !address.isEmpty else { return }
        let buckets = self.turn.shares.addresses[address]
        for kind in [RateKind.connects, .failures] {
            let limit = self.turn.settings.limits[.address, kind]
            guard let wait = buckets.wait(kind, 1, limit, at: self.turn.now.monotonic) else { continue }
            self.turn.emit(.countRefusal(.address, kind))
            self.turn.emit(.turnAway(session, afterMilliseconds: wait))
            return
        }
        self.turn.shares.addresses.consume(
            .connects, 1, self.turn.settings.limits[.address, .connects], from: address, at: self.turn.now.monotonic)
    }

    mutating func admitHello(of device: DeviceKey) throws(ServerFrame.Problem) {
        let at = self.turn.now.monotonic
        let user = device.user
        // A person who is not in memory has connected so long ago that the bucket is full.
        let slot = self.slots[user]
        // Surplus devices are known only once they are signed in: while the store is slow, no more sign in than may stay.
        if let slot,
            Set(self.people[slot].state.signingIn).subtracting([device.device]).count
                >= self.turn.settings.devicesMax(in: user.app)
        {
            self.turn.emit(.countRefusal(.person, .connects))
            throw RateRefusal(scope: .person, kind: .connects, wait: Self.signInWait).problem("hello")
        }
        let limits = self.turn.settings.limits(of: user.app)
        for (scope, buckets) in [
            (RateScope.person, slot.map { self.people[$0].state.buckets }),
            (.app, self.turn.shares.apps[user.app]?.buckets),
        ] {
            guard let wait = buckets?.wait(.connects, 1, limits[scope, .connects], at: at) else {
                continue
            }
            self.turn.emit(.countRefusal(scope, .connects))
            throw RateRefusal(scope: scope, kind: .connects, wait: wait).problem("hello")
        }
        self.turn.shares.apps[user.app, default: .init()].buckets.consume(.connects, 1, limits[.app, .connects], at: at)
    }

    /// An expired token was good once; only a token that was never one of this server's counts as an attempt. One of a key that is looked for
    /// may be: nobody has seen its signature, and its sender chooses the key's name.
    mutating func countFailure(_ verdict: TokenVerdict, from address: String) {
        switch verdict {
        case .invalid, .wrongApp, .keyPending:
            guard !address.isEmpty else { return }
            self.turn.shares.addresses.consume(
                .failures, 1, self.turn.settings.limits[.address, .failures], from: address, at: self.turn.now.monotonic
            )
        case .valid, .expired, .notYetValid, .wrongAudience: return
        }
    }
}
