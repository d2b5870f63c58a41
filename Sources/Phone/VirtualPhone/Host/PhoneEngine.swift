package import PhoneCore
package import TidingsModel

/// What a phone's core acts on: processes, the courier, clocks and the trace. Decides nothing.
package protocol PhoneSurroundings: AnyObject {
    /// The phone's clocks.
    var now: Now { get }
    /// Starts a process; its start is reported when it takes calls.
    func startProcess(_ process: ProcessID)
    /// Stops a process from running.
    func suspendProcess(_ process: ProcessID)
    /// Lets a process run again.
    func resumeProcess(_ process: ProcessID)
    /// Ends a process at once.
    func killProcess(_ process: ProcessID)
    /// Hands a message to a process.
    func send(_ message: HostMessage, to process: ProcessID)
    /// Asks the courier for a token.
    func registerTopic(_ app: BundleID)
    /// Tells the courier that a topic is over.
    func unregisterTopic(_ app: BundleID)
    /// Asks the courier for a token of another kind.
    func requestToken(_ kind: TokenKind, for app: BundleID)
    /// Tells the courier that a token of another kind is over.
    func dropToken(_ kind: TokenKind, of app: BundleID)
    /// Tells the courier to bring the broadcasts of a channel.
    func subscribe(_ app: BundleID, channel: String)
    /// Tells the courier that a channel's broadcasts are no longer wanted.
    func unsubscribe(_ app: BundleID, channel: String)
    /// All tokens of an app are void: the next ones are different.
    func invalidateTokens(of app: BundleID)
    /// Tells the courier that a push has arrived.
    func acknowledge(delivery: UInt64)
    /// Lets the courier's connection come.
    func connectCourier()
    /// Cuts the courier's connection.
    func disconnectCourier()
    /// Keeps a line of the trace.
    func record(_ record: PhoneRecord)
    /// Everything an event led to has been done; the next deadline, in monotonic milliseconds, may have moved.
    func settled(nextDeadline: Int64?)
}

/// Owns a phone's core and translates: surroundings' results to events, effects to the surroundings' work.
///
/// Bound to whoever owns it (an event loop or the main actor). An event that comes while another is being worked on waits
/// its turn, so the effects of one are done before the next is looked at.
package final class PhoneEngine {
    private var core: PhoneCore
    private unowned let surroundings: any PhoneSurroundings
    private var queue: [PhoneEvent] = []
    /// Whether an event is being worked on: processes must not be called into now.
    package private(set) var isWorking = false
    private var effects: [PhoneEffect] = []
    /// What each running app was last told to be.
    private var told: [ProcessID: ApplicationState] = [:]

    /// An engine for a phone.
    package init(core: PhoneCore, surroundings: any PhoneSurroundings) {
        self.core = core
        self.surroundings = surroundings
    }

    /// The phone as it is now.
    package var phone: PhoneCore { self.core }

    /// Takes an event in and does what follows.
    package func post(_ event: PhoneEvent) {
        self.queue.append(event)
        guard !self.isWorking else { return }
        self.isWorking = true
        while !self.queue.isEmpty {
            let next = self.queue.removeFirst()
            self.effects.removeAll(keepingCapacity: true)
            self.core.handle(next, at: self.surroundings.now, into: &self.effects)
            for effect in self.effects { self.perform(effect) }
            self.tellStates()
        }
        self.isWorking = false
        self.surroundings.settled(nextDeadline: self.core.nextDeadline)
    }

    private func perform(_ effect: PhoneEffect) {
        switch effect {
        case .startProcess(let process): self.surroundings.startProcess(process)
        case .suspendProcess(let process): self.surroundings.suspendProcess(process)
        case .resumeProcess(let process): self.surroundings.resumeProcess(process)
        case .killProcess(let process):
            self.told[process] = nil
            self.surroundings.killProcess(process)
        case .call(let process, let number, let callback, let state):
            self.told[process] = state
            self.surroundings.send(.call(number, callback, state), to: process)
        case .answer(let process, let number, let answer):
            self.surroundings.send(.answer(number, answer), to: process)
        case .registerTopic(let app): self.surroundings.registerTopic(app)
        case .unregisterTopic(let app): self.surroundings.unregisterTopic(app)
        case .requestToken(let app, let kind): self.surroundings.requestToken(kind, for: app)
        case .dropToken(let app, let kind): self.surroundings.dropToken(kind, of: app)
        case .subscribe(let app, let channel): self.surroundings.subscribe(app, channel: channel)
        case .unsubscribe(let app, let channel): self.surroundings.unsubscribe(app, channel: channel)
        case .invalidateTokens(let app): self.surroundings.invalidateTokens(of: app)
        case .acknowledge(let delivery): self.surroundings.acknowledge(delivery: delivery)
        case .connectCourier: self.surroundings.connectCourier()
        case .disconnectCourier: self.surroundings.disconnectCourier()
        case .record(let record): self.surroundings.record(record)
        }
    }

    /// `applicationState` changes between callbacks too.
    private func tellStates() {
        for app in self.core.installedApps {
            guard let process = self.core.process(of: app.bundleID), let last = self.told[process],
                let state = self.core.state(of: app.bundleID)?.applicationState, state != last
            else { continue }
            self.told[process] = state
            self.surroundings.send(.state(state), to: process)
        }
    }
}
