package import APNsModel
import TidingsModel

extension APNsService {
    /// Answers one request: checks in the order of apns.md §20, then the fault plan, then acceptance and delivery.
    mutating func receive(
        _ id: RequestID, _ request: WireRequest, token: ProviderTokenFacts, drawn: DrawnIDs, at now: Now,
        into effects: inout [Effect]
    ) {
        guard var connection = self.connections[id.connection] else { return }
        let stated = request["apns-id"].flatMap { APNsFormat.isCanonicalUUID($0.utf8) ? $0 : nil }
        let ids = DrawnIDs(apnsID: stated ?? drawn.apnsID, uniqueID: drawn.uniqueID)
        let limit = connection.streamLimit
        let verdict = self.check(request, token: token, ids: ids, connection: &connection, at: now)
        self.connections[id.connection] = connection
        if connection.streamLimit != limit {
            effects.append(.announceStreamLimit(id.connection, connection.streamLimit))
        }
        var answer = APNsResponse(status: 200, apnsID: ids.apnsID)
        if connection.environment == .sandbox { answer.uniqueID = ids.uniqueID }
        switch verdict {
        case .failure(let refusal):
            self.refuse(id, request, refusal, ids: ids, answer: answer, delay: 0, at: now, into: &effects)
        case .success(let push):
            let faults = self.faults.take()
            if let injected = faults.refusal {
                let timestamp = injected.status == 410 ? now.wall : nil
                let refusal = Refusal(injected.reason, timestamp: timestamp, detail: "fault plan")
                answer.status = injected.status
                self.refuse(
                    id, request, refusal, ids: ids, answer: answer, delay: faults.delayMilliseconds, at: now,
                    into: &effects)
                return
            }
            effects.append(.log(push.logged(.accepted, at: now)))
            if faults.losesAnswer {
                effects.append(.log(push.logged(.answerLost, at: now)))
                effects.append(.cutConnection(id.connection))
                self.connections[id.connection] = nil
            } else {
                effects.append(.respond(id, answer, delayMilliseconds: faults.delayMilliseconds))
            }
            self.forward(.accepted(push), to: push.target.phone, at: now, into: &effects)
        }
    }

    /// Steps 1 to 6 of apns.md §20.
    private func check(
        _ request: WireRequest, token: ProviderTokenFacts, ids: DrawnIDs, connection: inout ProviderConnection,
        at now: Now
    ) -> Result<AcceptedPush, Refusal> {
        do throws(Refusal) {
            try RequestCheck.duplicates(request)
            let deviceToken = try RequestCheck.deviceToken(request)
            let key = try connection.authenticate(token, rules: self.configuration, at: now)
            // The pipeline opens with the first request that carries a good token (apns.md §3.1).
            connection.streamLimit = self.configuration.streamsAfterToken
            let headers = try RequestCheck.headers(request, key: key)
            try RequestCheck.body(request, pushType: headers.pushType)
            let device = try self.registry.device(
                token: deviceToken, topic: headers.topic, environment: connection.environment)
            return .success(
                AcceptedPush(
                    apnsID: ids.apnsID, uniqueID: ids.uniqueID, token: device.token, target: device.target,
                    pushType: headers.pushType, priority: headers.priority, expiration: headers.expiration,
                    collapseID: headers.collapseID, payload: request.body, acceptedAt: now.wall))
        } catch {
            return .failure(error)
        }
    }

    private func refuse(
        _ id: RequestID, _ request: WireRequest, _ refusal: Refusal, ids: DrawnIDs, answer: APNsResponse, delay: Int64,
        at now: Now, into effects: inout [Effect]
    ) {
        let token = request.path.split(separator: "/").last.map { String($0) }
        effects.append(
            .log(
                DeliveryLogEntry(
                    apnsID: ids.apnsID, uniqueID: ids.uniqueID, wall: now.wall,
                    event: .refused(refusal.reason, detail: refusal.detail), token: token, topic: request["apns-topic"])
            ))
        var answer = answer
        if answer.status == 200 { answer.status = refusal.reason.status ?? 400 }
        answer.reason = refusal.reason
        answer.timestamp = refusal.timestamp
        effects.append(.respond(id, answer, delayMilliseconds: delay))
    }
}

extension APNsResponse {
    /// The body of the answer (apns.md §8): empty with 200, otherwise an object with `reason`, and with 410
    /// `timestamp`.
    package var body: [UInt8] {
        guard let reason = self.reason else { return [] }
        var object = JSONObject([("reason", .string(reason.name))])
        if let timestamp = self.timestamp { object["timestamp"] = .int(timestamp) }
        return JSONValue.object(object).serialized
    }
}
