import TidingsUI
import UIKit

// What docs/sdk.md shows of the SDK's views, compiled: the tidy test holds that the page shows these lines.

@MainActor private func presenter(_ kit: NotificationIntegration) -> InAppBannerPresenter {
    kit.client.ringsInForeground = true
    let banners = InAppBannerPresenter(kit: kit)

    return banners
}

@MainActor private func ownBanners(_ banners: InAppBannerPresenter) {
    banners.words = InterfaceWords(opensConversation: "Öffnet die Unterhaltung", dismiss: "Schließen")
    banners.makeView = { banner, portrait, words in
        let view = InAppBannerView(banner, portrait: portrait, words: words)
        view.backgroundColor = .tertiarySystemBackground
        return view
    }
}
