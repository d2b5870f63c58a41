import ClientCore
import TidingsAppGroup
import TidingsModel

// Sign-ins and sign-outs take turns, and a sign-out makes every sign-in begun before it void.
extension ChatClient {
    func enterGate() async {
        await withCheckedContinuation { continuation in
            let isFree = self.state.withLock { state in
                guard state.isGateHeld else {
                    state.isGateHeld = true
                    return true
                }
                state.gateWaiters.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func leaveGate() {
        let next = self.state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.gateWaiters.isEmpty else { return state.gateWaiters.removeFirst() }
            state.isGateHeld = false
            return nil
        }
        next?.resume()
    }

    func signIn(
        _ person: UserID, generation: UInt64, tokenProvider: @escaping ClientEngine.TokenProvider
    ) async throws -> ClientEngine {
        await self.enterGate()
        defer { self.leaveGate() }
        await self.resumePendingSignOut(unless: person)
        while true {
            let (isVoid, current) = self.state.withLock { ($0.generation != generation, $0.engine) }
            guard !isVoid else { throw ChatError.cancelled }
            if let current {
                if current.person == person { return current }
                self.state.withLock { if $0.engine === current { $0.engine = nil } }
                current.post(.disconnectRequested)
                await current.finish()
                self.failWakes()
                continue
            }
            await self.leaveAnonymousPerson(for: person)
            let isNew = self.isNewSignIn(person)
            let isAfterAnother = isNew && self.folders.lastSignIn != nil
            // Before the device id is drawn. A new installation has nothing to clear, and before iOS 10 clearing would remove a push
            // that has just come (`KitHostAdapter.removeScheduledTheOldWay`).
            let isFirst = !self.folders.hasDeviceID
            let isUnregistered = self.folders.isUnregistered(app: self.configuration.appKey)
            let parts: ClientEngine.Parts
            do { parts = try self.parts(for: person) } catch { throw ChatError.store(reason: "\(error)") }
            // This person must not see or answer what is left of the earlier one (design.md P7).
            if isNew, !isFirst {
                let managesBadge = self.state.withLock { $0.kit?.managesBadge ?? false }
                _ = await self.carryOut(.clearAll(showsZero: isAfterAnother && managesBadge))
            }
            let begun = self.state.withLock { state -> ClientEngine? in
                guard state.generation == generation, state.engine == nil else { return nil }
                // From an earlier process, unless this one has registered.
                if state.registration == nil, isUnregistered { state.isUnregistered = true }
                return self.makeEngine(person, with: parts, in: &state, tokenProvider: tokenProvider)
            }
            guard let begun else { continue }
            // Not under the lock: a fault of the app group is reported, and `report` takes the lock.
            begun.setKitSettings(self.state.withLock { $0.kit })
            begun.requestCenterWork(.recoverClaims)
            self.postPendingOpened(to: begun)
            return begun
        }
    }

    private func makeEngine(
        _ person: UserID, with parts: ClientEngine.Parts, in state: inout State,
        tokenProvider: @escaping ClientEngine.TokenProvider
    ) -> ClientEngine {
        let engine = ClientEngine(person: person, parts: parts, host: state.host, tokenProvider: tokenProvider)
        self.catchUp(engine, with: state)
        engine.post(.kitConfigured(state.kit))
        if state.registration != nil || state.isUnregistered {
            engine.post(.pushRegistrationSet(state.registration))
        }
        if let voIP = state.voIP { engine.post(.voIPRegistrationSet(voIP.registration)) }
        state.engine = engine
        state.hasRequested = false
        return engine
    }

    /// The app may have moved between foreground and background since the engine's core was made.
    func catchUp(_ engine: ClientEngine, with state: State) {
        guard state.isForeground != engine.parts.isForeground else { return }
        guard !state.isForeground else { return engine.post(.appWillEnterForeground) }
        let passed = self.clock.now.monotonic - state.backgroundSince
        engine.post(.appDidEnterBackground(remainingMilliseconds: state.backgroundRemaining.map { $0 - passed }))
    }

    /// Stores each token, so that a process in which nobody connects can still tell the server of a sign-out.
    func storingTokens(
        _ tokenProvider: @escaping ClientEngine.TokenProvider, of person: UserID, generation: UInt64
    ) -> ClientEngine.TokenProvider {
        { [weak self] in
            let token = try await tokenProvider()
            self?.storeToken(token, of: person, generation: generation)
            return token
        }
    }

    private func storeToken(_ token: String, of person: UserID, generation: UInt64) {
        let app = self.configuration.appKey
        let isCurrent = { self.state.withLock { $0.generation == generation && $0.engine?.person == person } }
        guard isCurrent() else { return }
        self.storing { try $0.keepToken(token, of: person, app: app) }
        // A sign-out meanwhile may have come before the file was there.
        if !isCurrent() { self.storing { try $0.forgetToken(of: person, app: app) } }
    }
}
