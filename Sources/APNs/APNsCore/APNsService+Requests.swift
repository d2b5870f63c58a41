package import APNsModel
import TidingsModel

extension APNsService {
    private enum Passed {
        case push(AcceptedPush, RegisteredDevice)
        case channels(ChannelAction)

        var topic: String {
            switch self {
            case .push(let push, _): push.target.topic
            case .channels(let action): action.channel.bundleID
            }
        }

        var token: PushToken? {
            switch self {
            case .push(let push, _): push.token
            case .channels: nil
            }
        }
    }

    struct Inquiry {
        var id: RequestID
        var request: WireRequest
        var drawn: DrawnIDs
        var host: ProviderHost
        /// Answered with `apns-request-id`.
        var isAboutChannels: Bool
        var name: String
    }

    /// In the order of APNs reference, section 20; then the fault plan, acceptance and delivery.
    mutating func receive(
        _ id: RequestID, _ request: WireRequest, token: ProviderTokenFacts, drawn: DrawnIDs, at now: Now,
        into effects: inout [Effect]
    ) {
        guard var connection = self.connections[id.connection] else { return }
        connection.received(stream: id.stream, at: now)
        let isAboutChannels =
            connection.host.service == .channels || request.path.hasPrefix("/4/")
        var inquiry = Inquiry(
            id: id, request: request, drawn: drawn, host: connection.host, isAboutChannels: isAboutChannels,
            name: drawn.apnsID)
        guard request.headerListBytes <= self.configuration.headerListBytesMax else {
            self.connections[id.connection] = connection
            effects.append(.log(self.logged(.faulted("header_list_too_large"), inquiry, at: now)))
            // A request that cannot be read is malformed (RFC 9113, section 8.1.1).
            return effects.append(.resetStream(id, code: HTTP2Code.protocolError))
        }
        let passed: Passed
        do throws(Refusal) {
            let fields = try RequestFields(request)
            inquiry.name = Self.name(isAboutChannels ? fields.requestID : fields.apnsID, inquiry)
            passed = try self.check(inquiry, fields, token: token, connection: &connection, at: now)
        } catch {
            self.connections[id.connection] = connection
            let status = error.reason.status ?? 400
            return self.refuse(inquiry, error, status: status, at: now, into: &effects)
        }
        self.connections[id.connection] = connection
        self.finish(passed, inquiry, at: now, into: &effects)
    }

    /// Its own if that is valid, or else the drawn one.
    private static func name(_ stated: String?, _ inquiry: Inquiry) -> String {
        guard let stated else { return inquiry.drawn.apnsID }
        let isGood =
            inquiry.isAboutChannels ? APNsFormat.isUUID(stated.utf8) : APNsFormat.isCanonicalUUID(stated.utf8)
        return isGood ? stated : inquiry.drawn.apnsID
    }

    /// Steps 2 to 6.
    private mutating func check(
        _ inquiry: Inquiry, _ fields: RequestFields, token: ProviderTokenFacts, connection: inout ProviderConnection,
        at now: Now
    ) throws(Refusal) -> Passed {
        guard !self.isShuttingDown else { throw Refusal(.shutdown) }
        let route = try ProviderRoute(inquiry.request, host: inquiry.host)
        let skew = self.faults.clockSkew()
        try connection.authenticate(
            token, credentials: self.credentials, rules: self.configuration, skew: skew, at: now)
        let text: String
        switch route {
        case .push(let token): text = token
        case .channels(let task, let bundleID):
            return .channels(
                try self.checkChannels(task, of: bundleID, inquiry, fields, connection: connection))
        }
        let headers = try RequestCheck.headers(fields, connection: &connection)
        try RequestCheck.body(inquiry.request.body, bytesMax: headers.pushType.payloadBytesMax)
        let device = try self.registry.device(
            token: text, topic: headers.topic, environment: inquiry.host.environment)
        if let rate = self.configuration.deviceRate {
            let wait = self.deviceShares[device.token, default: TokenBucket(rate, at: now.monotonic)]
                .takeToken(rate, at: now.monotonic)
            guard wait == 0 else { throw Refusal(.tooManyRequests, detail: "\(wait) ms too early") }
        }
        let push = AcceptedPush(
            apnsID: inquiry.name, uniqueID: inquiry.drawn.uniqueID, token: device.token, target: device.target,
            pushType: headers.pushType, priority: headers.priority, expiration: headers.expiration,
            collapseID: headers.collapseID, payload: inquiry.request.body, acceptedAt: now.wall)
        return .push(push, device)
    }

