public import ClientCore
public import Foundation
import TidingsAppGroup
import TidingsClient
public import TidingsKit
import TidingsModel
public import UIKit

/// Shows the kit's in-app banners on the app's key window, one at a time: a later one takes the place of the one before (S4.6, S4.7).
///
/// ```swift
/// kit.client.ringsInForeground = true
/// let banners = InAppBannerPresenter(kit: kit)
/// ```
///
/// Keep it as long as the kit. A tap opens the conversation by the kit's `responseHandler`. A banner goes when it is tapped or swiped up, after
/// `millisecondsShown`, when its message is recalled or its conversation read, and when the app leaves the foreground or the person signs out.
@MainActor public final class InAppBannerPresenter {
    /// How long a banner stays, in milliseconds: 1 to 86,400,000, a day; what is set beyond is the nearest of these. 5,000 if nothing else is
    /// said.
    public var millisecondsShown: Int64 = 5_000 {
        didSet { self.millisecondsShown = min(max(1, self.millisecondsShown), 86_400_000) }
    }
    /// The words that VoiceOver speaks beside messages: by default the built-in words in the language of `ChatClient.Configuration.words`.
    public var words: InterfaceWords
    /// Makes the view of a banner from its portrait, JPEG or PNG; for an app's own subclass.
    public var makeView: (InAppBanner, Data?, InterfaceWords) -> InAppBannerView = { banner, portrait, words in
        InAppBannerView(banner, portrait: portrait, words: words)
    }
    /// Where banners are shown; by default the key window of the app. Without one a banner is not shown.
    public var window: () -> UIWindow? = { InAppBannerPresenter.keyWindow }
    /// The banner that is shown; nil while none is.
    public private(set) var current: InAppBannerView?

    private let kit: NotificationIntegration
    private let followers = StreamFollowers()
    private var timer: Task<Void, Never>?
    /// The one that is being taken away, for as long as it is still seen.
    private weak var fading: InAppBannerView?
    private let background = Locked<(any NSObjectProtocol)?>(nil)

    /// A presenter that shows the kit's banners from now on.
    public init(kit: NotificationIntegration) {
        self.kit = kit
        self.words = InterfaceWords.words(for: kit.client.configuration.words.words(for: nil).tag)
        self.followers.follow(kit.inAppBanners) { [weak self] in self?.show($0) }
        self.followers.follow(kit.client.logEntries) { [weak self] in self?.dismissIfEnded(by: $0) }
        self.followers.follow(kit.client.connectionStatuses) { [weak self] in
            if $0 == .disconnected { self?.dismiss() }
        }
        // At once, fading or not: the system takes its picture for the app switcher when this returns.
        // https://developer.apple.com/library/archive/qa/qa1838/
        let token = NotificationCenter.default.addObserver(
            forName: UIApplication.didEnterBackgroundNotification, object: UIApplication.shared, queue: nil
        ) { [weak self] _ in
            MainActor.assumeIsolated { self?.removeAtOnce() ?? () }
        }
        self.background.withLock { $0 = token }
    }

    deinit {
        self.timer?.cancel()
        self.background.withLock { if let token = $0 { NotificationCenter.default.removeObserver(token) } }
    }

    // MARK: Showing

    /// Shows a banner, in the place of the one that is shown.
    public func show(_ banner: InAppBanner) {
        self.dismiss()
        guard let window = self.window() else { return }
        let view = self.makeView(banner, self.kit.portrait(of: banner), self.words)
        view.onOpen = { [weak self, weak view] in
            guard let self, let view, self.current === view else { return }
            self.dismiss()
            self.kit.didTap(banner)
        }
        view.onDismiss = { [weak self, weak view] in
            guard let self, let view, self.current === view else { return }
            self.dismiss()
        }
        self.current = view
        self.place(view, in: window)
        UIAccessibility.post(notification: .announcement, argument: view.accessibilityLabel)
        self.startTimer(for: view)
    }

    /// Takes the banner away that is shown, if any; the conversation is not opened.
    public func dismiss() {
        self.timer?.cancel()
        self.timer = nil
        guard let view = self.current else { return }
        self.current = nil
        self.fading?.removeFromSuperview()
        self.fading = view
        // Nothing opens while it fades.
        view.isUserInteractionEnabled = false
        UIView.animate(
            withDuration: 0.2, animations: { view.alpha = 0 }, completion: { _ in view.removeFromSuperview() })
    }

    private func removeAtOnce() {
        self.dismiss()
        self.fading?.removeFromSuperview()
    }

    private func place(_ view: InAppBannerView, in window: UIWindow) {
        view.translatesAutoresizingMaskIntoConstraints = false
        window.addSubview(view)
        let area = window.safeAreaLayoutGuide
        NSLayoutConstraint.activate([
            view.leadingAnchor.constraint(equalTo: area.leadingAnchor, constant: 8),
            view.trailingAnchor.constraint(equalTo: area.trailingAnchor, constant: -8),
            view.topAnchor.constraint(equalTo: area.topAnchor, constant: 8),
        ])
        view.alpha = 0
        UIView.animate(
            withDuration: 0.2, delay: 0, options: [.allowUserInteraction], animations: { view.alpha = 1 },
            completion: nil)
    }

    /// By the client's clock, which counts on while the phone sleeps.
    private func startTimer(for view: InAppBannerView) {
        let clock = self.kit.client.clock
        let deadline = clock.now.monotonic + self.millisecondsShown
        self.timer = Task { [weak self, weak view] in
            await clock.sleep(untilMonotonic: deadline)
            guard !Task.isCancelled, let self, let view, self.current === view else { return }
            self.dismiss()
        }
    }

    private func dismissIfEnded(by entry: LogEntry) {
        guard let shown = self.current,
            let payload = try? NotificationPayload(userInfo: shown.banner.userInfo)
        else { return }
        switch entry.body {
        case .recall(let recall): if recall.message.description == payload.messageUID { self.dismiss() }
        case .read(let conversation, let end):
            guard conversation == payload.conversation else { return }
            // What came after the place that was read up to is still new. A message that is not kept has no place to compare.
            let message = payload.messageUID.flatMap { MessageID($0) }
            let stored = message.flatMap { try? self.kit.client.storedMessage($0) }
            if stored.map({ $0.position <= end }) ?? true { self.dismiss() }
        default: break
        }
    }

    private static var keyWindow: UIWindow? {
        let application = UIApplication.shared
        let scenes = application.connectedScenes.compactMap { $0 as? UIWindowScene }
        let active = scenes.first { $0.activationState == .foregroundActive } ?? scenes.first
        if let window = active?.keyWindow { return window }
        // An app without scenes, which from iOS 13 on has one that the system made.
        return application.delegate?.window ?? nil
    }
}
