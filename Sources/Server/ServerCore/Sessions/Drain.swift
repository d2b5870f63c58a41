import TidingsModel

extension ServerCore {
    /// Clients are asked to come back, spread over a while. No lease ends and nothing new is pushed: who is live now
    /// will be live at the next process (design.md §3 "Push work").
    mutating func drain(_ now: Now, _ effects: inout [ServerEffect]) -> State {
        for slot in self.people.indices where self.people[slot].isReady {
            for index in self.people[slot].devices.indices { self.writeCursor(slot, index, &effects) }
        }
        for session in self.openings.keys.sorted() {
            effects.append(.write(session, .problem(Self.unavailable, isFatal: true)))
            self.close(session, &effects)
        }
        let sessions = self.sessions.keys.sorted()
        for (index, session) in sessions.enumerated() {
            let delay = self.settings.drainSpread * Int64(index) / Int64(sessions.count)
            effects.append(.write(session, .reconnect(afterMilliseconds: UInt32(clamping: delay))))
        }
        let until = now.monotonic + self.settings.drainTime
        self.setTimer(at: until, .drain)
        return self.drainStep(from: .draining(until: until), &effects)
    }

    mutating func afterDrainStep(_ effects: inout [ServerEffect]) -> State {
        self.drainStep(from: self.state, &effects)
    }

    private func drainStep(from state: State, _ effects: inout [ServerEffect]) -> State {
        guard case .draining = state, self.sessions.isEmpty, self.openings.isEmpty, self.storeBacklog == 0 else {
            return state
        }
        effects.append(.drained)
        return .drained
    }
}
