import HTTPTypes
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `The HTTP API, asked what the server knows` {
    private let team = ConversationID(type: .group, target: "team")

    @Test func `tells what a person has set, and how much is unread`() async throws {
        let settings = AllSettings(
            person: PersonSettings(
                levels: [.system: .blocked], quietHours: QuietHours(start: 1, end: 2, timeZone: "UTC")),
            conversations: [team: ConversationSettings(level: .mentions, levelUntil: 8)], blocked: ["mallory"])
        let api = try await APIDouble(answering: .answer(.settings(settings)))
        let answer = try await api.request(.get, "users/bob/settings")
        #expect(api.commands == [.request("demo", actor: "bob", .settings)])
        #expect(
            answer.json == [
                "levels": ["SYS": "blocked"],
                "quiet_hours": ["start": 1, "end": 2, "weekdays": [], "time_zone": "UTC", "manner": "defer"],
                "hides_content": false, "language": .null, "may_be_added_by": "everybody",
                "conversations": [
                    [
                        "conversation": ["type": "GRP", "type_name": "group", "target": "team"], "level": "mentions",
                        "level_until": 8,
                    ]
                ], "blocked": ["mallory"],
            ])
        let counts = UnreadCounts(unread: 4, unreadWithMuted: 6, mentions: 1)
        let reader = try await APIDouble(reading: .unread(UnreadReport(counts: counts, head: 9)))
        #expect(
            try await reader.request(.get, "users/bob/unread").json == [
                "unread": 4, "unread_with_muted": 6, "mentions": 1, "head": 9,
            ])
        #expect(reader.reads == [.readUnread(UserKey(app: "demo", user: "bob"), nil)])
        let part = UnreadReport.Conversation(id: team, unread: 2, mentions: 1, readUpTo: 7, isMuted: true)
        let there = try await APIDouble(reading: .unread(UnreadReport(counts: counts, head: 9, conversation: part)))
        #expect(
            try await there.request(.get, "users/bob/unread/GRP/team").json == [
                "conversation": ["type": "GRP", "type_name": "group", "target": "team"], "unread": 2, "mentions": 1,
                "is_muted": true,
                "read_up_to": 7,
            ])
        #expect(there.reads == [.readUnread(UserKey(app: "demo", user: "bob"), team)])
    }

    @Test func `registers the app's object names, and tells them`() async throws {
        let api = try await APIDouble(answering: .done)
        #expect(try await api.request(.put, "object-names", #"{"names":["my:Card"]}"#).status == 204)
        #expect(api.commands == [.setObjectNames("demo", ["my:Card"])])
        let reader = try await APIDouble(reading: .objectNames(["my:Card", "my:Poll"]))
        #expect(
            try await reader.request(.get, "object-names").json == ["names": ["my:Card", "my:Poll"], "next": .null])
        #expect(reader.reads == [.readObjectNames("demo")])
    }

    @Test func `tells the life of a message, of a recall and of a custom message`() async throws {
        let (id, first) = (MessageID(rawValue: 8), MessageID(rawValue: 7))
        func trace(_ subject: MessageTrace.Subject) async throws -> JSONValue {
            let trace = MessageTrace(
                of: subject, deliveries: [Delivery(user: "bob", position: 3, unread: 0)], open: [], ended: [],
                receipts: [])
            return try await APIDouble(answering: .trace(trace)).request(.get, "messages/\(id)/trace").json
        }
        let recall = Recall(id: id, message: first, conversation: team, sender: "alice", at: 5)
        #expect(
            try await trace(.recall(recall, app: "demo")) == [
                "message_id": .string(id.description), "kind": "recall", "sender": "alice",
                "conversation": ["type": "GRP", "type_name": "group", "target": "team"],
                "recalls": .string(first.description), "sent_at": 5,
                "deliveries": [["user": "bob", "position": 3]], "open_legs": [], "ended_legs": [], "receipts": [],
                "devices": [],
            ])
        #expect(
            try await trace(.custom(CustomMessage(id: id, content: "secret", sentAt: 5), app: "demo")) == [
                "message_id": .string(id.description), "kind": "custom", "sent_at": 5,
                "deliveries": [["user": "bob", "position": 3]], "open_legs": [], "ended_legs": [], "receipts": [],
                "devices": [],
            ])
    }

    @Test func `tells a message by its id, and none of a recall`() async throws {
        let message = Message(
            id: MessageID(rawValue: 8), app: "demo", sender: "alice", conversation: self.team, clientMessageID: "c",
            objectName: .image, content: "{}", flags: [.stored, .unlisted], pushText: nil, sentAt: 5)
        let trace = MessageTrace(
            of: .message(message), recall: MessageID(rawValue: 9), deliveries: [], open: [], ended: [], receipts: [])
        let api = try await APIDouble(message: trace)
        let answer = try await api.request(.get, "messages/\(message.id)")
        #expect(api.reads == [.readMessage("demo", message.id)])
        #expect(answer.json["content"] == "{}" && answer.json["object_type"] == "image")
        #expect(answer.json["unlisted"] == true && answer.json["notified"] == false)
        #expect(answer.json["recall"] == .string(MessageID(rawValue: 9).description))
        let recall = Recall(
            id: MessageID(rawValue: 9), message: message.id, conversation: self.team, sender: "alice", at: 5)
        let ofRecall = MessageTrace(
            of: .recall(recall, app: "demo"), deliveries: [], open: [], ended: [], receipts: [])
        for none in [ofRecall, nil] {
            let other = try await APIDouble(message: none).request(.get, "messages/\(recall.id)")
            #expect(other.status == 404 && other.json["code"] == "unknown_message")
        }
        let blind = try await APIDouble(scopes: [.trace, .messages])
        #expect(try await blind.request(.get, "messages/\(message.id)").status == 403)
    }

    @Test func `tells in a trace who has written a message as an account`() async throws {
        let message = Message(
            id: MessageID(rawValue: 8), app: "demo", sender: "help",
            conversation: ConversationID(type: .customerService, target: "bob"), clientMessageID: "c",
            objectName: .text,
            content: "x", flags: .normal, pushText: nil, sentAt: 5)
        let trace = MessageTrace(of: .message(message), author: "cy", deliveries: [], open: [], ended: [], receipts: [])
        let api = try await APIDouble(answering: .trace(trace))
        let answer = try await api.request(.get, "messages/\(message.id)/trace")
        #expect(answer.json["sender"] == "help")
        #expect(answer.json["author"] == "cy")
    }

    @Test func `tells of the devices in a trace what the person allows there`() async throws {
        let message = Message(
            id: MessageID(rawValue: 7), app: "demo", sender: "alice",
            conversation: ConversationID(type: .direct, target: "bob"),
            clientMessageID: "c", objectName: .text, content: "{}", flags: .normal, pushText: nil, sentAt: 5)
        let bob = UserKey(app: "demo", user: "bob")
        let leg = LegID(message: message.id, user: bob, device: "phone")
        var trace = MessageTrace(
            of: .message(message), deliveries: [], open: [],
            ended: [EndedLeg(leg: leg, end: .accepted(apnsID: "A"), at: 6)], receipts: [])
        let status = DeviceStatus(
            authorization: .denied, alert: false, sound: false, badge: true, lockScreen: true,
            notificationCenter: true, backgroundRefresh: .restricted, iconNumber: .kit, isLowPowerModeOn: true,
            timeZone: "Europe/Berlin", languages: ["de", "en"], appVersion: "3.1", systemVersion: "17.4",
            model: "iPhone16,1")
        trace.reports = [
            DeviceReport(
                device: DeviceKey(user: bob, device: "phone"), reported: ReportedStatus(status, at: 9, offSince: 4))
        ]
        let api = try await APIDouble(answering: .trace(trace))
        let told = try await api.request(.get, "messages/\(message.id)/trace").json
        #expect(told["ended_legs"]?.arrayValue?.first?["notifications_off_since"] == 4)
        #expect(
            told["devices"] == [
                [
                    "user": "bob", "device": "phone",
                    "status": [
                        "authorization": "denied", "alert": false, "sound": false, "badge": true, "lock_screen": true,
                        "notification_center": true, "background_refresh": "restricted", "icon_number": "kit",
                        "low_power_mode": true, "time_zone": "Europe/Berlin", "languages": ["de", "en"],
                        "app_version": "3.1", "system_version": "17.4", "model": "iPhone16,1", "off_since": 4,
                        "at": 9,
                    ],
                ]
            ])
    }
}
