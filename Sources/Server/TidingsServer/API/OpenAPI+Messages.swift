extension OpenAPI {
    /// Messages: send, change, withdraw, history, trace, custom messages.
    static let messagePaths = #"""
          /v1/apps/{app}/messages:
            post:
              summary: Send a message as a person
              description: |
                Needs a key with the scope messages. Answered after the message is synced to disk. The same
                client_message_id of the same sender makes one message, however often it is sent.
              security: [{apiKey: []}]
              parameters: [{$ref: "#/components/parameters/app"}]
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [sender, client_message_id, conversation, content]
                      additionalProperties: false
                      properties:
                        sender: {$ref: "#/components/schemas/Id"}
                        client_message_id: {$ref: "#/components/schemas/Id"}
                        conversation: {$ref: "#/components/schemas/Conversation"}
                        object_name: {oneOf: [{$ref: "#/components/schemas/Id"}, {type: "null"}], default: "RC:TxtMsg"}
                        content:
                          type: string
                          description: As the object name defines it; for RC:TxtMsg a JSON object with content
                          maxLength: 32768
                        stored:
                          type: [boolean, "null"]
                          default: true
                          description: "Whether it is kept in the history. One that is not is a command for the app: it neither counts nor rings"
                        counted: {type: [boolean, "null"], default: true}
                        notified: {type: [boolean, "null"], default: true}
                        push_text: {type: [string, "null"], maxLength: 1024}
                        mentions: {oneOf: [{$ref: "#/components/schemas/Mentions"}, {type: "null"}]}
                        recipients:
                          type: [array, "null"]
                          description: The members of a group or discussion it is for; all without it
                          maxItems: 100
                          items: {$ref: "#/components/schemas/Id"}
                        lifetime_ms:
                          type: [integer, "null"]
                          description: How long it is worth a push and a place on the screen
                          minimum: 1
                          maximum: 2592000000
              responses:
                "201": {$ref: "#/components/responses/Sent"}
                "200": {$ref: "#/components/responses/Sent"}
                problems: [400, 401, 403, 404, 408, 413, 429, 503, 507]
          /v1/apps/{app}/messages/{id}:
            patch:
              summary: Give a message another content
              description: |
                Needs a key with the scope messages.
                With an actor only their own, within the server's time for it; otherwise too_late.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/messageId"}
                - {$ref: "#/components/parameters/actor"}
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [content]
                      additionalProperties: false
                      properties:
                        content: {type: string, minLength: 1, maxLength: 32768}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 404, 408, 409, 413, 429, 503, 507]
            delete:
              summary: Withdraw a message for everybody
              description: |
                Needs a key with the scope messages.
                With an actor as in the client protocol; otherwise any, at any time. Repeating it changes nothing.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/messageId"}
                - {$ref: "#/components/parameters/actor"}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 404, 409, 429, 503, 507]
          /v1/apps/{app}/conversations/{type}/{id}/messages:
            get:
              summary: Messages a person can read in a conversation, newest first
              description: |
                Needs a key with the scope history.
                Contents as edited, without what was recalled or the person deleted. The conversation is named as the
                person sees it. While has_more holds, ask again with the oldest one as before.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/anyType"}
                - {$ref: "#/components/parameters/id"}
                - {name: user, in: query, required: true, schema: {$ref: "#/components/schemas/Id"}}
                - {name: before, in: query, schema: {$ref: "#/components/schemas/MessageId"}}
                - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 100, default: 50}}
              responses:
                "200":
                  description: Newest first
                  content: {application/json: {schema: {$ref: "#/components/schemas/History"}}}
                problems: [400, 401, 403, 404, 429, 503]
          /v1/apps/{app}/custom-messages:
            post:
              summary: Send a message to the app itself on people's phones
              description: |
                Needs a key with the scope messages.
                Handed over while the app is in front, at most once, in order; neither counted nor shown, never pushed. The
                same client_message_id makes one message, however often it is sent.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [recipients, client_message_id, content]
                      additionalProperties: false
                      properties:
                        recipients: {type: array, minItems: 1, maxItems: 1000, items: {$ref: "#/components/schemas/Id"}}
                        client_message_id: {$ref: "#/components/schemas/Id"}
                        title: {type: [string, "null"], maxLength: 256}
                        content: {type: string, minLength: 1, maxLength: 32768}
                        content_type: {type: [string, "null"], maxLength: 128}
                        extras: {type: [object, "null"], description: "At most 8,192 bytes of JSON"}
                        lifetime_ms:
                          type: [integer, "null"]
                          minimum: 1
                          maximum: 2592000000
                          description: "How long after it was taken it is handed over; without it, as long as it is kept"
              responses:
                "201": {$ref: "#/components/responses/Sent"}
                "200": {$ref: "#/components/responses/Sent"}
                problems: [400, 401, 403, 408, 413, 429, 503, 507]
          /v1/apps/{app}/messages/{id}/receipts:
            get:
              summary: Who has got a message and who has read it
              description: |
                Needs a key with the scope history.
                Counted by person, without the sender; one device is enough.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/messageId"}
                - {$ref: "#/components/parameters/actor"}
              responses:
                "200":
                  description: The receipts
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [message_id, recipients, delivered, read]
                        properties:
                          message_id: {$ref: "#/components/schemas/MessageId"}
                          recipients: {type: integer, minimum: 0}
                          delivered: {type: array, items: {$ref: "#/components/schemas/Id"}}
                          read: {type: array, items: {$ref: "#/components/schemas/Id"}}
                problems: [400, 401, 403, 404, 429, 503]
          /v1/apps/{app}/messages/{id}/trace:
            get:
              summary: The life of one message
              description: Needs a key with the scope trace. Tells everything but the content.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/messageId"}
              responses:
                "200":
                  description: The trace
                  content:
                    application/json:
                      schema: {$ref: "#/components/schemas/Trace"}
                problems: [400, 401, 403, 404, 429, 503]

        """#
}
