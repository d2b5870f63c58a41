import SDKTestSupport
import TidingsModel

// The server of the random calls: for alice, who has one conversation, and that can be told to stop answering.
extension ServerTransport {
    /// What the person has settled is all there is.
    var isAcknowledged: Bool { self.acknowledged == self.unread(of: "alice").head }
    var unread: Int { self.unread(of: "alice").count }

    /// What the server would say of the number on the icon.
    var badge: (number: Int, position: LogPosition) {
        let (number, position) = self.unread(of: "alice")
        return (number, position)
    }

    /// The ids of the newest messages, oldest first.
    func newest(_ count: Int) -> [MessageID] {
        self.log(of: "alice").compactMap { if case .message(let message) = $0.body { message.id } else { nil } }
            .suffix(count)
    }

    /// Another device of the person's has read everything.
    func readElsewhere() { self.readElsewhere(upTo: self.unread(of: "alice").head) }
}
