import NIOCore
import PhoneCore
import TidingsModel

/// The screens that the apps in the foreground report, and the readers of their changes. Bound to one event loop.
final class ShownViews {
    private struct Shown {
        var views: [ViewNode] = []
        var number = 0
    }

    private final class Reader {
        let channel: any Channel
        /// Oldest change first.
        var behind: [BundleID]
        var isWaiting = false

        init(channel: any Channel, behind: [BundleID]) {
            self.channel = channel
            self.behind = behind
        }
    }

    private var shown: [BundleID: Shown] = [:]
    private var readers: [Reader] = []
    /// Counts the changes of all apps.
    private(set) var number = 0
    private let onChange: () -> Void

    /// - Parameter onChange: called after each change.
    init(onChange: @escaping () -> Void) { self.onChange = onChange }

    /// Empty for an app that is not in the foreground.
    func views(of app: BundleID) -> [ViewNode] { self.shown[app]?.views ?? [] }

    func change(_ app: BundleID, to views: [ViewNode]) {
        guard self.views(of: app) != views else { return }
        self.number += 1
        self.shown[app] = Shown(views: views, number: self.number)
        for reader in self.readers {
            reader.behind.removeAll { $0 == app }
            reader.behind.append(app)
            self.send(to: reader)
        }
        self.onChange()
    }

    /// Returns the changes since a number, as events, the oldest first.
    func changes(after number: Int) -> [JSONValue] {
        self.shown.filter { $0.value.number > number }.sorted { $0.value.number < $1.value.number }
            .map { .members([("event", "views")] + self.members(of: $0.key)) }
    }

    func answer(for app: BundleID) -> JSONValue { .members(self.members(of: app)) }

    private func members(of app: BundleID) -> [(String, JSONValue)] {
        let shown = self.shown[app] ?? Shown()
        return [
            ("app", .string(app.rawValue)), ("number", .int(shown.number)), ("views", .array(shown.views.map(\.json))),
        ]
    }

    /// First what is shown now.
    func subscribe(_ channel: any Channel) {
        let now = self.shown.filter { !$0.value.views.isEmpty }.sorted { $0.value.number < $1.value.number }
        let reader = Reader(channel: channel, behind: now.map(\.key))
        self.readers.append(reader)
        self.send(to: reader)
    }

    func unsubscribe(_ channel: any Channel) { self.readers.removeAll { $0.channel === channel } }

    func finish() { self.readers = [] }

    /// Sends views as fast as the connection takes the lines; a slow reader misses states in between.
    private func send(to reader: Reader) {
        while !reader.isWaiting, let app = reader.behind.first {
            guard reader.channel.isWritable else {
                reader.isWaiting = true
                return reader.channel.whenWritten {
                    reader.isWaiting = false
                    self.send(to: reader)
                }
            }
            reader.behind.removeFirst()
            reader.channel.writeLine(.members([("event", "views")] + self.members(of: app)))
        }
    }
}
