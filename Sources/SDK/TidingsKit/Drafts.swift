package import TidingsClient
package import TidingsModel

/// Keeps typed texts that are not sent: in the conversation's settings on all of the person's devices, and long ones also here.
@MainActor package final class Drafts {
    private let client: ChatClient
    private var long: [ConversationID: String] = [:]

    package init(client: ChatClient) { self.client = client }

    /// Empty for none.
    package func text(in conversation: ConversationID) -> String {
        let kept = ((try? self.client.draft(for: conversation)) ?? nil)?.text ?? ""
        return self.long[conversation].flatMap { $0.hasPrefix(kept) ? $0 : nil } ?? kept
    }

    package func save(_ text: String, in conversation: ConversationID) {
        let limit = ConversationStateChange.draftBytesMax
        self.long[conversation] = text.utf8.count > limit ? text : nil
        var kept = text
        if kept.utf8.count > limit {
            kept = ""
            for character in text where kept.utf8.count + character.utf8.count <= limit { kept.append(character) }
        }
        try? self.client.setDraft(kept, for: conversation)
    }

    package func forget() { self.long = [:] }
}
