package import StoreModel
package import TidingsModel

/// How far a push job is.
package struct PushJobReport: Hashable, Sendable {
    package var id: PushJobID
    package var app: AppID
    package var state: PushJob.State
    /// It has come to the state; otherwise it is under way.
    package var isNews: Bool
    package var lookedAt: Int
    package var recipients: Int

    package init(_ job: PushJob, isNews: Bool) {
        self.id = job.id
        self.app = job.app
        self.state = job.state
        self.isNews = isNews
        self.lookedAt = job.counts.lookedAt
        self.recipients = job.counts.recipients
    }
}
