import NIOCore

extension TidingsServer {
    /// Shows once a second how far the index is.
    static func watch(
        _ search: (any MessageSearch)?, on eventLoop: any EventLoop, _ metrics: ServerMetrics
    ) -> RepeatedTask? {
        guard let search else { return nil }
        return eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { _ in
            metrics.show(search.progress)
        }
    }
}
