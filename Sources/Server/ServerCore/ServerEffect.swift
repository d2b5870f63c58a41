package import APNsModel
package import StoreModel
package import TidingsModel

/// Something the core wants done. The order of a list is its meaning: a shell carries the effects out one after the other.
package enum ServerEffect: Hashable, Sendable {
    /// Write a frame to a connection.
    case write(SessionID, ServerFrame)
    /// Write out what is waiting for this connection, then close it. The core has forgotten the session already.
    case close(SessionID)
    /// There is no room for what comes from where this connection comes from: refuse its handshake, and close it.
    case turnAway(SessionID, afterMilliseconds: Int64)
    /// Ask a connection for a sign of life (a WebSocket ping); the answer is `ServerEvent.heard`.
    case probe(SessionID)
    /// Carry out a store command; answered by `ServerEvent.stored`. Commands are to be carried out in the order given.
    case store(StoreRequestID, StoreCommand)
    /// Count the end of a leg that the store has ended by itself, or is about to; the others are counted by their `.endLeg`.
    case countEnd(LegEnd)
    /// Count that something was refused or dropped because somebody has had their share; no kind for too many commands that wait
    /// for the store.
    case countRefusal(RateScope, RateKind?)
    /// Count a push registration that was refused.
    case countRefusedRegistration
    /// Send a push with the app's credential; answered by `ServerEvent.pushEnded` or `.credentialMissing`.
    case push(PushID, AppID, APNsRequest)
    /// Look a time zone up by its name in the time-zone database; answered by `ServerEvent.timeZoneRead`.
    case readTimeZone(String)
    /// Check the token a session's client wants to go on with; answered by `ServerEvent.tokenChecked`.
    case checkToken(SessionID, RequestNumber, String)
    /// Answer a request of the HTTP API.
    case reply(APIRequestID, APIResult)
    /// Tell the operator that pushes of a lane wait, and why (DESIGN P8).
    case raiseAlarm(PushLane, PushAlarm)
    /// The lane works again.
    case clearAlarm(PushLane)
    /// The disk is almost full, and nothing new is taken; or it is no longer. For the operator.
    case storageChanged(isFull: Bool, free: Int64)
    /// The store refused to write. The core takes no more work; the process is to be ended and started again.
    case stopForStoreFailure(String)
    /// Draining is over: no session is left and every store command is answered. The process may end.
    case drained
    /// Something happened that our own code must not do; to be logged, and counted by tests.
    case flagBug(String)
}

/// What the HTTP API is told.
package enum APIResult: Hashable, Sendable {
    /// The message is synced; a repeat gets the first one's id and time, and position 0.
    case accepted(ServerFrame.SendAccepted)
    /// The command was carried out and is synced.
    case done
    /// Bad input, or try again (`unavailable`); nothing was changed.
    case refused(ServerFrame.Problem)
    /// The life of a message; nil if the app has no such message. With what the devices of its legs have said the person allows there,
    /// in their order.
    case trace(MessageTrace?, [ToldStatus] = [])
    /// Entries of a log.
    case page(LogPage)
    /// Entries of a person's log for a service extension, and in which words to tell of them; `hidesContent`: of what they say
    /// nothing is to be told.
    case missed(LogPage, NotificationWords, hidesContent: Bool)
    /// How much a person has not read.
    case unread(UnreadReport)
    /// The object names an app has registered, sorted.
    case objectNames([ObjectName])
    /// The accounts of an app, as their customers see them, sorted.
    case accounts([ConversationID])
    /// Who may not come into a chat room, sorted by person.
    case bans([Ban])
    /// The devices on which a person is signed in, sorted by id.
    case devices([DeviceInfo])
    /// What the app's backend has decided about a person.
    case userAccount(AccountState)
    /// What a request is answered.
    case answer(ClientAnswer)
}

/// Why the pushes of a lane wait.
package enum PushAlarm: Hashable, Sendable {
    /// APNs refuses the credential or the topic, or there is none. The reason is Apple's word, or `NoCredential`.
    case configFault(reason: String)
    /// APNs refuses the tokens of many people for one reason, which looks like an operator's mistake (DESIGN P8): either tokens
    /// it had accepted before, and the lane is stopped; or it has accepted none, and only these wait.
    case burst(reason: String)
    /// APNs cannot be reached, or answers with its own faults.
    case providerDown(reason: String)

    /// What an operator should look at, in words; nil where the reason says it, or nothing helps.
    package var advice: String? {
        switch self {
        case .configFault(let reason): APNsReason(name: reason).advice
        case .burst, .providerDown: nil
        }
    }
}
