import NIOCore
import ServerCore

extension ServerLoop {
    func collectReport(of effect: ServerEffect) {
        guard let report = ServerReport(effect) else { return }
        if case .pushJob(let job) = report, job.isNews { self.metrics.countPushJob(job.state) }
        self.reports.append(report)
    }

    /// Once a tick.
    func publishReports() {
        guard !self.reports.isEmpty else { return }
        self.feed.append(self.reports, at: self.now)
        self.reports.removeAll(keepingCapacity: true)
    }

    /// Streams that go on would keep the HTTP API from stopping.
    func endFeedAtEnd() {
        self.ended.futureResult.whenComplete { [weak self, feed = self.feed] _ in
            self?.publishReports()
            feed.end()
        }
    }

    /// For the last hour of each app: how many pushes wait is told at each step's end.
    func measureQueues() {
        self.queueTimer = self.eventLoop.scheduleRepeatedTask(
            initialDelay: Self.queueTime, delay: Self.queueTime
        ) { [weak self] task in
            guard let self else { return task.cancel() }
            self.feed.setQueues(self.queueLengths, at: Clocks.now())
        }
    }

    private static let queueTime = TimeAmount.milliseconds(AppHistory.stepMilliseconds / 2)
}
