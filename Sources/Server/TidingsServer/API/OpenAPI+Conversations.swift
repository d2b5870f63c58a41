extension OpenAPI {
    /// Conversations with members.
    static let conversationPaths = #"""
          /v1/apps/{app}/conversations/{type}/{id}:
            put:
              summary: Create a conversation or replace its name, portrait and members
              description: |
                Needs a key with the scope conversations. Also revives one that was dissolved. Nobody's log is told.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/memberType"}
                - {$ref: "#/components/parameters/id"}
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [members]
                      additionalProperties: false
                      properties:
                        name: {type: [string, "null"], maxLength: 256}
                        portrait: {type: [string, "null"], minLength: 1, maxLength: 1024, description: A URL}
                        members: {type: array, maxItems: 3000, items: {$ref: "#/components/schemas/Id"}}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 408, 413, 429, 503, 507]
            post:
              summary: Create a conversation that does not exist yet
              description: |
                Needs a key with the scope conversations.
                The actor owns it and is a member. A conversation of that id, also a dissolved one, is answered exists.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/memberType"}
                - {$ref: "#/components/parameters/id"}
                - {$ref: "#/components/parameters/actor"}
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [name, members]
                      additionalProperties: false
                      properties:
                        name: {type: string, minLength: 1, maxLength: 256}
                        portrait: {type: [string, "null"], minLength: 1, maxLength: 1024, description: A URL}
                        members: {type: array, maxItems: 3000, items: {$ref: "#/components/schemas/Id"}}
              responses:
                "201":
                  description: It exists now
                  content: {application/json: {schema: {$ref: "#/components/schemas/Conversation"}}}
                problems: [400, 401, 403, 408, 409, 413, 429, 503, 507]
            get:
              summary: Name, portrait and members
              description: |
                Needs a key with the scope conversations.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/memberType"}
                - {$ref: "#/components/parameters/id"}
                - {$ref: "#/components/parameters/actor"}
              responses:
                "200":
                  description: The conversation
                  content: {application/json: {schema: {$ref: "#/components/schemas/ConversationInfo"}}}
                problems: [400, 401, 403, 404, 429, 503]
            delete:
              summary: Dissolve a conversation
              description: |
                Needs a key with the scope conversations.
                Nobody can write any more; what was written stays readable.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/memberType"}
                - {$ref: "#/components/parameters/id"}
                - {$ref: "#/components/parameters/actor"}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 404, 429, 503, 507]
          /v1/apps/{app}/conversations/{type}/{id}/name:
            put:
              summary: Rename a conversation
              description: |
                Needs a key with the scope conversations.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/memberType"}
                - {$ref: "#/components/parameters/id"}
                - {$ref: "#/components/parameters/actor"}
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [name]
                      additionalProperties: false
                      properties:
                        name: {type: string, minLength: 1, maxLength: 256}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 404, 408, 413, 429, 503, 507]
          /v1/apps/{app}/conversations/{type}/{id}/portrait:
            put:
              summary: Change its picture
              description: |
                Needs a key with the scope conversations.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/memberType"}
                - {$ref: "#/components/parameters/id"}
                - {$ref: "#/components/parameters/actor"}
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      additionalProperties: false
                      properties:
                        portrait: {type: [string, "null"], minLength: 1, maxLength: 1024, description: "A URL; null takes it away"}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 404, 408, 413, 429, 503, 507]
          /v1/apps/{app}/conversations/{type}/{id}/members:
            post:
              summary: Add members
              description: |
                Needs a key with the scope conversations.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/memberType"}
                - {$ref: "#/components/parameters/id"}
                - {$ref: "#/components/parameters/actor"}
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [users]
                      additionalProperties: false
                      properties:
                        users: {type: array, minItems: 1, items: {$ref: "#/components/schemas/Id"}}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 404, 408, 413, 429, 503, 507]
          /v1/apps/{app}/conversations/{type}/{id}/members/{user}:
            delete:
              summary: Remove a member
              description: |
                Needs a key with the scope conversations.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/memberType"}
                - {$ref: "#/components/parameters/id"}
                - {$ref: "#/components/parameters/user"}
                - {$ref: "#/components/parameters/actor"}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 404, 429, 503, 507]
          /v1/apps/{app}/conversations/{type}/{id}/members/{user}/role:
            put:
              summary: What a member may do
              description: |
                Needs a key with the scope conversations.
                A new owner makes the old one an admin.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/memberType"}
                - {$ref: "#/components/parameters/id"}
                - {$ref: "#/components/parameters/user"}
                - {$ref: "#/components/parameters/actor"}
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [role]
                      additionalProperties: false
                      properties:
                        role: {type: string, enum: [owner, admin, member]}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 404, 408, 413, 429, 503, 507]
          /v1/apps/{app}/conversations/{type}/{id}/members/{user}/nickname:
            put:
              summary: What a member is called there
              description: |
                Needs a key with the scope conversations.
                Null takes it away.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/memberType"}
                - {$ref: "#/components/parameters/id"}
                - {$ref: "#/components/parameters/user"}
                - {$ref: "#/components/parameters/actor"}
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      additionalProperties: false
                      properties:
                        nickname: {type: [string, "null"], minLength: 1, maxLength: 64}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 404, 408, 413, 429, 503, 507]

        """#
}
