import Foundation
import TidingsUI
import UIKit

// What tests hand in and read beside the screen's views: shorter than a walk through the screens.
#if TIDINGS_UIKIT
    import VirtualPhone

    extension ChatSession {
        /// The session whose screens are shown: what is handed in goes to it.
        private static weak var shown: ChatSession?
        private static var isFollowing = false

        /// Does what the phone hands in.
        func followFinger() {
            Self.shown = self
            guard !Self.isFollowing else { return }
            Self.isFollowing = true
            Task {
                // Sending waits for the server; the next input does not wait for it.
                for await value in PhoneInput.values { Task { await Self.shown?.perform(value) } }
            }
        }

        /// Takes `{"send": {"to": "bob", "text": "hi"}}`, with `"type": "GRP"` for a group, `{"open": "PR:bob"}`,
        /// `{"banner": "tap"}`, `{"tags": ["shoes"]}`, `{"sign_in": {"user": "carol", "token": "…"}}` and
        /// `{"sign_out": true}`.
        private func perform(_ value: JSONValue) async {
            if let send = value["send"] {
                await self.performSend(send)
            } else if let name = value["open"]?.stringValue {
                self.performOpen(name)
            } else if value["banner"]?.stringValue == "tap" {
                guard let banner = self.banner else { return self.report(fault: "there is no banner") }
                self.banner = nil
                self.banners.dismiss()
                self.kit.didTap(banner)
                self.report()
            } else if let tags = value["tags"]?.arrayValue {
                self.tellFault { _ = try await $0.setTags(tags.compactMap(\.stringValue)) }
            } else if let person = value["sign_in"] {
                guard let user = person["user"]?.stringValue, let token = person["token"]?.stringValue else {
                    return self.report(fault: "sign_in must have the strings user and token")
                }
                self.signIn(as: UserID(user), token: token)
            } else if value["sign_out"]?.boolValue == true {
                await self.signOut()
            } else {
                self.report(fault: "the input must have send, open, banner, tags, sign_in or sign_out")
            }
        }

        private func performSend(_ send: JSONValue) async {
            guard let target = send["to"]?.stringValue, let text = send["text"]?.stringValue else {
                return self.report(fault: "send must have the strings to and text")
            }
            let code = send["type"]?.stringValue ?? ConversationType.direct.rawValue
            guard let type = ConversationType(rawValue: code) else {
                return self.report(fault: "send.type is not a conversation type: \(code)")
            }
            do {
                let message = try await self.client.send(text: text, to: ConversationID(type: type, target: target))
                self.lastSent = message.id
                self.report()
            } catch {
                self.report(fault: "\(error)")
            }
        }

        private func performOpen(_ name: String) {
            let parts = name.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let type = ConversationType(rawValue: String(parts[0])) else {
                return self.report(fault: "open must be a conversation such as PR:bob, got \(name)")
            }
            self.open(ConversationID(type: type, target: String(parts[1])))
        }

        /// Tells the phone the stack of screens and the messages of the open chat.
        func report(fault: String? = nil) {
            var members: [(String, JSONValue)] = [
                ("stack", .array((self.window?.visibleScreens ?? []).map { .string($0) }))
            ]
            if let conversation = self.openConversation {
                let messages = (try? self.client.history(conversation: conversation)) ?? []
                members.append(("conversation", .string(conversation.description)))
                members.append(
                    ("messages", .array(messages.map { .string("\($0.message.sender): \(Self.words(of: $0))") })))
            }
            if let unread = try? self.client.unreadMessageCount() { members.append(("unread", .int(unread))) }
            if let callEvent = self.callEvent { members.append(("call", .string(callEvent))) }
            if let banner = self.banner { members.append(("banner", .string(banner.text.body))) }
            if let user = self.client.userID { members.append(("user", .string(user.rawValue))) }
            members.append(("connection", .string(self.connectionName)))
            if case .refused(let problem) = self.client.connectionStatus {
                members.append(("problem", .string(problem.code.rawValue)))
            }
            members.append(("run_state", .string(self.client.runState.rawValue)))
            members.append(("custom", .array(self.customMessages.map { .string($0.content) })))
            members.append(("silent", .array(self.silentData.map { .object($0) })))
            if let sent = self.lastSent { members.append(("sent", .string("\(sent)"))) }
            if let fault { members.append(("fault", .string(fault))) }
            PhoneScreen.report(.members(members))
        }

        private static func words(of message: StoredMessage) -> String {
            message.isRecalled ? "(recalled)" : message.text ?? ""
        }

        private var connectionName: String {
            switch self.client.connectionStatus {
            case .disconnected: "disconnected"
            case .connecting: "connecting"
            case .connected: "connected"
            case .waiting: "waiting"
            case .suspended: "suspended"
            case .refused: "refused"
            }
        }
    }
#else
    extension ChatSession {
        func followFinger() {}

        func report(fault: String? = nil) {
            if let fault { NSLog("chat: %@", fault) }
        }
    }
#endif
