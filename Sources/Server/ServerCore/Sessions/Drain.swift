import TidingsModel

extension ServerCore {
    /// Clients are asked to come back, spread over a while. No lease ends and nothing new is pushed: who is live now
    /// will be live at the next process (design.md §3 "Push work").
    mutating func drain() -> State {
        for slot in self.people.indices where self.people[slot].state.isReady {
            self.people[slot].writeCursors(&self.turn)
        }
        for session in self.turn.sessions.openings.keys.sorted() {
            self.turn.emit(.write(session, .problem(Self.unavailable, isFatal: true)))
            self.close(session)
        }
        let sessions = self.turn.sessions.ids
        for (index, session) in sessions.enumerated() {
            let delay = self.turn.settings.drainSpread * Int64(index) / Int64(sessions.count)
            self.turn.emit(.write(session, .reconnect(afterMilliseconds: UInt32(clamping: delay))))
        }
        let until = self.turn.now.monotonic + self.turn.settings.drainTime
        self.turn.timers.set(at: until, .drain)
        return self.drainStep(from: .draining(until: until))
    }

    mutating func afterDrainStep() -> State {
        self.drainStep(from: self.turn.state)
    }

    private mutating func drainStep(from state: State) -> State {
        guard case .draining = state, self.turn.sessions.count == 0, self.turn.store.backlog == 0 else { return state }
        self.turn.emit(.drained)
        return .drained
    }
}
