import Requirements
import Testing
import TidingsModel

@Suite struct `The keys of a notification payload` {
    @Test(.requirement("S0.12", "S0.13", "S0.14")) func `reads each value from its own key, and writes it there`()
        throws
    {
        let text =
            #"{"rc":{"cType":"GRP","fId":"ada","oName":"RC:ImgMsg","tId":"team","mId":"17","id":"U-1"}}"#
        let payload = try NotificationPayload(userInfo: JSONValue(parsing: text))
        #expect(payload.conversationType == .group)
        #expect(payload.senderID == "ada")
        #expect(payload.messageType == "RC:ImgMsg")
        #expect(payload.targetID == "team")
        #expect(payload.messageID == "17")
        #expect(payload.messageUID == "U-1")
        #expect(payload.userInfo.text == text)
    }
}
