import ClientCore
import TidingsClient
import TidingsModel
import UIKit

// Swipes, the menu of a row, and invitations.
extension ConversationListViewController {
    func swipe(_ actions: [ConversationListAction], on item: ConversationSummary) -> UISwipeActionsConfiguration {
        let actions = actions.map { action in
            let swipe = UIContextualAction(
                style: action == .hide ? .destructive : .normal, title: self.words.title(of: action)
            ) { [weak self] _, _, done in
                self?.perform(action, on: item)
                done(true)
            }
            swipe.image = UIImage(systemName: action.symbol)
            return swipe
        }
        let configuration = UISwipeActionsConfiguration(actions: actions)
        // Nothing is hidden by a swipe that went too far.
        configuration.performsFirstActionWithFullSwipe = false
        return configuration
    }

    func menu(for item: ConversationSummary) -> UIContextMenuConfiguration {
        UIContextMenuConfiguration(identifier: nil, previewProvider: nil) { [weak self] _ in
            guard let self else { return nil }
            return UIMenu(
                title: "",
                children: ConversationListAction.menu(for: item).map { action in
                    UIAction(
                        title: self.words.title(of: action), image: UIImage(systemName: action.symbol),
                        attributes: action == .hide ? .destructive : []
                    ) { [weak self] _ in self?.perform(action, on: item) }
                })
        }
    }

    /// Asks whether the person comes in.
    func showQuestion(about invitation: Invitation) {
        let inviter = self.interface.knownName(of: invitation.by, in: nil) ?? invitation.by.rawValue
        let question = UIAlertController(
            title: invitation.name, message: self.words.filled(\.invites, "name", inviter), preferredStyle: .alert)
        question.addAction(
            UIAlertAction(title: self.words.accept, style: .default) { [weak self] _ in
                self?.answer(invitation.id, accepts: true)
            })
        question.addAction(
            UIAlertAction(title: self.words.decline, style: .destructive) { [weak self] _ in
                self?.answer(invitation.id, accepts: false)
            })
        question.addAction(UIAlertAction(title: self.interface.words.chat.cancel, style: .cancel, handler: nil))
        self.present(question, animated: true)
    }

    private func answer(_ conversation: ConversationID, accepts: Bool) {
        let client = self.client
        Task { [weak self] in
            do {
                if accepts {
                    try await client.join(conversation)
                } else {
                    try await client.declineInvitation(to: conversation)
                }
                guard let self else { return }
                self.setNeedsRefresh()
                if accepts { self.open(self.screen(for: conversation)) }
            } catch {
                guard let self else { return }
                self.show(error, words: self.interface.words)
            }
        }
    }
}

/// The list as it lies on this device.
struct ListContent: Sendable {
    var items: [ConversationSummary] = []
    var invitations: [Invitation] = []
    var unread = 0
    var isReadable = true

    /// Away from the main thread: a person may have thousands of conversations. Of nobody there is nothing.
    nonisolated static func read(_ client: ChatClient) async -> ListContent {
        do {
            return ListContent(
                items: try client.conversations(), invitations: try client.invitations(),
                unread: try client.unreadMessageCount())
        } catch ChatError.notSignedIn {
            return ListContent()
        } catch {
            return ListContent(isReadable: false)
        }
    }
}
