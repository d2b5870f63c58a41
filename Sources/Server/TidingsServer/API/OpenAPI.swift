/// The description of the HTTP API that `/openapi.yaml` serves. A test holds it against the routes.
enum OpenAPI {
    static let document = #"""
        openapi: 3.1.0
        info:
          title: Tidings HTTP API
          version: "1"
          description: |
            For an app's backend and its operators. Errors are application/problem+json and name the field and the rule;
            a refused request has changed nothing. Members that are not described here are refused.
        servers:
          - url: http://127.0.0.1:7480
        paths:
          /v1/apps/{app}/tokens:
            post:
              summary: Issue a user token
              description: Needs a key with the scope tokens.
              security: [{apiKey: []}]
              parameters: [{$ref: "#/components/parameters/app"}]
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [user]
                      additionalProperties: false
                      properties:
                        user: {$ref: "#/components/schemas/Id"}
                        expires_in_seconds: {type: integer, minimum: 1, maximum: 31536000, default: 86400}
              responses:
                "201":
                  description: The token
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [token, app, user, expires_at]
                        properties:
                          token: {type: string, description: JSON web token signed with HS256}
                          app: {$ref: "#/components/schemas/Id"}
                          user: {$ref: "#/components/schemas/Id"}
                          expires_at: {type: integer, description: Seconds since 1970}
                default: {$ref: "#/components/responses/Problem"}
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
                        object_name: {type: string, default: "RC:TxtMsg"}
                        content:
                          type: string
                          description: As the object name defines it; for RC:TxtMsg a JSON object with content
                          maxLength: 32768
                        stored: {type: boolean, default: true}
                        counted: {type: boolean, default: true}
                        notified: {type: boolean, default: true}
                        push_text: {type: string, maxLength: 1024}
              responses:
                "201": {$ref: "#/components/responses/Sent"}
                "200": {$ref: "#/components/responses/Sent"}
                default: {$ref: "#/components/responses/Problem"}
          /v1/apps/{app}/conversations/{type}/{id}:
            put:
              summary: Create a conversation or replace its members
              description: Needs a key with the scope conversations.
              security: [{apiKey: []}]
              parameters:
                - $ref: "#/components/parameters/app"
                - name: type
                  in: path
                  required: true
                  schema: {type: string, enum: [DS, GRP, CHRM]}
                - name: id
                  in: path
                  required: true
                  schema: {$ref: "#/components/schemas/Id"}
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [members]
                      additionalProperties: false
                      properties:
                        name: {type: string, maxLength: 256}
                        members: {type: array, maxItems: 3000, items: {$ref: "#/components/schemas/Id"}}
              responses:
                "204": {description: Done}
                default: {$ref: "#/components/responses/Problem"}
          /v1/apps/{app}/messages/{id}/trace:
            get:
              summary: The life of one message
              description: Needs a key with the scope trace. Tells everything but the content.
              security: [{apiKey: []}]
              parameters:
                - $ref: "#/components/parameters/app"
                - name: id
                  in: path
                  required: true
                  schema: {$ref: "#/components/schemas/MessageId"}
              responses:
                "200":
                  description: The trace
                  content:
                    application/json:
                      schema: {$ref: "#/components/schemas/Trace"}
                default: {$ref: "#/components/responses/Problem"}
          /v1/extension/receipts:
            post:
              summary: What a phone did with a pushed message
              security: [{extensionToken: []}]
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [message_id, receipt]
                      additionalProperties: false
                      properties:
                        message_id: {$ref: "#/components/schemas/MessageId"}
                        receipt: {type: string, enum: [shown, opened]}
              responses:
                "204": {description: Done}
                default: {$ref: "#/components/responses/Problem"}
          /v1/extension/missed:
            get:
              summary: Entries of the person's log after a position
              security: [{extensionToken: []}]
              parameters:
                - {name: after, in: query, required: true, schema: {type: integer, minimum: 0}}
                - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 20, default: 20}}
              responses:
                "200":
                  description: Oldest first
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [entries, head, unread]
                        properties:
                          entries: {type: array, items: {$ref: "#/components/schemas/Entry"}}
                          head: {type: integer}
                          unread: {type: integer}
                default: {$ref: "#/components/responses/Problem"}
          /healthz:
            get:
              summary: The process runs
              responses: {"200": {description: It does}}
          /readyz:
            get:
              summary: The server takes work
              responses:
                "200": {description: It does}
                "503": {$ref: "#/components/responses/Problem"}
          /metrics:
            get:
              summary: Metrics in Prometheus's text form
              responses: {"200": {description: The metrics, content: {text/plain: {}}}}
          /openapi.yaml:
            get:
              summary: This document
              responses: {"200": {description: This document, content: {application/yaml: {}}}}
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
            Id: {type: string, minLength: 1, maxLength: 64, description: No spaces or control characters}
            MessageId: {type: string, pattern: "^[0-9a-hjkmnp-tv-z]{13}$"}
            Conversation:
              type: object
              required: [type, target]
              additionalProperties: false
              properties:
                type: {type: string, enum: [PR, DS, GRP, CS, SYS, MC, MP, PH, CHRM]}
                target: {$ref: "#/components/schemas/Id"}
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
                rings: {type: boolean, description: A phone that has missed the message may tell of it now}
                text:
                  type: object
                  description: What a notification says; ids stand where the phone may know names
                  required: [title, body]
                  properties: {title: {type: string}, body: {type: string}}
                rc: {type: [object, "null"], description: What a tap opens}
                read: {$ref: "#/components/schemas/Conversation"}
                up_to: {type: integer}
            Trace:
              type: object
              required: [message_id, sender, conversation, object_name, client_message_id, sent_at, deliveries, open_legs, ended_legs, receipts]
              properties:
                message_id: {$ref: "#/components/schemas/MessageId"}
                sender: {$ref: "#/components/schemas/Id"}
                conversation: {$ref: "#/components/schemas/Conversation"}
                object_name: {type: string}
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
                      detail: {type: [string, "null"]}
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

        """#
}
