import Dispatch
import PhoneCore
import Synchronization

/// Messages from any thread are handled on the main actor, in order.
final class DirectLink: PhoneLink {
    private let process: ProcessID
    private let inbox: Inbox

    init(process: ProcessID, inbox: Inbox) {
        self.process = process
        self.inbox = inbox
    }

    func send(_ message: ProcessMessage) { self.inbox.append(message, from: self.process) }

    func answer(to query: Query, number: QueryNumber) -> QueryAnswer? {
        // The phone is the main actor's: another thread waits for its turn there.
        MainQueue.isCurrent
            ? self.inbox.answer(to: query, number: number, of: self.process)
            : DispatchQueue.main.sync { self.inbox.answer(to: query, number: number, of: self.process) }
    }
}

final class Inbox: Sendable {
    private struct State {
        var messages: [(ProcessID, ProcessMessage)] = []
        var question: (process: ProcessID, number: QueryNumber)?
        var answer: QueryAnswer?
    }

    private struct Owner {
        weak var phone: VirtualPhone?
    }

    private let state = Mutex(State())
    private let owner = Mutex(Owner())

    func setOwner(_ phone: VirtualPhone) { self.owner.withLock { $0.phone = phone } }

    func append(_ message: ProcessMessage, from process: ProcessID) {
        self.state.withLock { $0.messages.append((process, message)) }
        if MainQueue.isCurrent {
            MainActor.assumeIsolated { self.drain() }
        } else {
            DispatchQueue.main.async { MainActor.assumeIsolated { self.drain() } }
        }
    }

    @MainActor func drain() {
        guard let phone = self.owner.withLock({ $0.phone }) else { return }
        while true {
            let next = self.state.withLock { $0.messages.isEmpty ? nil : $0.messages.removeFirst() }
            guard let (process, message) = next else { return }
            phone.handleMessage(message, from: process)
        }
    }

    /// All earlier messages are handled first.
    func answer(to query: Query, number: QueryNumber, of process: ProcessID) -> QueryAnswer? {
        self.state.withLock { state in
            state.question = (process, number)
            state.answer = nil
        }
        self.append(.event(.query(number, query)), from: process)
        return self.state.withLock { state in
            defer { state.question = nil }
            return state.answer
        }
    }

    /// Only if the main thread is waiting for it.
    func answer(_ number: QueryNumber, of process: ProcessID, with answer: QueryAnswer) -> Bool {
        self.state.withLock { state in
            guard let question = state.question, question == (process, number) else { return false }
            state.answer = answer
            return true
        }
    }
}
