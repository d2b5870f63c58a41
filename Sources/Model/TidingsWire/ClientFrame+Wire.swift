import SwiftProtobuf
import TidingsModel

extension WireClientFrame {
    init(_ frame: ClientFrame) {
        switch frame {
        case .hello(let hello):
            self.hello = .with {
                $0.versionMin = hello.versions.lowerBound
                $0.versionMax = hello.versions.upperBound
                $0.token = hello.token
                $0.device = hello.device.rawValue
                $0.platform = hello.platform
                $0.runState = WireRunState(hello.runState)
                $0.after = hello.after
                $0.opening = hello.opening
            }
        case .send(let draft): self.send = WireSend(draft)
        case .ack(let ack):
            self.ack = .with {
                $0.stored = ack.stored
                $0.settled = ack.settled.map(WireSettlement.init)
            }
        case .runState(let state): self.runState = WireRunState(state)
        case .registerPush(let registration, let number):
            self.registerPush = WireRegisterPush(registration)
            if let number { self.registerPush.number = number }
        case .sync(let after, let limit):
            self.sync = .with {
                $0.after = after
                $0.limit = limit
            }
        case .markRead(let conversation, let upTo):
            self.markRead = .with {
                $0.conversation = WireConversation(conversation)
                $0.upTo = upTo
            }
        case .ping(let nonce): self.ping = .with { $0.nonce = nonce }
        case .signOut: self.signOut = WireSignOut()
        case .deviceStatus(let status): self.deviceStatus = WireDeviceStatus(status)
        case .opened(let message): self.opened = .with { $0.message = message.description }
        case .request(let number, let request): self.request = WireRequest(number, request)
        case .typing(let conversation, let isTyping):
            self.typing = .with {
                $0.conversation = WireConversation(conversation)
                $0.isTyping = isTyping
            }
        }
    }

    func model() throws(FrameError) -> ClientFrame {
        switch self.frame {
        case nil: throw .empty
        case .hello(let hello): return .hello(try hello.model())
        case .send(let send): return .send(try send.model())
        case .ack(let ack): return .ack(try ack.model())
        case .runState(let state): return .runState(try state.model(field: "run_state"))
        case .registerPush(let registration):
            let number = registration.number == 0 ? nil : registration.number
            return .registerPush(
                try numbered(number) { () throws(FrameError) in try registration.registration() }, number: number)
        case .sync(let sync): return .sync(after: sync.after, limit: sync.limit)
        case .markRead(let read):
            return .markRead(try read.conversation.model(field: "conversation"), upTo: read.upTo)
        case .ping(let ping): return .ping(ping.nonce)
        case .signOut: return .signOut
        case .deviceStatus(let status): return .deviceStatus(try status.status())
        case .opened(let opened):
            return .opened(try messageID(opened.message, field: "opened.message"))
        case .request(let request): return .request(request.number, try request.model())
        case .typing(let typing):
            return .typing(try typing.conversation.model(field: "conversation"), isTyping: typing.isTyping)
        }
    }
}

extension WireHello {
    fileprivate func model() throws(FrameError) -> ClientFrame.Hello {
        guard self.versionMin > 0, self.versionMin <= self.versionMax else {
            throw .broken("version_min", "must be at least 1 and at most version_max")
        }
        guard self.platform.utf8.count <= 32 else {
            throw .broken("platform", "must be at most 32 bytes")
        }
        let state = try self.runState.model(field: "run_state")
        guard state != .suspending else {
            throw .broken("run_state.state", "must not be suspending in a hello")
        }
        return ClientFrame.Hello(
            versions: self.versionMin...self.versionMax, token: self.token,
            device: try checked { () throws(InvalidField) in try DeviceID.validated(self.device, field: "device") },
            platform: self.platform, runState: state, after: self.after, opening: self.opening)
    }
}

