import UserNotifications
import VirtualPhone

// On an iPhone the extension's Info.plist names the class; on a virtual phone the process starts here.
VirtualExtension.run { NotificationService() }
