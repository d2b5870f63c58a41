import Foundation
import Testing
import TidingsModel
import UserNotifications

@testable import PhoneCore

@Suite struct `A notification's content` {
    @Test func `keeps every part through a copy that is changed`() throws {
        let content = UNMutableNotificationContent()
        content.title = "Alice"
        content.subtitle = "in Team"
        content.body = "hi"
        content.badge = 3
        content.sound = UNNotificationSound(named: UNNotificationSoundName("ping.caf"))
        content.threadIdentifier = "PR:alice"
        content.categoryIdentifier = "message"
        content.interruptionLevel = .timeSensitive
        content.userInfo = ["rc": ["cType": "PR"]]
        let copy = try #require(content.mutableCopy() as? UNMutableNotificationContent)
        copy.body = "changed"
        #expect(content.body == "hi")
        #expect(copy.title == "Alice")
        #expect(copy.badge == 3)
        #expect(copy.sound == content.sound)
        #expect(copy.interruptionLevel == .timeSensitive)
        #expect((copy.userInfo["rc"] as? [String: Any])?["cType"] as? String == "PR")
        copy.body = "hi"
        #expect(copy == content)
    }

    @Test func `carries a dictionary as JSON does: Booleans, numbers and texts stay apart`() throws {
        let content = UNMutableNotificationContent()
        content.userInfo = [
            "flag": true, "one": 1, "half": 0.5, "text": "1", "list": [1, "a", false] as [Any], "none": NSNull(),
            "deep": ["a": ["b": 2]],
        ]
        #expect(
            content.parts.userInfo
                == JSONObject([
                    ("flag", true), ("one", 1), ("half", .number(try #require(JSONNumber(0.5)))), ("text", "1"),
                    ("list", [1, "a", false]), ("none", .null), ("deep", ["a": ["b": 2]]),
                ]))
        let back = content.userInfo
        #expect(back["flag"] as? Bool == true)
        #expect(back["one"] as? Int == 1)
        #expect(back["half"] as? Double == 0.5)
        #expect((back["deep"] as? [String: Any])?["a"] as? [String: Int] == ["b": 2])
    }

    @Test func `tells a number object from a Boolean one, and gives both back as Apple's number objects`() {
        let content = UNMutableNotificationContent()
        content.userInfo = [
            "one": NSNumber(value: 1), "yes": NSNumber(value: true), "half": NSNumber(value: 0.5),
            "large": NSNumber(value: UInt64.max), "byte": Int8(1), "least": Int64.min,
        ]
        #expect(
            content.parts.userInfo
                == JSONObject([
                    ("byte", 1), ("half", JSONNumber(0.5).map { .number($0) } ?? .null), ("large", .int(UInt64.max)),
                    ("least", .int(Int64.min)), ("one", 1), ("yes", true),
                ]))
        let back = content.userInfo
        #expect(back["one"] as? Int == 1)
        #expect(back["one"] as? Bool == true)
        #expect(back["one"] as? Double == 1)
        #expect(back["yes"] as? Int == 1)
        #expect(back["half"] as? Int == nil)
    }

    @Test func `leaves out what a payload cannot carry`() {
        let content = UNMutableNotificationContent()
        content.userInfo = ["date": Date(), 7: "number as key", "kept": "x"]
        #expect(content.parts.userInfo == JSONObject([("kept", "x")]))
    }

    @Test func `of a request is a copy: changing it later changes nothing`() {
        let content = UNMutableNotificationContent()
        content.body = "first"
        let request = UNNotificationRequest(
            identifier: "m1", content: content,
            trigger: UNTimeIntervalNotificationTrigger(timeInterval: 1.5, repeats: false))
        content.body = "second"
        #expect(request.content.body == "first")
        #expect(
            request.value
                == NotificationRequest(
                    identifier: "m1", content: NotificationContent(body: "first"),
                    trigger: .timeInterval(milliseconds: 1_500, repeats: false)))
        #expect(UNNotificationRequest(request.value).value == request.value)
    }

    @Test func `of a push tells its trigger`() {
        let request = NotificationRequest(
            identifier: "p1", content: NotificationContent(body: "x"), trigger: .push)
        #expect(UNNotificationRequest(request).trigger is UNPushNotificationTrigger)
        let response = UserResponse(
            notification: DeliveredNotification(request: request, date: 1_500), actionIdentifier: "reply",
            userText: "yes")
        let seen = UNNotificationResponse.make(response)
        #expect((seen as? UNTextInputNotificationResponse)?.userText == "yes")
        #expect(seen.notification.date == Date(timeIntervalSince1970: 1.5))
    }
}

