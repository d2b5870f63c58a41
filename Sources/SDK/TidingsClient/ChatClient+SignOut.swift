import ClientCore
import Foundation
import TidingsAppGroup
import TidingsModel

// Signing out, also while the server cannot be reached: the client, or a later process, repeats it until the server has
// confirmed (design.md P7).
extension ChatClient {
    /// How long `signOut` waits for a connected server; the pending sign-out outlives the wait.
    static let signOutWaitMilliseconds: Int64 = 2_000

    /// Signs the person out on this device: no more pushes, and everything of the person is forgotten here, also that of the
    /// person who signed in in an earlier process. Until the server has confirmed, it is told again at every chance; the app
    /// group holds nobody from now on, so that the extension strips every push. A `connect` under way ends with
    /// `ChatError.cancelled`. Connected, it waits up to two seconds for the server.
    public func signOut() async {
        let wasConnected = self.state.withLock { state in
            state.generation += 1
            return state.status == .connected
        }
        await self.enterGate()
        let engine = self.state.exchange(\.engine, nil)
        if let engine { await self.signOut(engine) } else { await self.forgetSignedIn() }
        self.leaveGate()
        if let engine, wasConnected { await self.waitForSignOut(of: engine.person) }
    }

    private func signOut(_ engine: ClientEngine) async {
        engine.mute()
        await engine.signOut()
        self.failWakes()
        self.storing { try $0.forgetSignIn(app: self.configuration.appKey) }
        let (isLeaving, earlier) = self.state.withLock { state -> (Bool, ClientEngine?) in
            guard state.pendingSignOut?.person == engine.person else { return (false, nil) }
            defer { state.leaving = engine }
            return (true, state.leaving)
        }
        await earlier?.finish()
        if !isLeaving { await engine.finish() }
        self.publishStatus(.disconnected)
    }

    /// Nobody has connected in this process: clears what an earlier one left of its person.
    private func forgetSignedIn() async {
        // A token that cannot be deleted is replaced by the next connect, and worthless after the sign-out.
        try? self.tokens?.write(nil)
        if let folder = self.configuration.resolvedAppGroupFolder {
            let words = self.configuration.words
            do {
                try AppGroup(
                    folder: folder, identifier: self.configuration.appGroupIdentifier,
                    badgeKey: self.configuration.badgeKey, foreignBadge: self.reportForeignBadge
                ).update {
                    $0.forgetPerson(words: words)
                }
            } catch {
                self.report(.storeFault(reason: "\(error)"))
            }
        }
        _ = await self.carryOut(.clearAll(showsZero: true))
        let app = self.configuration.appKey
        guard let person = self.folders.signedIn(app: app) else { return }
        let token = self.folders.token(of: person, app: app)
        self.storing { folders in
            try LocalStore.removeFiles(of: folders.store(app: app, person: person))
            try folders.forgetSignIn(app: app)
        }
        guard let token else { return }
        self.storing { try $0.write(ClientFolders.PendingSignOut(person: person, token: token), app: app) }
        await self.resumePendingSignOut(unless: nil)
    }

    private func waitForSignOut(of person: UserID) async {
        let clock = self.clock
        let deadline = clock.now.monotonic + Self.signOutWaitMilliseconds
        let timer = Task {
            await clock.sleep(untilMonotonic: deadline)
            if !Task.isCancelled { self.endSignOutWaits() }
        }
        await withCheckedContinuation { continuation in
            let isSaid = self.state.withLock { state in
                guard state.pendingSignOut?.person == person else { return true }
                state.signOutWaiters.append(continuation)
                return false
            }
            if isSaid { continuation.resume() }
        }
        timer.cancel()
    }

    private func endSignOutWaits() {
        for waiter in self.state.exchange(\.signOutWaiters, []) { waiter.resume() }
    }

    /// Called when the engine has not told the server of the sign-out; without a token it never can. One pending sign-out is
    /// kept. Where the server was unreachable all the time, the pending sign-out of the earlier person, whom the server
    /// knows, outlives that of anybody who signed in meanwhile.
    func storePendingSignOut(of person: UserID, token: String?, wasWelcomed: Bool) {
        guard let token = token ?? self.folders.token(of: person, app: self.configuration.appKey) else { return }
        let earlier = self.folders.pendingSignOut(app: self.configuration.appKey)
        guard wasWelcomed || earlier == nil || earlier?.person == person else { return }
        let pendingSignOut = ClientFolders.PendingSignOut(person: person, token: token)
        self.state.withLock { $0.pendingSignOut = pendingSignOut }
        self.storing { try $0.write(pendingSignOut, app: self.configuration.appKey) }
    }

    func pendingSignOutEnded(of person: UserID) {
        if self.folders.pendingSignOut(app: self.configuration.appKey)?.person == person {
            self.storing { try $0.write(nil, app: self.configuration.appKey) }
        }
        let engine = self.state.withLock { state -> ClientEngine? in
            guard state.pendingSignOut?.person == person else { return nil }
            state.pendingSignOut = nil
            defer { state.leaving = nil }
            return state.leaving
        }
        self.endSignOutWaits()
        if let engine { Task { await engine.finish() } }
    }

    /// Starts the pending sign-out an earlier process left. That of the person who signs in now is void.
    func resumePendingSignOut(unless person: UserID?) async {
        guard let pendingSignOut = self.folders.pendingSignOut(app: self.configuration.appKey) else { return }
        if pendingSignOut.person == person {
            let engine = self.state.withLock { state in
                state.pendingSignOut = nil
                defer { state.leaving = nil }
                return state.leaving
            }
            self.storing { try $0.write(nil, app: self.configuration.appKey) }
            self.endSignOutWaits()
            await engine?.finish()
            return
        }
        guard self.state.withLock({ $0.leaving == nil }),
            let parts = try? self.parts(for: pendingSignOut.person, isLeaving: true)
        else { return }
        let token = pendingSignOut.token
        // It holds the background task, so that the app is not frozen before the server has heard.
        let host = self.state.withLock { $0.host }
        let engine = ClientEngine(person: pendingSignOut.person, parts: parts, host: host) { token }
        engine.mute()
        self.state.withLock { state in
            self.catchUp(engine, with: state)
            state.pendingSignOut = pendingSignOut
            state.leaving = engine
        }
        engine.post(.connectRequested)
    }

    func storing(_ work: (ClientFolders) throws -> Void) {
        do {
            try work(self.folders)
        } catch {
            self.report(.storeFault(reason: "\(error)"))
        }
    }
}

extension AppGroup.Contents {
    /// Nothing of the person stays for the extension, and words no longer follow their language.
    mutating func forgetPerson(words: AppWords) {
        self.recipient = nil
        self.forgetsDamaged = true
        self.settings.forgetNames()
        self.settings.words = words.words(for: nil).words
        self.ledger = Ledger()
        if self.badge != nil { self.badge = Badge() }
    }
}
