extension OpenAPI {
    /// What the paths refer to.
    static let components = #"""
        components:
          securitySchemes:
            apiKey: {type: http, scheme: bearer, description: One of the app's API keys}
            extensionToken: {type: http, scheme: bearer, description: The extension token of the device's last connect}
          parameters:
            app:
              name: app
              in: path
              required: true
              schema: {$ref: "#/components/schemas/Id"}
            memberType:
              name: type
              in: path
              required: true
              description: Discussion, group or chat room
              schema: {type: string, enum: [DS, GRP, CHRM]}
            accountType:
              name: type
              in: path
              required: true
              description: Customer service, or a public service
              schema: {type: string, enum: [CS, MC, MP]}
            anyType:
              name: type
              in: path
              required: true
              schema: {type: string, enum: [PR, DS, GRP, CS, SYS, MC, MP, PH, CHRM]}
            id: {name: id, in: path, required: true, schema: {$ref: "#/components/schemas/Id"}}
            user: {name: user, in: path, required: true, schema: {$ref: "#/components/schemas/Id"}}
            messageId: {name: id, in: path, required: true, schema: {$ref: "#/components/schemas/MessageId"}}
            actor:
              name: actor
              in: query
              description: Who does it, with their rights; without it the app's backend, which may do everything
              schema: {$ref: "#/components/schemas/Id"}
          responses:
            Problem:
              description: The request was refused; nothing was changed
              content:
                application/problem+json:
                  schema: {$ref: "#/components/schemas/Problem"}
            Sent:
              description: The message is synced to disk; 200 for a repeat
              content:
                application/json:
                  schema:
                    type: object
                    required: [message_id, client_message_id, sent_at, repeated]
                    properties:
                      message_id: {$ref: "#/components/schemas/MessageId"}
                      client_message_id: {$ref: "#/components/schemas/Id"}
                      sent_at: {type: integer, description: Milliseconds since 1970}
                      repeated: {type: boolean}
          schemas:
            Id:
              type: string
              minLength: 1
              maxLength: 64
              pattern: '^[^\x00-\x20\x7f]+$'
              description: At most 64 bytes of UTF-8, no spaces or control characters
            MessageId: {type: string, pattern: "^[0-9a-hjkmnp-tv-z]{13}$"}
            Conversation:
              type: object
              required: [type, target]
              additionalProperties: false
              properties:
                type: {type: string, enum: [PR, DS, GRP, CS, SYS, MC, MP, PH, CHRM]}
                target: {$ref: "#/components/schemas/Id"}
            Mentions:
              type: object
              description: Everybody, or 1 to 100 people; not in conversations whose target is a person
              additionalProperties: false
              properties:
                everyone: {type: [boolean, "null"], default: false}
                users: {type: [array, "null"], maxItems: 100, items: {$ref: "#/components/schemas/Id"}}
            ConversationInfo:
              type: object
              required: [conversation, version, name, portrait, members, is_dissolved]
              properties:
                conversation: {$ref: "#/components/schemas/Conversation"}
                version: {type: integer, minimum: 1}
                name: {type: string}
                portrait: {type: [string, "null"]}
                members:
                  type: array
                  description: Sorted by id
                  items:
                    type: object
                    required: [user, role, nickname]
                    properties:
                      user: {$ref: "#/components/schemas/Id"}
                      role: {type: string, enum: [owner, admin, member]}
                      nickname: {type: [string, "null"]}
                is_dissolved: {type: boolean}
            History:
              type: object
              required: [messages, has_more]
              properties:
                messages: {type: array, items: {$ref: "#/components/schemas/Message"}}
                has_more: {type: boolean}
            Message:
              type: object
              required: [message_id, sender, conversation, object_name, client_message_id, content, sent_at]
              properties:
                message_id: {$ref: "#/components/schemas/MessageId"}
                sender: {$ref: "#/components/schemas/Id"}
                conversation: {$ref: "#/components/schemas/Conversation", description: As the sender sees it}
                object_name: {type: string}
                client_message_id: {$ref: "#/components/schemas/Id"}
                content: {type: string}
                counted: {type: boolean}
                notified: {type: boolean}
                push_text: {type: [string, "null"]}
                sent_at: {type: integer, description: Milliseconds since 1970}
                mentions: {oneOf: [{$ref: "#/components/schemas/Mentions"}, {type: "null"}]}
                recipients: {type: array, items: {$ref: "#/components/schemas/Id"}}
                expires_at: {type: [integer, "null"], description: Milliseconds since 1970}
            Level: {type: string, enum: [all, mentions, mentions_of_me, mentions_of_all, blocked]}
            Levels:
              type: object
              description: By kind of conversation; kinds that are left out are all
              propertyNames: {enum: [PR, DS, GRP, CS, SYS, MC, MP, PH, CHRM]}
              additionalProperties: {$ref: "#/components/schemas/Level"}
            QuietHours:
              type: object
              required: [start, end, time_zone]
              additionalProperties: false
              properties:
                start: {type: integer, minimum: 0, maximum: 1439, description: Minutes after midnight}
                end:
                  type: integer
                  description: "Minutes after midnight; before start: over midnight; equal: a whole day"
                  minimum: 0
                  maximum: 1439
                weekdays:
                  type: [array, "null"]
                  description: "The days on which they begin: 1 is Monday; empty for every day"
                  items: {type: integer, minimum: 1, maximum: 7}
                time_zone: {type: string, description: A name of the time-zone database, maxLength: 64}
                manner: {type: [string, "null"], enum: [defer, drop, null], default: defer}
            Settings:
              type: object
              required: [levels, quiet_hours, hides_content, language, conversations, blocked]
              properties:
                levels: {$ref: "#/components/schemas/Levels"}
                quiet_hours: {oneOf: [{$ref: "#/components/schemas/QuietHours"}, {type: "null"}]}
                hides_content: {type: boolean}
                language: {type: [string, "null"]}
                conversations:
                  type: array
                  items:
                    type: object
                    required: [conversation, level, level_until]
                    properties:
                      conversation: {$ref: "#/components/schemas/Conversation"}
                      level: {oneOf: [{$ref: "#/components/schemas/Level"}, {type: "null"}]}
                      level_until: {type: [integer, "null"]}
                blocked: {type: array, items: {$ref: "#/components/schemas/Id"}}
            Device:
              type: object
              required: [id, platform, connected_at, presence, push]
              properties:
                id: {$ref: "#/components/schemas/Id"}
                platform: {type: string}
                connected_at: {type: integer, description: "When it connected last, milliseconds since 1970"}
                presence: {type: string, enum: [foreground, background, away]}
                push: {type: string, enum: [none, registered, quarantined, dead]}
                push_at:
                  type: integer
                  description: "Of registered and quarantined when it registered, of dead since when; milliseconds since 1970"
                push_topic: {type: string}
                push_environment: {type: string, enum: [sandbox, production]}
                push_reason: {type: string, description: "Of quarantined: what APNs said"}
                status: {$ref: "#/components/schemas/DeviceStatus"}
            DeviceStatus:
              type: object
              description: |
                What the person allows the app there, as the device said last. Missing of a device that has said nothing since the server
                started, and of iOS 9 and earlier
              required:
                [authorization, alert, sound, badge, lock_screen, notification_center, background_refresh, at]
              properties:
                authorization: {type: string, enum: [not_determined, denied, authorized, provisional, ephemeral]}
                alert: {type: boolean}
                sound: {type: boolean}
                badge: {type: boolean}
                lock_screen: {type: boolean}
                notification_center: {type: boolean}
                background_refresh: {type: string, enum: [available, denied, restricted]}
                at: {type: integer, description: "When it said so, milliseconds since 1970"}
            Unread:
              type: object
              required: [unread, unread_with_muted, mentions, head]
              properties:
                unread: {type: integer, description: Without muted conversations; what the badge shows}
                unread_with_muted: {type: integer}
                mentions: {type: integer, description: "Unread messages that mention the person, also in muted conversations"}
                head: {type: integer, description: The newest position of the person's log}
            UnreadInConversation:
              type: object
              required: [conversation, unread, mentions, is_muted, read_up_to]
              properties:
                conversation: {$ref: "#/components/schemas/Conversation"}
                unread: {type: integer}
                mentions: {type: integer, description: Those of them that mention the person}
                is_muted: {type: boolean, description: Its messages do not count in unread of all conversations}
                read_up_to: {type: integer, description: The position the person has read it up to}
            ObjectNames:
              type: object
              required: [names]
              additionalProperties: false
              properties:
                names: {type: array, maxItems: 256, items: {$ref: "#/components/schemas/Id"}}
            Problem:
              type: object
              required: [type, title, status, detail, code, field, rule]
              properties:
                type: {type: string}
                title: {type: string}
                status: {type: integer}
                detail: {type: string}
                code: {type: string}
                field: {type: string, description: The field at fault, or empty}
                rule: {type: string, description: The rule it breaks}
            Entry:
              type: object
              required: [position]
              properties:
                position: {type: integer, minimum: 1}
                message_id: {$ref: "#/components/schemas/MessageId"}
                sender: {$ref: "#/components/schemas/Id"}
                conversation: {$ref: "#/components/schemas/Conversation"}
                object_name: {type: string}
                content: {type: string}
                push_text: {type: [string, "null"]}
                counted: {type: boolean}
                notified: {type: boolean}
                sent_at: {type: integer}
                rings:
                  type: boolean
                  description: A phone that has missed the message may tell of it now; what the person's settings keep from
                    ringing, and what was read, withdrawn or deleted, does not
                text:
                  type: object
                  description: What a notification says, in the person's language; ids stand where the phone may know names
                  required: [body]
                  properties: {title: {type: string}, body: {type: string}}
                hidden: {type: boolean, description: The person wants nothing else told}
                rc: {type: [object, "null"], description: What a tap opens}
                read: {$ref: "#/components/schemas/Conversation"}
                up_to: {type: integer}
            Trace:
              type: object
              required: [message_id, kind, sent_at, deliveries, open_legs, ended_legs, receipts, devices]
              properties:
                message_id: {$ref: "#/components/schemas/MessageId"}
                kind: {type: string, enum: [message, recall, custom], description: What has the id}
                sender: {$ref: "#/components/schemas/Id"}
                conversation: {$ref: "#/components/schemas/Conversation"}
                object_name: {type: string}
                recalls: {$ref: "#/components/schemas/MessageId", description: "Of a withdrawal: the message"}
                withdrawal: {$ref: "#/components/schemas/MessageId", description: "Of a message that was withdrawn: its withdrawal"}
                client_message_id: {$ref: "#/components/schemas/Id"}
                sent_at: {type: integer, description: Milliseconds since 1970}
                deliveries:
                  type: array
                  items: {type: object, properties: {user: {$ref: "#/components/schemas/Id"}, position: {type: integer}}}
                open_legs:
                  type: array
                  items:
                    type: object
                    properties:
                      user: {$ref: "#/components/schemas/Id"}
                      device: {type: [string, "null"]}
                      wait: {type: string}
                      attempts: {type: integer}
                      apns_id: {type: [string, "null"]}
                      not_before: {type: [integer, "null"]}
                ended_legs:
                  type: array
                  items:
                    type: object
                    properties:
                      user: {$ref: "#/components/schemas/Id"}
                      device: {type: [string, "null"]}
                      end: {type: string}
                      detail:
                        type: [string, "null"]
                        description: |
                          What the end leaves open: of settled how, of accepted the apns-id, of token_dead since when, of rejected Apple's
                          reason, of token_quarantined the HTTP status and Apple's reason, such as 400 BadDeviceToken
                      at: {type: integer}
                receipts:
                  type: array
                  items:
                    type: object
                    properties:
                      user: {$ref: "#/components/schemas/Id"}
                      device: {type: [string, "null"]}
                      receipt: {type: string, enum: [shown, opened]}
                      at: {type: integer}
                devices:
                  type: array
                  description: Of the devices with a leg those that have said what the person allows there
                  items:
                    type: object
                    required: [user, device, status]
                    properties:
                      user: {$ref: "#/components/schemas/Id"}
                      device: {$ref: "#/components/schemas/Id"}
                      status: {$ref: "#/components/schemas/DeviceStatus"}

        """#
}
