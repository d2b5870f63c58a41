import ClientCore
import Foundation
import TidingsModel

// Calls of the app that wait for an answer, and how they end.
extension ClientEngine {
    /// Asks the server something and waits for its answer.
    ///
    /// - Throws: `ChatError`: nothing was asked, the server refused, or nobody knows.
    func request(_ request: ClientRequest) async throws -> ClientAnswer {
        try await withCheckedThrowingContinuation { continuation in
            let number = self.shared.withLock { shared -> RequestNumber? in
                guard !shared.isMute, !shared.isFinished else { return nil }
                shared.requests += 1
                shared.requesting[shared.requests] = continuation
                return shared.requests
            }
            guard let number else { return continuation.resume(throwing: ChatError.cancelled) }
            self.post(.requestSubmitted(number, request))
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

    /// What the extension needs to know of the app's settings.
    func noteSettings(_ kit: KitSettings?) {
        self.shared.withLock { $0.showsContent = kit?.showsContent ?? true }
        self.noteSettings()
    }

    func noteSettings() {
        let address = self.parts.apiURL?.absoluteString
        let (shows, language) = self.shared.withLock { ($0.showsContent && !$0.hidesContent, $0.language) }
        let words = self.parts.words.words(for: language).words
        self.withGroup { contents in
            contents.settings.apiURL = address
            contents.settings.showsContent = shows
            contents.settings.words = words
        }
    }

    func finishConnect(_ failure: ConnectFailure?) {
        let waiting = self.shared.withLock { shared in
            let waiting = shared.connecting
            shared.connecting = [:]
            return waiting
        }
        for (_, continuation) in waiting {
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
