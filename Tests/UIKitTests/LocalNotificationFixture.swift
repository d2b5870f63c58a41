import Foundation
import UIKit

// What tests do as an app of iOS 9.

@MainActor func allowedTypes() -> UInt {
    UIApplication.shared.currentUserNotificationSettings?.types.rawValue ?? 0
}

@MainActor func scheduleThree() -> [String] {
    // The phone's calendar clock, not the machine's.
    let start = Date(timeIntervalSince1970: 1_767_225_600)
    let hourly = UILocalNotification()
    hourly.alertBody = "in an hour"
    hourly.fireDate = start.addingTimeInterval(3_600)
    hourly.repeatInterval = .hour
    UIApplication.shared.scheduleLocalNotification(hourly)
    let once = UILocalNotification()
    once.alertBody = "in two hours"
    once.fireDate = start.addingTimeInterval(7_200)
    once.userInfo = ["k": "v"]
    UIApplication.shared.scheduleLocalNotification(once)
    let action = UILocalNotification()
    action.alertBody = "with action"
    action.alertAction = "Look"
    action.hasAction = true
    action.alertLaunchImage = "Launch"
    action.timeZone = TimeZone(identifier: "Europe/Berlin")
    action.soundName = UILocalNotificationDefaultSoundName
    action.applicationIconBadgeNumber = 3
    action.category = "message"
    action.fireDate = start.addingTimeInterval(10_800)
    UIApplication.shared.scheduleLocalNotification(action)
    return (UIApplication.shared.scheduledLocalNotifications ?? []).map { kept in
        var text = kept.alertBody ?? "-"
        if kept.repeatInterval == .hour { text += " every \(kept.repeatInterval == .hour ? 8 : 0)" }
        if kept.alertAction == "Look", kept.alertLaunchImage == "Launch", kept.category == "message",
            kept.timeZone?.identifier == "Europe/Berlin", kept.applicationIconBadgeNumber == 3, kept.userInfo == nil
        {
            text += " Look"
        }
        return text
    }
}

@MainActor func isAmongScheduled() -> [Bool] {
    let reminder = UILocalNotification()
    reminder.alertBody = "remember"
    reminder.userInfo = ["k": 1]
    reminder.fireDate = Date(timeIntervalSince1970: 1_767_225_600 + 60)
    UIApplication.shared.scheduleLocalNotification(reminder)
    let kept = UIApplication.shared.scheduledLocalNotifications ?? []
    let isThere = kept.contains(reminder)
    reminder.alertBody = "forget"
    return [isThere, kept.contains(reminder), Set(kept).count == kept.count]
}

@MainActor func scheduledBodies() -> [String] {
    (UIApplication.shared.scheduledLocalNotifications ?? []).compactMap(\.alertBody)
}

@MainActor func cancelLocal(_ body: String) {
    for kept in UIApplication.shared.scheduledLocalNotifications ?? [] where kept.alertBody == body {
        UIApplication.shared.cancelLocalNotification(kept)
    }
}

@MainActor func cancelAllLocal() { UIApplication.shared.cancelAllLocalNotifications() }
