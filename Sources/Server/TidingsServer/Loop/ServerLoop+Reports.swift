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
}
