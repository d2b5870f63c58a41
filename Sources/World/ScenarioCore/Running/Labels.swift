import PhoneCore

struct Labels {
    private var pushes: [(push: Push, label: String)] = []
    private var deliveries: [UInt64: String] = [:]
    /// Request identifiers with the label that had them last.
    private var identifiers: [(identifier: String, label: String)] = []
    private var activities: [(identifier: String, label: String)] = []
    /// The names of activities whose push is on its way, oldest first.
    private var expected: [String] = []

    mutating func expectStart(ofActivity label: String) { self.expected.append(label) }

    /// An activity the app starts has its name for identifier; one that a push starts has one of the phone's.
    mutating func addName(ofActivity label: String) { self.activities.append((label, label)) }

    mutating func addStarted(activity identifier: String) {
        guard !self.activities.contains(where: { $0.identifier == identifier }), !self.expected.isEmpty else { return }
        self.activities.append((identifier, self.expected.removeFirst()))
    }

    func label(ofActivity identifier: String) -> String {
        self.activities.last { $0.identifier == identifier }?.label ?? identifier
    }

    func identifier(ofActivity label: String) -> String? { self.activities.last { $0.label == label }?.identifier }

    mutating func addPush(_ push: Push, label: String) {
        self.pushes.append((push, label))
        self.addDelivery(push.delivery, label: label)
    }

    func push(of label: String) -> Push? { self.pushes.last { $0.label == label }?.push }

    mutating func addDelivery(_ delivery: UInt64, label: String) { self.deliveries[delivery] = label }

    func label(ofDelivery delivery: UInt64) -> String { self.deliveries[delivery] ?? String(delivery) }

    mutating func addArrival(ofDelivery delivery: UInt64, identifier: String) {
        guard let pushed = self.pushes.last(where: { $0.push.delivery == delivery }) else { return }
        self.identifiers.append((identifier, pushed.label))
    }

    mutating func addName(_ identifier: String, _ label: String) { self.identifiers.append((identifier, label)) }

    /// Returns the file's label of a request identifier; the identifier itself if there is none.
    func label(of identifier: String) -> String {
        self.identifiers.last { $0.identifier == identifier }?.label ?? identifier
    }

    func label(of subject: Subject) -> String? {
        switch subject {
        case .request(let identifier): self.label(of: identifier)
        case .activity(let identifier): self.label(ofActivity: identifier)
        case .payload(let payload): self.pushes.last { $0.push.payload == payload }?.label
        }
    }

    func identifier(of label: String) -> String? { self.identifiers.last { $0.label == label }?.identifier }
}