@Suite struct `Apple's objects` {
    private func request(_ body: String, after seconds: Double = 60) -> UNNotificationRequest {
        let content = UNMutableNotificationContent()
        content.body = body
        return UNNotificationRequest(
            identifier: "m1", content: content,
            trigger: UNTimeIntervalNotificationTrigger(timeInterval: seconds, repeats: false))
    }

    private func response(_ body: String, text: String? = nil) -> UNNotificationResponse {
        .make(
            UserResponse(
                notification: DeliveredNotification(request: self.request(body).value, date: 1_500),
                actionIdentifier: "reply", userText: text))
    }

    @Test func `are equal when they say the same, and find a place in a set`() {
        #expect(self.request("hi") == self.request("hi"))
        #expect(self.request("hi") != self.request("ho"))
        #expect(self.request("hi") != self.request("hi", after: 61))
        #expect(Set([self.request("hi").content, self.request("hi").content]).count == 1)
        #expect(self.request("hi").trigger != UNPushNotificationTrigger())
        #expect(Set([self.response("hi").notification, self.response("hi").notification]).count == 1)
        #expect(self.response("hi", text: "yes") == self.response("hi", text: "yes"))
        #expect(self.response("hi", text: "yes") != self.response("hi", text: "no"))
        #expect(self.response("hi", text: "yes") != self.response("hi"))
        #expect(
            UNNotificationSettings(NotificationSettings(badge: true))
                != UNNotificationSettings(NotificationSettings(badge: false)))
        #expect(UNNotificationSettings(NotificationSettings()) == UNNotificationSettings(NotificationSettings()))
    }

    @Test func `take what Apple's take: optional texts, and times without an end`() {
        let text: String? = nil
        let category = UNNotificationCategory(
            identifier: "c", actions: [], intentIdentifiers: [], hiddenPreviewsBodyPlaceholder: text,
            categorySummaryFormat: text)
        #expect(category == UNNotificationCategory(identifier: "c", actions: [], intentIdentifiers: []))
        let never = UNTimeIntervalNotificationTrigger(timeInterval: .infinity, repeats: false)
        #expect(
            UNNotificationRequest(identifier: "m", content: UNNotificationContent(), trigger: never).value.trigger
                == .timeInterval(milliseconds: NotificationTrigger.millisecondsMax, repeats: false))
        let level: UInt = UNNotificationInterruptionLevel.critical.rawValue
        #expect(level == 3)
    }
}

@Suite struct `Apple's numbers` {
    @Test func `are those of ios-delivery.md sections 5.5, 6.4, 9 and 11`() {
        #expect(
            [
                UNNotificationPresentationOptions.badge, .sound, .alert, .list, .banner,
            ].map(\.rawValue) == [1, 2, 4, 8, 16])
        #expect(
            [
                UNAuthorizationOptions.badge, .sound, .alert, .carPlay, .criticalAlert,
                .providesAppNotificationSettings, .provisional, .announcement,
            ].map(\.rawValue) == [1, 2, 4, 8, 16, 32, 64, 128])
        #expect(
            [UNAuthorizationStatus.notDetermined, .denied, .authorized, .provisional, .ephemeral].map(\.rawValue)
                == [0, 1, 2, 3, 4])
        #expect(
            [UNNotificationInterruptionLevel.passive, .active, .timeSensitive, .critical].map(\.rawValue)
                == [0, 1, 2, 3])
        #expect(
            [UNNotificationActionOptions.authenticationRequired, .destructive, .foreground].map(\.rawValue) == [
                1, 2, 4,
            ])
        #expect(
            [
                UNError.Code.notificationsNotAllowed, .notificationInvalidNoDate, .notificationInvalidNoContent,
            ].map(\.rawValue) == [1, 1400, 1401])
    }
}
