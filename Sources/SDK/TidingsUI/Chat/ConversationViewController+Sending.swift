import ClientCore
public import Foundation
import TidingsClient
import TidingsKit
public import TidingsModel
import UIKit

// What the person says, and does with what was said.
extension ConversationViewController {
    func connectInput() {
        let plugins = self.interface.configuration.inputPlugins
        let words = self.interface.words
        self.inputBar.moreButton.isHidden = plugins.isEmpty
        self.inputBar.moreButton.showsMenuAsPrimaryAction = true
        self.inputBar.moreButton.menu = UIMenu(
            title: "",
            children: plugins.map { plugin in
                UIAction(title: plugin.title(in: words), image: plugin.image) { [weak self] _ in
                    guard let self else { return }
                    plugin.perform(in: self)
                }
            })
        self.inputBar.onSend = { [weak self] in self?.submit($0) }
        self.inputBar.onChange = { [weak self] in self?.sayTyping(!$0.isEmpty) }
        self.inputBar.onEndEditing = { [weak self] in self?.keepDraft() }
        self.inputBar.onCancelContext = { [weak self] in self?.leaveContext() }
    }

    // MARK: Sending

    /// Sends what is typed: as an answer, as a change, or as a message of its own.
    private func submit(_ typed: String) {
        let text = typed.trimmingCharacters(in: .whitespacesAndNewlines)
        if let edited = self.edited { return self.change(edited, to: text) }
        let content = self.answered.map { MessageContent.reply(text, to: $0) } ?? .text(text)
        guard self.send(content, mentions: self.inputBar.mentions) else { return }
        self.leaveContext()
        self.clearInput()
    }

    private func clearInput() {
        self.inputBar.text = ""
        self.keepDraft()
        self.sayTyping(false)
    }

    /// Sends something to the conversation. It is on the screen at once, and stays there until the server has it, also where that refuses
    /// it.
    ///
    /// - Returns: whether it is on its way: `willSend(_:)` let it through, and the server takes such content.
    @discardableResult
    public func send(_ content: MessageContent, mentions: Mentions = .none) -> Bool {
        guard self.isOpen, let content = self.willSend(content) else { return false }
        do { try self.interface.outgoing.send(content, mentions: mentions, to: self.conversation) } catch {
            self.showError(error)
            return false
        }
        self.showOwn()
        return true
    }

    /// Uploads an image and sends it; how far that is, is on the screen.
    ///
    /// - Parameter file: is copied.
    public func sendImage(_ file: URL) {
        guard self.isOpen else { return }
        do {
            try self.interface.outgoing.sendImage(file, to: self.conversation)
            self.showOwn()
        } catch {
            self.showError(error)
        }
    }

    private func showOwn() {
        self.renderNow()
        self.scrollToBottom(animated: true)
    }

    func showOutgoing(_ event: OutgoingMessages.Event) {
        switch event {
        case .changed: break
        case .accepted(let message):
            if let owner = self.owner, self.isOpen {
                self.log.merge(fromServer: [message], seenBy: owner)
                // Nobody has read it yet.
                self.receiptsAsked.insert(message.id)
                self.didSend(message)
            }
        case .failed(let failure): self.didFail(failure)
        }
        self.render()
    }

    // MARK: Answering and changing

    func leaveContext() {
        self.answered = nil
        self.inputBar.show(context: nil)
        guard self.edited != nil else { return }
        self.edited = nil
        // What was typed was the message's own text.
        self.inputBar.text = self.keptDraft
        self.showDraft()
    }

    private func answer(_ message: Message) {
        self.leaveContext()
        self.answered = MessageQuote(of: message)
        self.inputBar.show(context: self.words.replyTo.filled([("name", self.name(of: message.sender))]))
        self.inputBar.textView.becomeFirstResponder()
    }

    private func beginEditing(_ message: Message) {
        self.keepDraft()
        self.leaveContext()
        self.edited = message.id
        self.inputBar.show(context: self.words.editing)
        self.inputBar.text = message.text ?? ""
        self.inputBar.textView.becomeFirstResponder()
    }

    /// A recalled text, to be typed again; what is typed already stays.
    func typeAgain(_ text: String) {
        self.leaveContext()
        self.inputBar.text += text
        self.inputBar.textView.becomeFirstResponder()
    }

    private func change(_ message: MessageID, to text: String) {
        let client = self.client
        self.perform({ try await client.edit(message, text: text) }) { screen in
            guard screen.edited == message else { return }
            screen.leaveContext()
        }
    }

    // MARK: The menu

    func carryOut(_ action: MessageAction, on row: MessageRow) {
        let outgoing = self.interface.outgoing
        switch action {
        case .retry: if let id = row.id.outgoing { outgoing.retry(id) }
        case .cancel: if let id = row.id.outgoing { outgoing.remove(id) }
        case .reply: if let message = row.message { self.answer(message) }
        case .copy: UIPasteboard.general.string = row.text
        case .edit: if let message = row.message { self.beginEditing(message) }
        case .recall: if let message = row.message { self.recall(message) }
        case .readers: if let message = row.message { self.showReaders(of: message.id) }
        case .delete: self.delete(row)
        }
    }

    private func recall(_ message: Message) {
        let client = self.client
        self.perform({ try await client.recall(message.id) }) { screen in
            screen.recallers[message.id] = screen.owner
            // Only the sender types their own text again.
            if message.sender == screen.owner { screen.interface.recalledTexts[message.id] = message.text }
            // The store learns it with the log.
            screen.readAgain(message.id) { $0.recall() }
        }
    }

    private func delete(_ row: MessageRow) {
        self.confirm(self.words.deleteQuestion, button: self.words.delete, words: self.interface.words) { [weak self] in
            guard let self else { return }
            guard let id = row.message?.id else { return row.id.outgoing.map(self.interface.outgoing.remove) ?? () }
            let (client, conversation) = (self.client, self.conversation)
            self.perform({ try await client.deleteMessages([id], in: conversation) }) { screen in
                screen.log.remove([id])
                screen.render()
            }
        }
    }

    private func showReaders(of message: MessageID) {
        Task { [weak self, client] in
            do {
                let receipts = try await client.receipts(of: message)
                guard let self, self.isOpen else { return }
                self.marks.receipts[message] = receipts
                self.render()
                var names: [String] = []
                for user in receipts.read { names.append(await self.interface.name(of: user, in: self.conversation)) }
                guard self.isOpen else { return }
                let alert = UIAlertController(
                    title: self.words.readers,
                    message: names.isEmpty ? self.words.nobody : names.joined(separator: "\n"), preferredStyle: .alert)
                alert.addAction(UIAlertAction(title: self.words.confirm, style: .default, handler: nil))
                self.present(alert, animated: true)
            } catch {
                self?.showError(error)
            }
        }
    }

    private func perform(
        _ request: @escaping () async throws -> Void, then: @escaping @MainActor (ConversationViewController) -> Void
    ) {
        Task { [weak self] in
            do {
                try await request()
                if let self, self.isOpen { then(self) }
            } catch {
                self?.showError(error)
            }
        }
    }

    func showError(_ error: any Error) {
        guard self.isOpen else { return }
        self.show(error, words: self.interface.words)
    }
}
