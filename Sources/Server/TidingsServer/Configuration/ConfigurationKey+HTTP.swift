import ServerCore

extension ConfigurationKey {
    /// The keys of the API's port, of the phones', and of both.
    static let http: [ConfigurationKey] = [
        .init("api.host", "address the HTTP API listens on", .text(\.api.host)),
        .init("api.port", "TCP port of the HTTP API, 0 for any free one", .integer(\.api.port, 0...65_535)),
        .init(
            "api.body_bytes_max", "largest body of a request in bytes", .integer(\.api.bodyBytesMax, 1_024...16_777_216)
        ),
        .init(
            "api.connections_max", "connections of the HTTP API at the same time",
            .integer(\.api.connectionsMax, 8...1_000_000)),
        .init(
            "api.idempotency_keys_max",
            "idempotency keys an app may use in 24 hours; each takes some 200 bytes of disk",
            .integer(\.core.idempotencyKeysMax, 1...10_000_000)),
        .init("phone.host", "address the routes for phones listen on", .text(\.phone.host)),
        .init(
            "phone.port", "TCP port of the routes for phones, 0 for any free one", .integer(\.phone.port, 0...65_535)),
        .init(
            "phone.connections_max", "connections of the routes for phones at the same time",
            .integer(\.phone.connectionsMax, 8...1_000_000)),
        .init(
            "http.header_milliseconds", "time a new connection of either may take until the head of its first request",
            .integer(\.http.headerMilliseconds, 10...300_000)),
        .init(
            "http.body_milliseconds", "time the body of a request may take",
            .integer(\.http.bodyMilliseconds, 10...3_600_000)),
        .init(
            "http.idle_milliseconds",
            "time a connection may wait for its next request, or for its answer to begin or go on",
            .integer(\.http.idleMilliseconds, 10...3_600_000)),
        .init(
            "http.answer_bytes_per_second", "bytes of an answer that have to be read in a second",
            .integer(\.http.answerBytesPerSecond, 1...1_000_000)),
        .init(
            "http.answer_milliseconds", "time an answer may stand still that was read fast enough before",
            .integer(\.http.answerMilliseconds, 100...3_600_000)),
        .init(
            "http.unread_bytes_max",
            "bytes of all answers of a listener that wait to be read; beyond it those read least are given up",
            .integer(\.http.unreadBytesMax, 1_048_576...17_179_869_184)),
        .init(
            "http.unread_per_address_max",
            "answers to an address that wait to be read; beyond it those read least are given up",
            .integer(\.http.unreadPerAddressMax, 4...1_000_000)),
        .init(
            "http.answers_per_person_max",
            "requests of a person on phone.port whose answers are not read; a phone needs four",
            .integer(\.http.answersPerPersonMax, 4...1_000_000)),
        .init(
            "proxy.addresses",
            "addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed, with commas between",
            .networks(\.proxy.addresses)),
    ]
}
