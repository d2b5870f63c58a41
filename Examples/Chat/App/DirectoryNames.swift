import Foundation
import TidingsKit

/// The example's address book: what the server calls a person, or what their id says, with a capital letter.
actor DirectoryNames: UserInfoProvider, GroupInfoProvider {
    private weak var client: ChatClient?
    private var known: [UserID: String] = [:]
    /// Of whom the server has said it since somebody may be called otherwise.
    private var asked: Set<UserID> = []

    init(client: ChatClient) { self.client = client }

    func userInfo(for id: UserID) async -> UserInfo? {
        UserInfo(name: await self.serverName(of: id) ?? id.rawValue.capitalized)
    }

    func groupInfo(for id: ConversationID) async -> GroupInfo? {
        let record = (try? self.client?.storedConversationInfo(id)) ?? nil
        return GroupInfo(name: record?.name ?? id.target.capitalized)
    }

    /// Without a connection what it said last, if anything: a notification does not wait for one.
    private func serverName(of id: UserID) async -> String? {
        guard !self.asked.contains(id), let client, client.connectionStatus == .connected,
            let profiles = try? await client.profiles(of: [id])
        else { return self.known[id] }
        self.asked.insert(id)
        self.known[id] = profiles.first?.profile.name
        return self.known[id]
    }

    /// Somebody may be called otherwise.
    func forget() { self.asked = [] }
}
