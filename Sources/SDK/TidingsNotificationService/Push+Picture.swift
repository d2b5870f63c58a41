import ClientCore
import Foundation
import UserNotifications

extension Push {
    /// Fetches the picture of a notification. Whatever goes wrong, the notification comes without it.
    func picture(_ decision: Decision) async -> UNNotificationAttachment? {
        let hosts = self.options.imageHosts
        guard let url = decision.changes.imageURL.flatMap({ URL(string: $0) }),
            FileFetch.fault(of: url, hosts: hosts) == nil,
            let file = try? await self.surroundings.http.file(
                at: url, hosts: hosts, bytesMax: NotificationPicture.bytesMax, seconds: NotificationPicture.seconds),
            let kind = NotificationPicture.Kind(bytes: file), !Task.isCancelled
        else { return nil }
        let name = "tidings-\(UUID().uuidString).\(kind.fileExtension)"
        let place = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        do {
            try file.write(to: place)
            // The phone is locked more often than not.
            try self.surroundings.safety.protect(place.path, as: .completeUntilFirstUserAuthentication)
            // The system moves the file to a place of its own with the notification.
            return try UNNotificationAttachment(identifier: Self.pictureName, url: place)
        } catch {
            try? FileManager.default.removeItem(at: place)
            return nil
        }
    }

    /// The name of the picture among a notification's attachments.
    static let pictureName = "picture"

    /// The content with a picture.
    static func adding(_ picture: UNNotificationAttachment, to content: UNNotificationContent) -> UNNotificationContent
    {
        guard let content = content.mutableCopy() as? UNMutableNotificationContent else { return content }
        content.attachments = [picture]
        return content
    }
}
