/// A call as an app reports it to CallKit (iOS 10; ios-delivery.md §12).
public struct IncomingCall: Hashable, Sendable, Codable {
    /// The app's UUID of it.
    public var identifier: String
    /// The caller's name on the screen.
    public var caller: String
    /// True if it is a call with video.
    public var hasVideo: Bool

    /// A call.
    public init(identifier: String, caller: String, hasVideo: Bool = false) {
        self.identifier = identifier
        self.caller = caller
        self.hasVideo = hasVideo
    }
}

/// A call on the screen, whether the phone is locked or not.
public struct ShownCall: Hashable, Sendable {
    /// The app that has reported it.
    public var app: BundleID
    /// The call.
    public var call: IncomingCall
    /// It rings until the person answers.
    public var isAnswered: Bool
}

extension PhoneCore {
    /// From iOS 13 each VoIP push must report a call, unless the app is in the foreground or has one already.
    func mustReportCall(_ index: Int) -> Bool {
        self.version >= 13 && !self.apps[index].state.isInForeground
            && self.apps[index].run?.background.calls.isEmpty == true
    }

    mutating func reportCall(_ call: IncomingCall, _ index: Int, _ turn: inout Turn) {
        guard self.version >= 10 else {
            return turn.recordFault(self.bundleID(index), "CallKit needs iOS 10")
        }
        guard var run = self.apps[index].run else { return }
        if let known = run.background.calls.firstIndex(where: { $0.call.identifier == call.identifier }) {
            run.background.calls[known].call = call
        } else {
            run.background.calls.append(RunningCall(call: call))
            turn.record(self.bundleID(index), .incomingCall(call))
        }
        for position in run.openCalls.indices {
            guard case .voip = run.openCalls[position].kind else { continue }
            run.openCalls[position].kind = .voip(mustReport: false)
        }
        self.apps[index].run = run
    }

    mutating func endCall(_ identifier: String, _ index: Int) {
        self.apps[index].run?.background.calls.removeAll { $0.call.identifier == identifier }
    }

    /// The first that rings.
    mutating func answerCall(_ turn: inout Turn) {
        for index in self.apps.indices {
            guard let place = self.apps[index].run?.background.calls.firstIndex(where: { !$0.isAnswered }),
                let call = self.apps[index].run?.background.calls[place].call
            else { continue }
            self.apps[index].run?.background.calls[place].isAnswered = true
            return self.append(.call(.callAnswered(call.identifier)), to: index, &turn)
        }
        turn.recordFault(nil, "an incoming call must be on the screen")
    }

    /// The first that rings, or else the first that was answered.
    mutating func declineCall(_ turn: inout Turn) {
        for isAnswered in [false, true] {
            for index in self.apps.indices {
                let calls = self.apps[index].run?.background.calls ?? []
                guard let call = calls.first(where: { $0.isAnswered == isAnswered })?.call else { continue }
                self.endCall(call.identifier, index)
                return self.append(.call(.callDeclined(call.identifier)), to: index, &turn)
            }
        }
        turn.recordFault(nil, "a call must be on the screen")
    }

    var shownCalls: [ShownCall] {
        self.apps.flatMap { app in
            (app.run?.background.calls ?? []).map {
                ShownCall(app: app.installed.bundleID, call: $0.call, isAnswered: $0.isAnswered)
            }
        }
    }
}