extension WireSend {
    fileprivate init(_ draft: MessageDraft) {
        self.init()
        self.clientMessageID = draft.clientMessageID.rawValue
        self.conversation = WireConversation(draft.conversation)
        self.objectName = draft.objectName.rawValue
        self.content = draft.content
        self.notStored = !draft.flags.contains(.stored)
        self.notCounted = !draft.flags.contains(.counted)
        self.notNotified = !draft.flags.contains(.notified)
        if let text = draft.pushText { self.pushText = text }
        if let mentions = WireMentions(draft.mentions) { self.mentions = mentions }
        self.recipients = draft.recipients.map(\.rawValue)
        if let lifetime = draft.lifetimeMilliseconds { self.lifetimeMs = lifetime }
        if let push = draft.push { self.push = push.json.text }
        if let account = draft.account { self.account = account.rawValue }
    }

    fileprivate func model() throws(FrameError) -> MessageDraft {
        let id = ClientMessageID(self.clientMessageID)
        var draft = MessageDraft(
            clientMessageID: id, conversation: try self.conversation.model(field: "conversation", send: id),
            objectName: ObjectName(self.objectName), content: self.content,
            flags: MessageFlags(notStored: self.notStored, notCounted: self.notCounted, notNotified: self.notNotified),
            pushText: self.hasPushText ? self.pushText : nil,
            mentions: self.hasMentions ? try self.mentions.model(send: id) : .none,
            recipients: sortedUsers(self.recipients), lifetimeMilliseconds: self.hasLifetimeMs ? self.lifetimeMs : nil,
            account: self.hasAccount ? UserID(self.account) : nil)
        try checked(send: id) { () throws(InvalidField) in
            if self.hasPush { draft.push = try PushOptions(parsing: self.push.utf8).nonEmpty }
            try draft.validate()
        }
        return draft
    }
}

extension MessageFlags {
    init(notStored: Bool, notCounted: Bool, notNotified: Bool, unlisted: Bool = false) {
        self = .normal
        if notStored { self.remove(.stored) }
        if notCounted { self.remove(.counted) }
        if notNotified { self.remove(.notified) }
        if unlisted { self.insert(.unlisted) }
    }
}

extension WireAck {
    fileprivate func model() throws(FrameError) -> ClientFrame.Ack {
        var settled: [ClientFrame.Settlement] = []
        settled.reserveCapacity(self.settled.count)
        for settlement in self.settled {
            guard settlement.upTo > settled.last?.upTo ?? 0 else {
                throw .broken("ack.settled.up_to", "must ascend from 1")
            }
            settled.append(ClientFrame.Settlement(upTo: settlement.upTo, disposition: try settlement.model()))
        }
        return ClientFrame.Ack(stored: self.stored, settled: settled)
    }
}

extension WireSettlement {
    fileprivate init(_ settlement: ClientFrame.Settlement) {
        self.init()
        self.upTo = settlement.upTo
        switch settlement.disposition {
        case .shown: self.disposition = "shown"
        case .notified: self.disposition = "notified"
        case .appHandled: self.disposition = "app_handled"
        case .leftToApp: self.disposition = "left_to_app"
        case .suppressed(let reason):
            self.disposition = "suppressed"
            self.reason = reason.rawValue
        }
    }

    fileprivate func model() throws(FrameError) -> Disposition {
        switch self.disposition {
        case "shown": return .shown
        case "notified": return .notified
        case "app_handled": return .appHandled
        case "left_to_app": return .leftToApp
        case "suppressed":
            return .suppressed(try known(self.reason, field: "ack.settled.reason"))
        default:
            throw .broken("ack.settled.disposition", "must be shown, notified, app_handled, left_to_app or suppressed")
        }
    }
}

extension WireRunState {
    fileprivate init(_ state: ReportedRunState) {
        self.init()
        switch state {
        case .foreground: self.state = "foreground"
        case .background(let remaining):
            self.state = "background"
            self.remainingMs = remaining
        case .suspending: self.state = "suspending"
        }
    }

