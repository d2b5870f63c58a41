import Foundation
import Logging
import ServerCore
package import StoreModel

/// One key of the configuration outside `apps`: name, type, unit, default and range in one table, from which values are read and
/// checked and `docs/server/configuration.md` is made.
package struct ConfigurationKey: Sendable {
    /// `gateway.port` is `port` within `gateway` in the file, and `TIDINGS_GATEWAY_PORT` in the environment.
    package var name: String
    /// The purpose, with its unit.
    package var summary: String
    /// Its type and range, and where the value lives.
    package var place: Place

    package enum Place: Sendable {
        case integer(any WritableKeyPath<ServerConfiguration, Int> & Sendable, ClosedRange<Int>)
        case milliseconds(any WritableKeyPath<ServerConfiguration, Int64> & Sendable, ClosedRange<Int>)
        case node(any WritableKeyPath<ServerConfiguration, UInt8> & Sendable, ClosedRange<Int>)
        /// Must not be empty.
        case text(any WritableKeyPath<ServerConfiguration, String> & Sendable)
        case optional(any WritableKeyPath<ServerConfiguration, String> & Sendable)
        /// A list in the file, or one text with commas; may be empty.
        case networks(any WritableKeyPath<ServerConfiguration, [String]> & Sendable)
        /// The same, of names and addresses of hosts without ports.
        case hosts(any WritableKeyPath<ServerConfiguration, [String]> & Sendable)
        /// A list in the file, or one text with commas; of the words alone.
        case words(any WritableKeyPath<ServerConfiguration, [String]> & Sendable, [String])
        /// `RATE/BURST`, or `none`.
        case rate(RateScope, RateKind)
        case choice(any WritableKeyPath<ServerConfiguration, String> & Sendable, [String])

        static func choice<Word: CaseIterable & RawRepresentable<String>>(
            _ path: any WritableKeyPath<ServerConfiguration, String> & Sendable, of words: Word.Type
        ) -> Place {
            .choice(path, words.allCases.map(\.rawValue))
        }
    }

    init(_ name: String, _ summary: String, _ place: Place) {
        self.name = name
        self.summary = summary
        self.place = place
    }

    package var environmentVariable: String { "TIDINGS_" + self.name.uppercased().replacing(".", with: "_") }

    package func value(in configuration: ServerConfiguration) -> String {
        switch self.place {
        case .integer(let path, _): "\(configuration[keyPath: path])"
        case .milliseconds(let path, _): "\(configuration[keyPath: path])"
        case .node(let path, _): "\(configuration[keyPath: path])"
        case .networks(let path), .hosts(let path), .words(let path, _):
            configuration[keyPath: path].joined(separator: ", ")
        case .text(let path), .optional(let path), .choice(let path, _): configuration[keyPath: path]
        case .rate(let scope, let kind): configuration.core.limits[scope, kind]?.text ?? Self.noLimit
        }
    }

    private static let noLimit = "none"

    var isList: Bool {
        switch self.place {
        case .networks, .hosts, .words: true
        case .integer, .milliseconds, .node, .text, .optional, .rate, .choice: false
        }
    }

    /// - Returns: what is wrong with the text; then nothing is changed. Ranges are checked by `fault(in:)`.
    func set(_ text: String, in configuration: inout ServerConfiguration) -> ConfigurationFault? {
        switch self.place {
        case .integer(let path, let range):
            guard let value = Int(text) else { return self.notWhole(text, range) }
            configuration[keyPath: path] = value
        case .milliseconds(let path, let range):
            guard let value = Int64(text) else { return self.notWhole(text, range) }
            configuration[keyPath: path] = value
        case .node(let path, let range):
            guard let value = UInt8(text) else { return self.notWhole(text, range) }
            configuration[keyPath: path] = value
        case .networks(let path), .hosts(let path), .words(let path, _):
            configuration[keyPath: path] = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        case .text(let path), .optional(let path), .choice(let path, _):
            configuration[keyPath: path] = text
        case .rate(let scope, let kind):
            guard text != Self.noLimit else {
                configuration.core.limits[scope, kind] = nil
                break
            }
            guard let limit = RateLimit(text) else {
                return self.fault(
                    "must be RATE/BURST with whole numbers from 1 to \(RateLimit.perSecondMax) and "
                        + "\(RateLimit.burstMax), or none, got \"\(text)\"")
            }
            configuration.core.limits[scope, kind] = limit
        }
        return nil
    }

    func fault(in configuration: ServerConfiguration) -> ConfigurationFault? {
        switch self.place {
        case .integer(let path, let range): self.fault(configuration[keyPath: path], range)
        case .milliseconds(let path, let range): self.fault(Int(clamping: configuration[keyPath: path]), range)
        case .node(let path, let range): self.fault(Int(configuration[keyPath: path]), range)
        // What is not one cannot be made.
        case .rate: nil
        case .text(let path):
            configuration[keyPath: path].isEmpty ? self.fault("must not be empty") : nil
        case .optional: nil
        case .networks(let path):
            configuration[keyPath: path].first { IPNetwork($0) == nil }.map {
                ConfigurationFault(
                    field: self.name, rule: "must be addresses or networks, got \"\($0)\"",
                    remedy: "write for example 127.0.0.1 or 10.0.0.0/8")
            }
        case .hosts(let path):
            configuration[keyPath: path].first { !Self.isHost($0) }.map {
                ConfigurationFault(
                    field: self.name, rule: "must be names or addresses without ports, got \"\($0)\"",
                    remedy: "write for example push.example.com")
            }
        case .words(let path, let words):
            configuration[keyPath: path].first { !words.contains($0) }.map {
                self.fault("must be of \(words.joined(separator: ", ")), got \"\($0)\"")
            }
        case .choice(let path, let words):
            words.contains(configuration[keyPath: path])
                ? nil
                : self.fault(
                    "must be one of \(words.joined(separator: ", ")), got \"\(configuration[keyPath: path])\"")
        }
    }

    private func fault(_ value: Int, _ range: ClosedRange<Int>) -> ConfigurationFault? {
        guard !range.contains(value) else { return nil }
        return self.fault("must be \(range.lowerBound) to \(range.upperBound), got \(value)")
    }

    private func notWhole(_ text: String, _ range: ClosedRange<Int>) -> ConfigurationFault {
        self.fault("must be a whole number from \(range.lowerBound) to \(range.upperBound), got \"\(text)\"")
    }

    private func fault(_ rule: String) -> ConfigurationFault {
        ConfigurationFault(field: self.name, rule: rule, remedy: self.remedy)
    }

    private var remedy: String { "set \(self.name) in the file or \(self.environmentVariable): \(self.summary)" }

    /// In the order of the documentation.
    package static let all: [ConfigurationKey] =
        Self.network + Self.http + Self.console + Self.files + Self.webhooks + Self.media + Self.times + Self.push
        + Self.apns
        + Self.policy
        + Self.admission
        + Self.limits

    private static let network: [ConfigurationKey] = [
        .init("gateway.host", "address the WebSocket gateway listens on", .text(\.gateway.host)),
        .init("gateway.port", "TCP port of the gateway, 0 for any free one", .integer(\.gateway.port, 0...65_535)),
        .init(
            "gateway.frame_bytes_max", "largest message of a client in bytes",
            .integer(\.gateway.frameBytesMax, 65_536...16_777_216)),
        .init(
            "gateway.unauthenticated_milliseconds", "time a connection may take until its hello, in milliseconds",
            .integer(\.gateway.unauthenticatedMilliseconds, 10...300_000)),
        .init(
            "gateway.backlog_bytes_max", "bytes that may wait for a slow reader before it is cut off",
            .integer(\.gateway.backlogBytesMax, 65_536...1_073_741_824)),
        .init(
            "gateway.connections_max", "connections at the same time",
            .integer(\.gateway.connectionsMax, 1...10_000_000)),
    ]

    private static let files: [ConfigurationKey] = [
        .init("store.path", "path of the SQLite file; its folder must exist", .text(\.store.path)),
        .init(
            "store.synchronous", "full; normal loses acknowledged messages when the power goes, and is for proofs only",
            .choice(\.store.synchronous, ["full", "normal"])),
        .init(
            "store.free_bytes_min",
            "free bytes of the disk below which sends are refused with storage_full, 0 for no limit",
            .milliseconds(\.core.freeBytesMin, 0...9_007_199_254_740_991)),
        .init(
            "store.erase_milliseconds", "time in which a text that was recalled or edited over leaves the file",
            .milliseconds(\.store.eraseMilliseconds, 100...86_400_000)),
        .init(
            "store.master_key_path",
            "file of the keys under which secrets are kept; without one it is the database's path with .key",
            .optional(\.store.masterKeyPath)),
        .init(
            "search.path", "file of the index for message search, made from the store; without one there is no search",
            .optional(\.search.path)),
        .init("node", "number of this server in message ids", .node(\.core.node, 0...63)),
        .init("log.level", "lowest level that is logged", .choice(\.log.level, of: Logger.Level.self)),
        .init(
            "log.format", "form of a log line; auto is text at a terminal and JSON elsewhere",
            .choice(\.log.format, ["auto", "json", "text"])),
        .init(
            "log.audit_path", "file the lines of the audit log are appended to; without one they are among the others",
            .optional(\.log.auditPath)),
    ]

    private static let times: [ConfigurationKey] = [
        .init(
            "session.heartbeat_milliseconds", "time between two pings of a client; after twice as long it is gone",
            .milliseconds(\.core.heartbeat, 100...3_600_000)),
        .init(
            "token.warning_milliseconds",
            "time before a token expires at which its client is told; a fifth of the time left if that is less",
            .milliseconds(\.core.tokenWarningTime, 0...86_400_000)),
        .init(
            "token.grace_milliseconds", "time a connection lives on after its token has expired",
            .milliseconds(\.core.tokenGraceTime, 0...3_600_000)),
        .init(
            "token.leeway_milliseconds", "time before its nbf or iat at which a token is taken already",
            .integer(\.tokens.leewayMilliseconds, 0...300_000)),
        .init(
            "token.keys_refresh_milliseconds", "time between two looks at apps' key sets",
            .integer(\.tokens.keysRefreshMilliseconds, 1_000...86_400_000)),
        .init(
            "lease.foreground_ack_milliseconds", "time a phone in the foreground has to settle a message",
            .milliseconds(\.core.foregroundAckDeadline, 50...600_000)),
        .init(
            "lease.background_ack_milliseconds", "time a phone in the background has to settle a message",
            .milliseconds(\.core.backgroundAckDeadline, 50...600_000)),
        .init(
            "lease.grace_milliseconds", "time a phone that lost its connection in the foreground has to return",
            .milliseconds(\.core.graceTime, 0...600_000)),
        .init(
            "lease.probe_milliseconds", "time a phone that missed its deadline has to answer a probe",
            .milliseconds(\.core.probeTime, 50...600_000)),
        .init(
            "lease.restart_grace_milliseconds", "time phones have to return after a start before anything is pushed",
            .milliseconds(\.core.restartGraceTime, 0...600_000)),
        .init(
            "lease.background_milliseconds_max", "longest time a phone stays connected in the background",
            .milliseconds(\.core.backgroundTimeMax, 1_000...600_000)),
        .init(
            "drain.spread_milliseconds", "time over which clients are asked to come back after a stop",
            .milliseconds(\.core.drainSpread, 0...600_000)),
        .init(
            "drain.wait_milliseconds", "time clients have to hang up when the server stops",
            .milliseconds(\.core.drainTime, 0...600_000)),
    ]

    private static let push: [ConfigurationKey] = [
        .init(
            "push.lifetime_milliseconds", "age after which a message is no longer pushed",
            .milliseconds(\.core.pushLifetime, 1_000...2_592_000_000)),
        .init(
            "push.recipient_tag_salt",
            "number that keeps the recipient tags of two installations apart; phones have to connect once after a change",
            .integer(\.recipientTagSalt, 0...9_007_199_254_740_991)),
        .init(
            "push.extension_token_overlap_milliseconds",
            "time an extension token is still good after a newer connect of its device has replaced it",
            .milliseconds(\.core.extensionTokenOverlap, 0...86_400_000)),
        .init(
            "push.back_off_milliseconds", "first wait after a failed push, doubled by each further failure",
            .milliseconds(\.core.backOffBase, 10...3_600_000)),
        .init(
            "push.back_off_milliseconds_max", "longest wait between two tries of a push",
            .milliseconds(\.core.backOffMax, 10...86_400_000)),
        .init(
            "push.breaker_milliseconds",
            "first wait of a lane that refused tokens have stopped, doubled by each failed try",
            .milliseconds(\.core.breakerBase, 10...3_600_000)),
        .init(
            "push.breaker_milliseconds_max", "longest wait of a lane that refused tokens have stopped",
            .milliseconds(\.core.breakerMax, 10...86_400_000)),
        .init(
            "push.quarantine_burst",
            "people whose tokens, accepted before, are refused in a row for one reason, so that their lane is stopped",
            .integer(\.core.quarantineBurst, 1...1_000_000)),
        .init(
            "push.provider_failure_burst", "failures of APNs in a row after which nothing is sent for a while",
            .integer(\.pushOutage.failuresMax, 1...1_000_000)),
        .init(
            "push.outage_milliseconds",
            "first pause when APNs fails or refuses the credential, doubled by each failed try",
            .milliseconds(\.pushOutage.pause, 10...3_600_000)),
        .init(
            "push.outage_milliseconds_max", "longest pause when APNs fails or refuses the credential",
            .milliseconds(\.pushOutage.pauseMax, 10...86_400_000)),
    ]

    private static let policy: [ConfigurationKey] = [
        .init(
            "policy.active_elsewhere_milliseconds",
            "time a push waits after the person did something on another device, 0 for no wait",
            .milliseconds(\.core.activeElsewhereTime, 0...3_600_000)),
        .init(
            "policy.storm_limit", "alerts of one conversation after which the next ones are merged, 0 for never",
            .integer(\.core.stormLimit, 0...1_000_000)),
        .init(
            "policy.storm_window_milliseconds", "time in which alerts are counted, and merged ones wait",
            .milliseconds(\.core.stormWindow, 1_000...3_600_000)),
        .init(
            "policy.badge_pushes_per_hour",
            "silent pushes an hour that tell a device a lower badge; with 0 no push of any kind does",
            .integer(\.core.badgePushesPerHour, 0...60)),
        .init(
            "policy.badge_delay_milliseconds", "time such a push waits for others to be merged with it",
            .milliseconds(\.core.badgePushDelay, 100...3_600_000)),
        .init(
            "policy.badge_gap_milliseconds",
            "time after an alert in which no badge goes to a device as an alert itself",
            .milliseconds(\.core.badgeAlertGap, 100...3_600_000)),
        .init(
            "policy.recall_milliseconds", "time in which a sender may recall a message",
            .milliseconds(\.core.recallWindow, 0...2_592_000_000)),
        .init(
            "policy.edit_milliseconds", "time in which a sender may edit a message",
            .milliseconds(\.core.editWindow, 0...2_592_000_000)),
        .init(
            "policy.members_max", "members a group, discussion or chat room may have",
            .integer(\.core.membersMax, 1...3_000)),
        .init(
            "policy.rooms_per_connection_max", "chat rooms one connection may hear",
            .integer(\.core.roomsPerSessionMax, 0...1_000)),
        .init(
            "policy.room_history_max", "messages of a chat room that are kept for who comes in",
            .integer(\.core.roomHistoryMax, 0...1_000)),
        .init(
            "policy.room_history_milliseconds", "age after which a chat room's message is handed over no more",
            .milliseconds(\.core.roomHistoryAge, 1_000...31_536_000_000)),
        .init(
            "policy.watched_per_connection_max", "people one connection may watch",
            .integer(\.core.watchedPerSessionMax, 0...10_000)),
        .init(
            "policy.devices", "devices of a person that may be signed in at the same time",
            .choice(\.devicePolicy, of: DevicePolicy.self)),
        .init(
            "policy.devices_max", "devices of a person that may be signed in, whatever policy.devices says",
            .integer(\.core.devicesMax, 1...100)),
        .init(
            "policy.device_expiry_milliseconds",
            "time without connecting after which a device is signed out, 0 for never",
            .milliseconds(\.core.deviceExpiry, 0...3_153_600_000_000)),
    ]

    private typealias Policy = ConversationPolicy

    private static let admission: [ConfigurationKey] = [
        .init("policy.create.group", "who makes groups", .choice(\.create.group, of: Policy.Creation.self)),
        .init(
            "policy.create.discussion", "who makes discussions", .choice(\.create.discussion, of: Policy.Creation.self)),
        .init("policy.create.chat_room", "who makes chat rooms", .choice(\.create.chatRoom, of: Policy.Creation.self)),
        .init("policy.join.group", "who comes into a group by its id", .choice(\.join.group, of: Policy.Joining.self)),
        .init(
            "policy.join.discussion", "who comes into a discussion by its id",
            .choice(\.join.discussion, of: Policy.Joining.self)),
        .init(
            "policy.join.chat_room", "who comes into a chat room by its id; with nobody its members alone hear it",
            .choice(\.join.chatRoom, of: Policy.Joining.self)),
        .init("policy.add.group", "who adds people to a group", .choice(\.add.group, of: Policy.Adding.self)),
        .init(
            "policy.add.discussion", "who adds people to a discussion",
            .choice(\.add.discussion, of: Policy.Adding.self)),
        .init(
            "policy.add.chat_room", "who adds people to a chat room", .choice(\.add.chatRoom, of: Policy.Adding.self)),
    ]
}
