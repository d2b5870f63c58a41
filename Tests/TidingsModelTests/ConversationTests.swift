import Requirements
import Testing
import TidingsModel

@Suite struct `A kind of conversation` {
    @Test(
        .requirement("S0.11", "S3.10"),
        arguments: [
            (ConversationType.direct, "PR"), (.discussion, "DS"), (.group, "GRP"), (.customerService, "CS"),
            (.system, "SYS"), (.appPublicService, "MC"), (.publicService, "MP"), (.pushService, "PH"),
        ])
    func `has its code in notification payloads`(type: ConversationType, code: String) {
        #expect(type.notificationCode == code)
        #expect(ConversationType(notificationCode: code) == type)
    }

    @Test(.requirement("S0.17")) func `has no code if it is a chat room, so that no push opens one`() {
        #expect(ConversationType.chatRoom.notificationCode == nil)
        #expect(ConversationType(notificationCode: ConversationType.chatRoom.rawValue) == nil)
        #expect(ConversationType(notificationCode: "pr") == nil)
        #expect(ConversationType(notificationCode: "") == nil)
    }

    @Test func `is read by its code and by its word`() {
        #expect(Set(ConversationType.allCases.map(\.word)).count == ConversationType.allCases.count)
        for type in ConversationType.allCases {
            #expect(ConversationType(word: type.word) == type && ConversationType(word: type.rawValue) == type)
        }
        #expect(ConversationType(word: "Group") == nil && ConversationType(word: "") == nil)
        #expect(ObjectName(word: "text") == .text && ObjectName.text.word == "text")
        #expect(ObjectName(word: "RC:TxtMsg") == .text)
        #expect(ObjectName(word: "my:Card") == "my:Card" && ObjectName("my:Card").word == nil)
    }

    @Test(.requirement("S0.16")) func `names the peer or the conversation itself`() {
        let own = ConversationType.allCases.filter { !$0.targetIsPeer }
        #expect(Set(own) == [.discussion, .group, .chatRoom])
    }
}

@Suite struct `A message's conversation` {
    private func message(in conversation: ConversationID) -> Message {
        Message(
            id: MessageID(rawValue: 1), app: "shop", sender: "ada", conversation: conversation, clientMessageID: "c",
            objectName: .text, content: "{}", flags: .normal, pushText: nil, sentAt: 0)
    }

    @Test func `is the other person's on each side of a one-to-one conversation`() {
        let message = self.message(in: ConversationID(type: .direct, target: "bo"))
        #expect(message.conversation(seenBy: "ada") == ConversationID(type: .direct, target: "bo"))
        #expect(message.conversation(seenBy: "bo") == ConversationID(type: .direct, target: "ada"))
    }

    @Test func `is the group on every side`() {
        let message = self.message(in: ConversationID(type: .group, target: "team"))
        #expect(message.conversation(seenBy: "ada") == ConversationID(type: .group, target: "team"))
        #expect(message.conversation(seenBy: "bo") == ConversationID(type: .group, target: "team"))
    }
}

@Suite struct `A draft` {
    private let good = MessageDraft(
        clientMessageID: "c-1", conversation: ConversationID(type: .direct, target: "bo"), objectName: .text,
        content: "{\"content\":\"hi\"}")

    private func fault(_ change: (inout MessageDraft) -> Void) -> InvalidField? {
        var draft = self.good
        change(&draft)
        do {
            try draft.validate()
            return nil
        } catch {
            return error
        }
    }

    @Test func `within all limits is taken`() {
        #expect(self.fault { _ in } == nil)
        #expect(self.fault { $0.content = String(repeating: "x", count: 32_768) } == nil)
        #expect(self.fault { $0.pushText = String(repeating: "x", count: 1_024) } == nil)
        #expect(self.fault { $0.pushText = "" } == nil)
    }

    @Test func `is refused with the field and the rule it breaks`() {
        #expect(
            self.fault { $0.clientMessageID = "" }
                == InvalidField(field: "client_message_id", rule: "must not be empty"))
        #expect(
            self.fault { $0.conversation.target = "b o" }
                == InvalidField(field: "conversation.target", rule: "must not contain spaces or control characters"))
        #expect(
            self.fault { $0.objectName = ObjectName(String(repeating: "x", count: 65)) }
                == InvalidField(field: "object_name", rule: "must be at most 64 bytes, got 65"))
        #expect(self.fault { $0.content = "" } == InvalidField(field: "content", rule: "must not be empty"))
        #expect(
            self.fault { $0.content = String(repeating: "é", count: 16_385) }
                == InvalidField(field: "content", rule: "must be at most 32768 bytes, got 32770"))
        #expect(
            self.fault { $0.pushText = String(repeating: "x", count: 1_025) }
                == InvalidField(field: "push_text", rule: "must be at most 1024 bytes, got 1025"))
    }
}

@Suite struct `Protocol versions` {
    @Test func `meet at the highest both sides speak`() {
        #expect(ProtocolVersion.negotiate(1...1) == 1)
        #expect(ProtocolVersion.negotiate(0...9) == 1)
        #expect(ProtocolVersion.negotiate(2...9) == nil)
        #expect(ProtocolVersion.negotiate(0...0) == nil)
    }
}

@Suite struct `A problem` {
    @Test func `says code, field and rule`() {
        let invalid = ServerFrame.Problem(InvalidField(field: "content", rule: "must not be empty"))
        #expect("\(invalid)" == "invalid_field: content must not be empty")
        let late = ServerFrame.Problem(code: .timedOut, rule: "nothing was heard for 60 s")
        #expect("\(late)" == "timed_out: nothing was heard for 60 s")
    }
}

@Suite struct `The end of a leg` {
    @Test(
        arguments: [
            (LegEnd.ownDevice, "own_device", nil), (.noDevice, "no_device", nil), (.signedOut, "signed_out", nil),
            (.notNotifiable, "not_notifiable", nil), (.blocked, "blocked", nil), (.settled(.shown), "settled", "shown"),
            (.settled(.notified), "settled", "notified"), (.settled(.appHandled), "settled", "app_handled"),
            (.settled(.leftToApp), "settled", "left_to_app"),
            (.settled(.suppressed(.providerMissing)), "settled", "suppressed(provider_missing)"),
            (.readElsewhere, "read_elsewhere", nil), (.recalled, "recalled", nil), (.expired, "expired", nil),
            (.muted, "muted", nil), (.quietHours, "quiet_hours", nil), (.noToken, "no_token", nil),
            (
                .tokenQuarantined(reason: "BadDeviceToken", status: 400), "token_quarantined", "400 BadDeviceToken"
            ), (.tokenQuarantined(reason: "Newer", status: 0), "token_quarantined", "Newer"),
            (.tokenQuarantined(reason: "", status: 0), "token_quarantined", nil),
            (.accepted(apnsID: "A-1"), "accepted", "A-1"), (.tokenDead(timestamp: 7), "token_dead", "7"),
            (.rejected(reason: "PayloadTooLarge"), "rejected", "PayloadTooLarge"),
        ] as [(LegEnd, String, String?)])
    func `has the name and the detail that the design gives it`(end: LegEnd, name: String, detail: String?) {
        #expect(end.name == name)
        #expect(end.detail == detail)
    }
}
