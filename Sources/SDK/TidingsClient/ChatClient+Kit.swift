package import ClientCore
import Synchronization
package import TidingsModel

// What the kit adds to a client, and what it reads of it.
extension ChatClient {
    /// The global switch for local notifications (S3.3). Without the kit it has no effect.
    public var isLocalNotificationEnabled: Bool {
        get { self.state.withLock { $0.switches.isLocalNotificationEnabled } }
        set { self.change { $0.isLocalNotificationEnabled = newValue } }
    }

    /// Whether a local notification shows the message's text; otherwise a fixed text and no title (requirements S3).
    public var showsNotificationContent: Bool {
        get { self.state.withLock { $0.switches.showsContent } }
        set { self.change { $0.showsContent = newValue } }
    }

    /// The switches for a kit with or without a callback of the app's (S3.4).
    package func kitSettings(hasDelegate: Bool) -> KitSettings {
        self.state.withLock { state in
            state.switches.hasDelegate = hasDelegate
            return state.switches
        }
    }

    /// Whether the local store has a message.
    package func hasMessage(_ id: MessageID) -> Bool { (try? self.engine?.store.contains(id)) ?? false }

    private func change(_ change: (inout KitSettings) -> Void) {
        let (host, settings) = self.state.withLock { state in
            change(&state.switches)
            return (state.host, state.switches)
        }
        if host != nil { self.attach(host: host, settings: settings) }
    }
}
