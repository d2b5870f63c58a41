import TidingsClient
import TidingsModel
import UIKit

/// The texts that rows are made with, beside their content.
@MainActor struct RowTexts {
    var words: ListWords
    /// The words for messages without text.
    var notifications: NotificationWords
    var time: ChatTimes
}

extension RowTexts {
    init(_ interface: ChatInterface) {
        let (words, language) = (interface.words, interface.words.language)
        self.words = words.lists
        self.notifications = interface.client.configuration.words.words(for: language).words
        self.time = interface.times
    }
}

extension UIViewController {
    /// Tells a person what has failed.
    func show(_ error: any Error, words: InterfaceWords) {
        let alert = UIAlertController(
            title: ChatFailure(error).text(in: words.chat), message: nil, preferredStyle: .alert)
        alert.addAction(UIAlertAction(title: words.chat.confirm, style: .cancel, handler: nil))
        self.present(alert, animated: true)
    }

    /// Asks before something that is not easily undone.
    @discardableResult
    func confirm(
        _ question: String, button: String, words: InterfaceWords, then act: @escaping @MainActor () -> Void
    ) -> UIAlertController {
        let alert = UIAlertController(title: question, message: nil, preferredStyle: .alert)
        alert.addAction(UIAlertAction(title: button, style: .destructive) { _ in act() })
        alert.addAction(UIAlertAction(title: words.chat.cancel, style: .cancel, handler: nil))
        self.present(alert, animated: true)
        return alert
    }
}
