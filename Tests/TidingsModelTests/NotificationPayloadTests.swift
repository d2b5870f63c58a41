import Requirements
import Testing
import TidingsModel

@Suite struct `A notification payload` {
    private let whole =
        "{\"rc\":{\"cType\":\"PR\",\"fId\":\"ada\",\"oName\":\"RC:TxtMsg\",\"tId\":\"ada\",\"mId\":\"17\",\"id\":\"U-1\"}}"

    private func message(_ type: ConversationType, _ target: String) -> Message {
        Message(
            id: MessageID(rawValue: 1), app: "shop", sender: "ada",
            conversation: ConversationID(type: type, target: target), clientMessageID: "c", objectName: .text,
            content: "{}", flags: .normal, pushText: nil, sentAt: 0)
    }

    private func fault(_ text: String) throws -> NotificationPayload.Fault? {
        let userInfo = try JSONValue(parsing: text)
        do {
            _ = try NotificationPayload(userInfo: userInfo)
            return nil
        } catch {
            return error
        }
    }

    @Test(.requirement("S0.10", "S0.13")) func `is read from the dictionary under rc and written back the same`() throws
    {
        let payload = try NotificationPayload(userInfo: JSONValue(parsing: self.whole))
        #expect(
            try payload
                == NotificationPayload(
                    conversationType: .direct, senderID: "ada", messageType: .text, targetID: "ada", messageID: "17",
                    messageUID: "U-1"))
        #expect(payload.userInfo.text == self.whole)
        #expect(payload.conversation == ConversationID(type: .direct, target: "ada"))
    }

    @Test func `beside aps and keys nobody knows is read all the same`() throws {
        let text =
            "{\"aps\":{\"badge\":1},\"rc\":{\"x\":1,\"cType\":\"GRP\",\"fId\":\"a\",\"oName\":\"o\",\"tId\":\"t\"}}"
        let payload = try NotificationPayload(userInfo: JSONValue(parsing: text))
        #expect(payload.conversation == ConversationID(type: .group, target: "t"))
        #expect(payload.messageID == nil)
        #expect(payload.messageUID == nil)
    }

    @Test(.requirement("S0.10")) func `writes an empty string for what is missing, and reads it as missing`() throws {
        let payload = try NotificationPayload(
            conversationType: .system, senderID: "s", messageType: .text, targetID: "s")
        #expect(
            JSONValue.object(payload.dictionary).text
                == "{\"cType\":\"SYS\",\"fId\":\"s\",\"oName\":\"RC:TxtMsg\",\"tId\":\"s\",\"mId\":\"\",\"id\":\"\"}")
        #expect(try NotificationPayload(userInfo: payload.userInfo) == payload)
    }

    @Test(.requirement("S0.14", "S0.16"))
    func `of a one-to-one message names the sender as target, of a group message the group`() throws {
        let direct = try NotificationPayload(message: self.message(.direct, "bo"), seenBy: "bo", at: 17)
        #expect(direct.targetID == "ada")
        #expect(direct.senderID == "ada")
        #expect(direct.messageUID == MessageID(rawValue: 1).description)
        #expect(direct.messageID == "17")
        let group = try NotificationPayload(message: self.message(.group, "team"), seenBy: "bo", at: 18)
        #expect(group.targetID == "team")
    }

    @Test(.requirement("S0.17")) func `does not exist for a chat room`() {
        #expect(throws: NotificationPayload.Fault.noCode(.chatRoom)) {
            try NotificationPayload(message: self.message(.chatRoom, "hall"), seenBy: "bo", at: 1)
        }
    }

    @Test func `is not ours without rc`() throws {
        #expect(try self.fault("{\"aps\":{}}") == .notOurs)
        #expect(try self.fault("[]") == .notOurs)
    }

    @Test(.requirement("S0.14"), arguments: ["cType", "fId", "oName", "tId"])
    func `is refused without a key it needs`(key: String) throws {
        var object = try #require(try JSONValue(parsing: self.whole)["rc"]?.objectValue)
        object[key] = nil
        let text = JSONValue.members([("rc", .object(object))]).text
        #expect(try self.fault(text) == .missing(key: key))
    }

    @Test(arguments: ["cType", "fId", "oName", "tId", "mId", "id"])
    func `is refused with a value of another type`(key: String) throws {
        for (value, name) in [(1, "a number"), (true, "a Boolean"), (.null, "null"), ([], "an array")]
            as [(JSONValue, String)]
        {
            var object = try #require(try JSONValue(parsing: self.whole)["rc"]?.objectValue)
            object[key] = value
            let text = JSONValue.members([("rc", .object(object))]).text
            #expect(try self.fault(text) == .wrongType(key: key, found: name))
        }
    }

    @Test func `is refused if rc is no object, or the code unknown`() throws {
        #expect(try self.fault("{\"rc\":\"x\"}") == .wrongType(key: "rc", found: "a string"))
        #expect(
            try self.fault("{\"rc\":{\"cType\":\"CHRM\",\"fId\":\"a\",\"oName\":\"o\",\"tId\":\"t\"}}")
                == .unknownConversationType("CHRM"))
    }

    @Test func `says in words which key is wrong`() {
        #expect("\(NotificationPayload.Fault.missing(key: "fId"))" == "rc.fId is missing")
        #expect(
            "\(NotificationPayload.Fault.wrongType(key: "id", found: "a number"))"
                == "rc.id must be a string, found a number")
    }
}

