import Dispatch
import PhoneCore

/// Tells the phone what an app in the foreground shows, each time that has changed: after every call and touch, and ten times a
/// second, because a view that an app's own task changes tells nobody. In the background nothing is told.
@MainActor final class ViewReporter {
    static let milliseconds = 100

    private unowned let process: PhoneProcess
    /// The views that the phone was told last; nil in the background.
    private var told: [ViewNode]?
    private var timer: (any DispatchSourceTimer)?

    init(process: PhoneProcess) { self.process = process }

    func look() {
        guard self.process.isAlive, self.process.applicationState != .background else { return self.rest() }
        if self.timer == nil { self.start() }
        let shown = PhoneContext.$process.withValue(self.process) { self.process.views?.viewTree ?? [] }
        guard shown != self.told else { return }
        self.told = shown
        self.process.send(.views(shown))
    }

    private func start() {
        let timer = DispatchSource.makeTimerSource(queue: .main)
        let interval = DispatchTimeInterval.milliseconds(Self.milliseconds)
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(10))
        timer.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.look() } }
        timer.resume()
        self.timer = timer
    }

    private func rest() {
        self.told = nil
        self.timer?.cancel()
        self.timer = nil
    }
}
