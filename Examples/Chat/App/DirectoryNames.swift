import Foundation
import TidingsKit

/// The example's address book: what the server calls a person, or what their id says, with a capital letter.
actor DirectoryNames: UserInfoProvider, GroupInfoProvider {
    private weak var client: ChatClient?
    private var known: [UserID: String] = [:]

    init(client: ChatClient) { self.client = client }

    func userInfo(for id: UserID) async -> UserInfo? {
        UserInfo(name: await self.serverName(of: id) ?? id.rawValue.capitalized)
    }

    func groupInfo(for id: ConversationID) async -> GroupInfo? {
        let record = (try? self.client?.storedConversationInfo(id)) ?? nil
        return GroupInfo(name: record?.name ?? id.target.capitalized)
    }

    /// Nil without a connection: a notification does not wait for one.
    private func serverName(of id: UserID) async -> String? {
        if let name = self.known[id] { return name }
        guard let client, client.connectionStatus == .connected,
            let name = (try? await client.profiles(of: [id]))?.first?.profile.name
        else { return nil }
        self.known[id] = name
        return name
    }

    /// Somebody is called otherwise.
    func forget() { self.known = [:] }
}
