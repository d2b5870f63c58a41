import Requirements
import Testing
import TidingsAppGroup
import TidingsModel

@Suite struct `An app that looks at a notification` {
    @Test(.requirement("S0.10")) func `reads the rc dictionary from the user info the system hands it`() throws {
        let userInfo: [AnyHashable: Any] = [
            "aps": ["alert": "hi"], "rc": ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob", "id": "7"],
        ]
        let payload = try #require(NotificationPayload(userInfo: userInfo))
        #expect(payload.conversation == ConversationID(type: .direct, target: "bob"))
        #expect(payload.messageUID == "7")
    }

    @Test func `is told nothing of another sender's push, or of a malformed one`() {
        let foreign: [AnyHashable: Any] = ["aps": ["alert": "sale"]]
        let malformed: [AnyHashable: Any] = ["rc": ["cType": "nonsense"]]
        #expect(NotificationPayload(userInfo: foreign) == nil)
        #expect(NotificationPayload(userInfo: malformed) == nil)
    }
}
