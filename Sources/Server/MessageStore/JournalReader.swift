import StoreMachine
import TidingsModel

/// How something that is derived from the journal follows it: how far it has come, and what becomes of its file where that fails. A pure
/// value, which `JournalFollower` carries out.
struct JournalReader: Hashable, Sendable {
    /// Where it begins without a place.
    enum Origin: Hashable, Sendable {
        /// Before the first record: all of it can be derived again, so a file that is not as it should be is removed.
        case start
        /// Behind the last record: what the file has is nowhere else, so only a damaged one is given up, and is set aside.
        case end
    }

    /// `unlike` is a database that this build cannot work with; `passing` for example a full disk, or another program's file.
    enum Failure: Hashable, Sendable { case damaged, unlike, passing }

    /// What becomes of the file. One that is closed is opened again after a while; the same failure is news once.
    enum Remedy: Hashable, Sendable { case close(isNews: Bool), remove, setAside }

    let origin: Origin
    /// How long nothing is tried after a failure.
    let retrySeconds: Double
    /// The last record that was looked at; nil at the origin.
    private(set) var place: JournalPlace?
    /// The place is known to be of this store.
    private(set) var isCompared = false
    private(set) var retryAt = 0.0
    /// Nil after a turn that went well.
    private(set) var lastFailure: String?
    /// Why the file that is not there yet is made was said.
    private(set) var isReasonGiven = false

    func mayTry(at now: Double) -> Bool { now >= self.retryAt }

    /// - Parameter last: the journal's last record.
    func isBehind(_ last: JournalPosition) -> Bool { !self.isCompared || self.place?.position ?? 0 < last }

    /// The file was opened. A place that was reached without a file holds until the file has one.
    /// - Returns: whether the file is built anew for no reason that was given.
    mutating func open(at place: JournalPlace?) -> Bool {
        defer { self.isReasonGiven = false }
        self.place = place ?? self.place
        self.isCompared = false
        return self.origin == .start && place == nil && !self.isReasonGiven
    }

    /// What the records up to this place say is written. Nil where the place that was held is none of this store: then the file is removed,
    /// and the log says why.
    mutating func step(to place: JournalPlace?) {
        self.place = place
        self.isCompared = place != nil
        self.isReasonGiven = place == nil
    }

    mutating func succeed() { self.lastFailure = nil }

    /// - Parameter isInFile: the place is, and is read from there when the file is opened again.
    mutating func fail(_ failure: Failure, _ words: String, isInFile: Bool, at now: Double) -> Remedy {
        let isDamage = failure == .damaged || (failure == .unlike && self.origin == .start)
        // Once at once; what is damaged again right away waits.
        self.retryAt = isDamage && self.lastFailure == nil ? now : now + self.retrySeconds
        defer { self.lastFailure = words }
        self.isCompared = false
        if isDamage || isInFile { self.place = nil }
        self.isReasonGiven = self.isReasonGiven || isDamage
        guard isDamage else { return .close(isNews: self.lastFailure != words) }
        return self.origin == .start ? .remove : .setAside
    }
}