    private mutating func finish(_ passed: Passed, _ inquiry: Inquiry, at now: Now, into effects: inout [Effect]) {
        let id = inquiry.id
        let faults = self.faults.request(topic: passed.topic, token: passed.token)
        if let limit = faults.streamLimit { self.connections[id.connection]?.limit(by: limit) }
        let delay = faults.delayMilliseconds
        switch faults.ending {
        case nil:
            self.accept(passed, inquiry, delay: delay, at: now, into: &effects)
        case .respond(let status, let reason, let retryAfter):
            let refusal = Refusal(reason, timestamp: status == 410 ? now.wall : nil, detail: "fault plan")
            self.refuse(
                inquiry, refusal, status: status, retryAfter: retryAfter, delay: delay, at: now, into: &effects)
        case .loseAnswer:
            self.accept(passed, inquiry, delay: delay, isAnswerLost: true, at: now, into: &effects)
        case .goAway(let debug, .current):
            // Before the answer: a client that has all its answers may have gone before it reads why it should.
            self.sendAway(id.connection, debug, isProcessed: true, into: &effects)
            self.accept(passed, inquiry, delay: delay, at: now, into: &effects)
        case .goAway(let debug, .previous):
            effects.append(.log(self.logged(.faulted("goaway"), inquiry, at: now)))
            self.sendAway(id.connection, debug, isProcessed: false, into: &effects)
        case .resetStream(let code):
            effects.append(.log(self.logged(.faulted("reset_stream"), inquiry, at: now)))
            self.announceLimit(id.connection, into: &effects)
            effects.append(.resetStream(id, code: code))
        case .refuseStream:
            effects.append(.log(self.logged(.faulted("refuse_stream"), inquiry, at: now)))
            self.announceLimit(id.connection, into: &effects)
            effects.append(.resetStream(id, code: HTTP2Code.refusedStream))
        case .blackHole:
            effects.append(.log(self.logged(.faulted("black_hole"), inquiry, at: now)))
            self.connections[id.connection] = nil
            effects.append(.silenceConnection(id.connection))
        case .cut:
            effects.append(.log(self.logged(.faulted("cut"), inquiry, at: now)))
            self.connections[id.connection] = nil
            effects.append(.cutConnection(id.connection))
        // Faults that do not end a request.
        case .delay, .streamLimit, .tlsAlert, .refuseConnect, .clockSkew, .outage: break
        }
    }

    private mutating func sendAway(
        _ id: ConnectionID, _ debug: Fault.GoAwayDebug, isProcessed: Bool, into effects: inout [Effect]
    ) {
        guard let connection = self.connections.removeValue(forKey: id) else { return }
        let last = isProcessed ? connection.lastStream : connection.previousStream
        let (code, bytes): (UInt32, [UInt8]) =
            switch debug {
            case .reason(let reason): (HTTP2Code.noError, APNsResponse.body(of: reason))
            case .text(let text): (HTTP2Code.refusedStream, Array(text.utf8))
            case .empty: (HTTP2Code.noError, [])
            }
        effects.append(.goAway(id, lastStream: last, code: code, debug: bytes))
    }

    private mutating func accept(
        _ passed: Passed, _ inquiry: Inquiry, delay: Int64, isAnswerLost: Bool = false, at now: Now,
        into effects: inout [Effect]
    ) {
        let id = inquiry.id
        self.connections[id.connection]?.accepted()
        if !isAnswerLost { self.announceLimit(id.connection, into: &effects) }
        var answer = self.answer(to: inquiry, status: 200)
        var body: [UInt8] = []
        switch passed {
        case .push(let push, _):
            self.tally?.count(push)
            effects.append(.log(push.logged(.accepted, at: now)))
        case .channels(let action):
            (answer, body) = self.performChannelAction(action, inquiry, answer: answer, at: now, into: &effects)
        }
        if isAnswerLost {
            effects.append(.log(self.logged(.answerLost, inquiry, topic: passed.topic, at: now)))
            effects.append(.cutConnection(id.connection))
            self.connections[id.connection] = nil
        } else {
            effects.append(.respond(id, answer, body: body, delayMilliseconds: delay))
        }
        switch passed {
        case .push(let push, let device): self.deliver(push, device, at: now, into: &effects)
        case .channels(let action): self.publish(action, inquiry, at: now, into: &effects)
        }
    }

