import ClientCore
import Foundation
import TidingsModel

// Calls of the app that wait for an answer, and how they end.
extension ClientEngine {
    func request(_ request: ClientRequest) async throws -> ClientAnswer {
        try await self.waitForAnswer { shared, continuation in
            shared.requests += 1
            shared.requesting[shared.requests] = continuation
            return .requestSubmitted(shared.requests, request)
        }
    }

    func finishRequest(_ number: RequestNumber, _ outcome: RequestOutcome) {
        guard let continuation = self.shared.withLock({ $0.requesting.removeValue(forKey: number) }) else { return }
        switch outcome {
        case .answered(.refused(let problem)): continuation.resume(throwing: ChatError(problem))
        case .answered(let answer): continuation.resume(returning: answer)
        case .notConnected: continuation.resume(throwing: ChatError.notConnected)
        case .tooMany: continuation.resume(throwing: ChatError.tooManyRequests)
        case .unknown: continuation.resume(throwing: ChatError.unknownOutcome)
        }
    }

    func setKitSettings(_ kit: KitSettings?) {
        self.shared.withLock { $0.showsContent = kit?.showsContent ?? true }
        self.shareSettings()
    }

    func shareSettings() {
        let address = self.parts.apiURL?.absoluteString
        let (shows, language) = self.shared.withLock { ($0.showsContent && !$0.hidesContent, $0.language) }
        let words = self.parts.words.words(for: language).words
        self.withGroup { contents in
            contents.settings.apiURL = address
            contents.settings.showsContent = shows
            contents.settings.words = words
        }
    }

    // MARK: Transfers of files

    /// True if the person signs out or has, or another one takes their place.
    var hasEnded: Bool { self.shared.withLock { $0.hasEnded } }

    /// Asks the app for the token now.
    func userToken() async throws -> String {
        let provider = try self.shared.withLock { shared throws -> TokenProvider in
            guard !shared.hasEnded else { throw ChatError.cancelled }
            return shared.tokenProvider
        }
        let token = try await provider()
        // The app may have taken its time.
        try self.shared.withLock { shared throws -> Void in
            guard !shared.hasEnded else { throw ChatError.cancelled }
            shared.lastToken = token
        }
        return token
    }

    /// Starts a transfer that is cancelled when the person signs out: nothing is sent or fetched for a person who has left.
    func transfer<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        self.shared.withLock { shared -> Task<Value, any Error> in
            shared.transfers += 1
            let number = shared.transfers
            // Its end waits for the lock, so that it comes after the entry.
            let task = Task { [self] in
                defer { self.shared.withLock { $0.transferring[number] = nil } }
                return try await work()
            }
            if shared.hasEnded { task.cancel() } else { shared.transferring[number] = { task.cancel() } }
            return task
        }
    }

    func cancelTransfers() {
        for cancel in self.shared.exchange(\.transferring, [:]).values { cancel() }
    }

    func finishConnect(_ failure: ConnectFailure?) {
        for continuation in self.shared.exchange(\.connecting, [:]).values {
            switch failure {
            case nil: continuation.resume()
            case .refused(let problem)?: continuation.resume(throwing: ChatError.refused(problem))
            case .noToken(let reason)?: continuation.resume(throwing: ChatError.noToken(reason: reason))
            case .cancelled?: continuation.resume(throwing: ChatError.cancelled)
            }
        }
    }

    func finishSend(_ id: ClientMessageID, _ outcome: SendOutcome) {
        guard let continuation = self.shared.withLock({ $0.sending.removeValue(forKey: id) }) else { return }
        switch outcome {
        case .accepted(let message): continuation.resume(returning: message)
        case .refused(let problem): continuation.resume(throwing: ChatError(problem))
        case .abandoned(let reason): continuation.resume(throwing: ChatError.notSent(reason: reason))
        }
    }
}
