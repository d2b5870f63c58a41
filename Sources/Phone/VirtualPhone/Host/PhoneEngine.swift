package import PhoneCore
package import TidingsModel

/// The surroundings of a phone, on which its core acts; they decide nothing.
package protocol PhoneSurroundings: AnyObject {
    var now: Now { get }
    /// Carries an effect out; calls and answers go to `send` instead.
    func carryOut(_ effect: PhoneEffect)
    func send(_ message: HostMessage, to process: ProcessID)
    /// Everything an event led to has been done; the next deadline, in monotonic milliseconds, may have moved.
    func settled(nextDeadline: Int64?)
}

/// Bound to its owner (an event loop or the main actor). An event that arrives while another is handled waits, so the
/// effects of one are done before the next is handled.
package final class PhoneEngine {
    private var core: PhoneCore
    private unowned let surroundings: any PhoneSurroundings
    private var queue: [PhoneEvent] = []
    /// Processes must not be called into now.
    package private(set) var isWorking = false
    private var effects: [PhoneEffect] = []
    /// The state that each running app was told last.
    private var lastStates: [ProcessID: ApplicationState] = [:]

    package init(core: PhoneCore, surroundings: any PhoneSurroundings) {
        self.core = core
        self.surroundings = surroundings
    }

    package var phone: PhoneCore { self.core }

    package func post(_ event: PhoneEvent) {
        self.queue.append(event)
        guard !self.isWorking else { return }
        self.isWorking = true
        while !self.queue.isEmpty {
            let next = self.queue.removeFirst()
            self.effects.removeAll(keepingCapacity: true)
            self.core.handle(next, at: self.surroundings.now, into: &self.effects)
            for effect in self.effects { self.carryOut(effect) }
            self.sendChangedStates()
        }
        self.isWorking = false
        self.surroundings.settled(nextDeadline: self.core.nextDeadline)
    }

    private func carryOut(_ effect: PhoneEffect) {
        switch effect {
        case .killProcess(let process):
            self.lastStates[process] = nil
            self.surroundings.carryOut(effect)
        case .call(let process, let number, let callback, let state):
            self.lastStates[process] = state
            self.surroundings.send(.call(number, callback, state), to: process)
        case .answer(let process, let number, let answer):
            self.surroundings.send(.answer(number, answer), to: process)
        default: self.surroundings.carryOut(effect)
        }
    }

    /// `applicationState` changes between callbacks too.
    private func sendChangedStates() {
        for app in self.core.installedApps {
            guard let process = self.core.process(of: app.bundleID), let last = self.lastStates[process],
                let state = self.core.state(of: app.bundleID)?.applicationState, state != last
            else { continue }
            self.lastStates[process] = state
            self.surroundings.send(.state(state), to: process)
        }
    }
}