    fileprivate func model(field: String) throws(FrameError) -> ReportedRunState {
        switch self.state {
        case "foreground": return .foreground
        case "background":
            guard self.remainingMs >= 0 else {
                throw .broken("\(field).remaining_ms", "must not be negative")
            }
            return .background(remainingMilliseconds: self.remainingMs)
        case "suspending": return .suspending
        default:
            throw .broken("\(field).state", "must be foreground, background or suspending")
        }
    }
}

extension WireRegisterPush {
    init(_ registration: PushRegistration?) {
        self.init()
        guard let registration else { return }
        self.token = registration.token.rawValue
        self.environment = registration.environment.rawValue
        self.topic = registration.topic
    }

    /// Without token, environment and topic the registration is cleared.
    func registration() throws(FrameError) -> PushRegistration? {
        self.token.isEmpty && self.environment.isEmpty && self.topic.isEmpty ? nil : try self.model()
    }

    private func model() throws(FrameError) -> PushRegistration {
        let token = try checked { () throws(InvalidField) in try PushToken.validated(self.token, field: "token") }
        let isHexadecimal = token.rawValue.utf8.allSatisfy {
            ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "f"))
        }
        guard isHexadecimal, token.rawValue.utf8.count.isMultiple(of: 2) else {
            throw .broken("token", "must be lowercase hexadecimal, two digits a byte")
        }
        guard let environment = PushEnvironment(rawValue: self.environment) else {
            throw .broken("environment", "must be sandbox or production")
        }
        // The reply names the field as it is on the wire; a topic is a bundle identifier, of which Apple allows 155 bytes.
        guard !self.topic.isEmpty, self.topic.utf8.count <= 155, self.topic.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else {
            throw .broken("topic", "must be a bundle identifier of 1 to 155 ASCII characters")
        }
        return PushRegistration(token: token, environment: environment, topic: self.topic)
    }
}

extension WireDeviceStatus {
    fileprivate init(_ status: DeviceStatus) {
        self.init()
        self.authorization = status.authorization.rawValue
        self.alert = status.alert
        self.sound = status.sound
        self.badge = status.badge
        self.lockScreen = status.lockScreen
        self.notificationCenter = status.notificationCenter
        self.backgroundRefresh = status.backgroundRefresh.rawValue
        if status.iconNumber != .app { self.iconNumber = status.iconNumber.rawValue }
        self.lowPowerMode = status.isLowPowerModeOn
        self.timeZone = status.timeZone
        self.languages = status.languages
        self.appVersion = status.appVersion
        self.systemVersion = status.systemVersion
        self.model = status.model
    }

    fileprivate func status() throws(FrameError) -> DeviceStatus {
        DeviceStatus(
            authorization: try known(self.authorization, field: "device_status.authorization"), alert: self.alert,
            sound: self.sound, badge: self.badge, lockScreen: self.lockScreen,
            notificationCenter: self.notificationCenter,
            backgroundRefresh: try known(self.backgroundRefresh, field: "device_status.background_refresh"),
            iconNumber: self.iconNumber.isEmpty
                ? .app : try known(self.iconNumber, field: "device_status.icon_number"),
            isLowPowerModeOn: self.lowPowerMode, timeZone: try Self.text(self.timeZone, field: "time_zone"),
            languages: try self.toldLanguages(), appVersion: try Self.text(self.appVersion, field: "app_version"),
            systemVersion: try Self.text(self.systemVersion, field: "system_version"),
            model: try Self.text(self.model, field: "model", bytesMax: DeviceStatus.modelBytesMax))
    }

    private func toldLanguages() throws(FrameError) -> [String] {
        guard self.languages.count <= DeviceStatus.languagesMax else {
            throw .broken("device_status.languages", "must be at most \(DeviceStatus.languagesMax)")
        }
        for language in self.languages { _ = try Self.text(language, field: "languages") }
        return self.languages
    }

    private static func text(
        _ text: String, field: String, bytesMax: Int = DeviceStatus.textBytesMax
    ) throws(FrameError) -> String {
        guard text.utf8.count <= bytesMax else {
            throw .broken("device_status.\(field)", "must be at most \(bytesMax) bytes of UTF-8")
        }
        return text
    }
}
