public import Foundation
import PhoneCore
import Synchronization
public import UIKit
public import UserNotifications
public import VirtualPhone

/// The state of the expanded notification after an action. Raw values as Apple's.
public enum UNNotificationContentExtensionResponseOption: UInt, Hashable, Sendable {
    case doNotDismiss = 0
    case dismiss = 1
    /// It goes, and the app hears of the action by `userNotificationCenter(_:didReceive:withCompletionHandler:)`.
    case dismissAndForwardAction = 2
}

/// The look of the button over an image or sound. Raw values as Apple's.
public enum UNNotificationContentExtensionMediaPlayPauseButtonType: UInt, Hashable, Sendable {
    case none = 0
    case `default` = 1
    case overlay = 2
}

/// A screen for an expanded notification, in the extension's process. Both forms of the answer may be implemented; without
/// either the action goes to the app.
@MainActor public protocol UNNotificationContentExtension: AnyObject {
    /// A notification to show; called again when another one of its thread arrives.
    func didReceive(_ notification: UNNotification)
    /// Handles the person's response.
    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void)
    /// Handles the person's response, async form.
    func didReceive(_ response: UNNotificationResponse) async -> UNNotificationContentExtensionResponseOption
    /// The look of the media button.
    var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { get }
    /// Where the media button is.
    var mediaPlayPauseButtonFrame: CGRect { get }
    /// The media button's colour.
    var mediaPlayPauseButtonTintColor: UIColor { get }
    /// The media button was pressed.
    func mediaPlay()
    /// The media button was pressed while it played.
    func mediaPause()
}

extension UNNotificationContentExtension {
    /// Calls the async form.
    public func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void
    ) { Task { completion(await self.didReceive(response)) } }
    /// Hands what the person did to the app, unless the extension says otherwise.
    public func didReceive(_ response: UNNotificationResponse) async -> UNNotificationContentExtensionResponseOption {
        .dismissAndForwardAction
    }
    /// No button, unless the extension says otherwise.
    public var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { .none }
    /// Nowhere, unless the extension says otherwise.
    public var mediaPlayPauseButtonFrame: CGRect { .zero }
    /// White, unless the extension says otherwise.
    public var mediaPlayPauseButtonTintColor: UIColor { .white }
    /// Nothing, unless the extension has it.
    public func mediaPlay() {}
    /// Nothing, unless the extension has it.
    public func mediaPause() {}
}

extension VirtualExtension {
    /// A content extension's code, for a phone that hosts it in its own process (`VirtualPhone.install`).
    ///
    /// - Parameters:
    ///   - categories: what `UNNotificationExtensionCategory` in its Info.plist names.
    ///   - screen: makes the screen; called each time a notification is expanded.
    public static func code(
        categories: [String],
        screen: @escaping @MainActor @Sendable () -> any UIViewController & UNNotificationContentExtension
    ) -> ContentExtensionCode {
        ContentExtensionCode(categories: categories) { process in
            ContentExtensionRuntime(process: process, screen: screen())
        }
    }
}

extension VirtualExtension {
    /// Runs a content extension under the phone that started this executable. Never returns: the phone ends the process.
    ///
    /// - Parameter screen: makes the screen; called once, a process shows one notification and the next ones of its thread.
    @MainActor public static func run(
        screen: @MainActor () -> any UIViewController & UNNotificationContentExtension
    ) -> Never {
        let process = self.connectToPhone(as: .notificationContent)
        process.setContent(ContentExtensionRuntime(process: process, screen: screen()))
        runUntilKilled()
    }
}

@MainActor private final class ContentExtensionRuntime: ContentExtensionHosting {
    private let process: PhoneProcess
    private let screen: any UIViewController & UNNotificationContentExtension

    init(process: PhoneProcess, screen: any UIViewController & UNNotificationContentExtension) {
        self.process = process
        self.screen = screen
        withPhoneProcess(process) { screen.loadViewIfNeeded() }
    }

    func receive(_ notification: DeliveredNotification) {
        withPhoneProcess(self.process) { self.screen.didReceive(UNNotification(notification)) }
    }

    func respond(_ response: UserResponse) async -> ContentExtensionAnswer {
        let screen = self.screen
        let process = self.process
        return await withCheckedContinuation { continuation in
            let once = OneAnswer(continuation)
            withPhoneProcess(process) {
                screen.didReceive(UNNotificationResponse.make(response)) { option in once.resume(option) }
            }
        }
    }
}

/// A second answer is ignored.
private final class OneAnswer: Sendable {
    private let waiting: Mutex<CheckedContinuation<ContentExtensionAnswer, Never>?>

    init(_ continuation: CheckedContinuation<ContentExtensionAnswer, Never>) { self.waiting = Mutex(continuation) }

    func resume(_ option: UNNotificationContentExtensionResponseOption) {
        let continuation = self.waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: ContentExtensionAnswer(rawValue: option.rawValue) ?? .dismissAndForwardAction)
    }
}