    private mutating func deliver(
        _ push: AcceptedPush, _ device: RegisteredDevice, at now: Now, into effects: inout [Effect]
    ) {
        guard device.retiredAt != nil else {
            return self.forward(.accepted(push), to: push.target.phone, at: now, into: &effects)
        }
        effects.append(.log(push.logged(.discarded(.tokenNoLongerActive), at: now)))
        if let device = self.registry.acceptedAfterEnd(push.token) { effects.append(.save(device.record)) }
    }

    /// The unique id comes from the sandbox, and with every broadcast (APNs reference, section 8).
    private func answer(to inquiry: Inquiry, status: Int) -> APNsResponse {
        var answer = APNsResponse(status: status)
        if inquiry.isAboutChannels {
            answer.requestID = inquiry.name
        } else {
            answer.apnsID = inquiry.name
            if inquiry.host.environment == .sandbox { answer.uniqueID = inquiry.drawn.uniqueID }
        }
        return answer
    }

    private mutating func refuse(
        _ inquiry: Inquiry, _ refusal: Refusal, status: Int, retryAfter: Int64? = nil, delay: Int64 = 0, at now: Now,
        into effects: inout [Effect]
    ) {
        let id = inquiry.id.connection
        let isTooMuch =
            self.connections[id]?.refused(refusal.reason, status: status, rules: self.configuration) ?? false
        self.announceLimit(id, into: &effects)
        effects.append(
            .log(self.logged(.refused(refusal.reason, detail: refusal.detail), inquiry, at: now)))
        var answer = self.answer(to: inquiry, status: status)
        answer.reason = refusal.reason
        answer.invalidSince = refusal.timestamp.map { APNsInvalidSince(milliseconds: $0) }
        answer.retryAfter = retryAfter
        effects.append(
            .respond(
                inquiry.id, answer, body: APNsResponse.body(of: refusal.reason, since: refusal.timestamp),
                delayMilliseconds: delay))
        // Reasons that are about the connection end it (APNs reference, sections 2 and 3.3).
        switch refusal.reason {
        case .badCertificate, .shutdown: self.closeWithGoAway(id, refusal.reason, into: &effects)
        default: if isTooMuch { self.closeWithGoAway(id, refusal.reason, into: &effects) }
        }
    }

    func logged(
        _ event: DeliveryLogEntry.Event, _ inquiry: Inquiry, topic: String? = nil, at now: Now
    ) -> DeliveryLogEntry {
        let last = inquiry.request.path.split(separator: "/").last.map { String($0) }
        return DeliveryLogEntry(
            apnsID: inquiry.name, uniqueID: inquiry.drawn.uniqueID, wall: now.wall, event: event,
            token: inquiry.isAboutChannels ? nil : last, topic: topic ?? inquiry.request["apns-topic"],
            environment: inquiry.host.environment,
            channelID: inquiry.isAboutChannels ? inquiry.request["apns-channel-id"].map { APNsChannelID($0) } : nil)
    }
}

extension APNsResponse {
    /// APNs reference, section 8: an object with `reason`, and with 410 `timestamp`.
    package static func body(of reason: APNsReason, since: Int64? = nil) -> [UInt8] {
        var object = JSONObject([("reason", .string(reason.name))])
        if let since { object["timestamp"] = .int(since) }
        return JSONValue.object(object).serialized
    }

    /// Without `:status`; names in lowercase. A body is always JSON.
    package func headerFields(hasBody: Bool) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if hasBody { fields.append(("content-type", "application/json")) }
        if let apnsID = self.apnsID { fields.append(("apns-id", apnsID)) }
        if let requestID = self.requestID { fields.append(("apns-request-id", requestID)) }
        if let uniqueID = self.uniqueID { fields.append(("apns-unique-id", uniqueID)) }
        if let channelID = self.channelID { fields.append(("apns-channel-id", channelID.rawValue)) }
        if let retryAfter = self.retryAfter { fields.append(("retry-after", String(retryAfter))) }
        return fields
    }
}
