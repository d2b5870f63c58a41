import UIKit
import UserNotificationsUI
import VirtualPhone

// On an iPhone the extension's Info.plist names the class and its category, `tidings.message`; on a virtual phone the process
// starts here.
VirtualExtension.run(screen: { NotificationContent() })