@Suite struct `What a push says to the SDK` {
    private let info = PushInfo(message: MessageID(rawValue: 7), position: 12, badgePosition: 11, recipientTag: "r-1")

    private func read(_ dictionary: JSONValue) -> PushInfo? {
        PushInfo(userInfo: .members([(PushInfo.key, dictionary)]))
    }

    @Test func `is read back as it was written`() {
        #expect(self.info.dictionary.text == "{\"mid\":\"0000000000007\",\"seq\":12,\"bseq\":11,\"to\":\"r-1\"}")
        #expect(self.read(self.info.dictionary) == self.info)
    }

    @Test func `marks a recall`() {
        var recall = self.info
        recall.isRecall = true
        #expect(recall.dictionary["recall"] == true)
        #expect(self.read(recall.dictionary) == recall)
    }

    @Test func `is nothing in another sender's push, or a malformed one`() throws {
        #expect(PushInfo(userInfo: try JSONValue(parsing: "{\"aps\":{}}")) == nil)
        for (key, value) in [
            ("mid", "x"), ("mid", 7), ("seq", 0), ("seq", -1), ("seq", "12"), ("bseq", -1), ("to", 1), ("to", .null),
        ] as [(String, JSONValue)] {
            var object = try #require(self.info.dictionary.objectValue)
            object[key] = value
            #expect(self.read(.object(object)) == nil, "\(key) = \(value)")
        }
    }
}

@Suite struct `What a push says of the number on the icon` {
    private let info = BadgeInfo(badge: 3, badgePosition: 11, recipientTag: "r-1")

    private func read(_ dictionary: JSONValue) -> BadgeInfo? {
        BadgeInfo(userInfo: .members([(PushInfo.key, dictionary)]))
    }

    @Test func `is read back as it was written`() {
        #expect(self.info.dictionary.text == "{\"badge\":3,\"bseq\":11,\"to\":\"r-1\"}")
        #expect(self.read(self.info.dictionary) == self.info)
    }

    @Test func `is nothing in a push that tells of a message, another sender's, or a malformed one`() throws {
        #expect(BadgeInfo(userInfo: ["aps": ["content-available": 1]]) == nil)
        let message = PushInfo(message: MessageID(rawValue: 7), position: 1, badgePosition: 1, recipientTag: "r-1")
        #expect(self.read(message.dictionary) == nil)
        for (key, value) in [
            ("badge", -1), ("badge", "3"), ("bseq", -1), ("bseq", .null), ("to", 1), ("mid", "0000000000007"),
        ] as [(String, JSONValue)] {
            var object = try #require(self.info.dictionary.objectValue)
            object[key] = value
            #expect(self.read(.object(object)) == nil, "\(key) = \(value)")
        }
    }
}
