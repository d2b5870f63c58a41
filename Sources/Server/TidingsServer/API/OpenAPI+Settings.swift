extension OpenAPI {
    /// What one person has set.
    static let settingsPaths = #"""
          /v1/apps/{app}/users/{user}/settings:
            get:
              summary: What a person has set
              description: |
                Needs a key with the scope settings.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
              responses:
                "200":
                  description: Everything
                  content: {application/json: {schema: {$ref: "#/components/schemas/Settings"}}}
                default: {$ref: "#/components/responses/Problem"}
            put:
              summary: Set what holds everywhere
              description: |
                Needs a key with the scope settings.
                Replaces all of it; what is left out is not set any more.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      additionalProperties: false
                      properties:
                        levels: {$ref: "#/components/schemas/Levels"}
                        quiet_hours: {oneOf: [{$ref: "#/components/schemas/QuietHours"}, {type: "null"}]}
                        hides_content: {type: boolean, default: false}
                        language: {type: [string, "null"], maxLength: 35, description: A BCP 47 tag}
              responses:
                "204": {description: Done}
                default: {$ref: "#/components/responses/Problem"}
          /v1/apps/{app}/users/{user}/settings/{type}/{id}:
            put:
              summary: Set how loud a conversation may be
              description: |
                Needs a key with the scope settings.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
                - {$ref: "#/components/parameters/anyType"}
                - {$ref: "#/components/parameters/id"}
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [level]
                      additionalProperties: false
                      properties:
                        level: {$ref: "#/components/schemas/Level"}
                        level_until: {type: integer, description: "Milliseconds since 1970, in the future"}
              responses:
                "204": {description: Done}
                default: {$ref: "#/components/responses/Problem"}
            delete:
              summary: Set nothing for a conversation any more
              description: |
                Needs a key with the scope settings.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
                - {$ref: "#/components/parameters/anyType"}
                - {$ref: "#/components/parameters/id"}
              responses:
                "204": {description: Done}
                default: {$ref: "#/components/responses/Problem"}
          /v1/apps/{app}/users/{user}/blocked/{other}:
            put:
              summary: Refuse somebody's one-to-one messages
              description: |
                Needs a key with the scope settings.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
                - {name: other, in: path, required: true, schema: {$ref: "#/components/schemas/Id"}}
              responses:
                "204": {description: Done}
                default: {$ref: "#/components/responses/Problem"}
            delete:
              summary: Refuse them no longer
              description: |
                Needs a key with the scope settings.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
                - {name: other, in: path, required: true, schema: {$ref: "#/components/schemas/Id"}}
              responses:
                "204": {description: Done}
                default: {$ref: "#/components/responses/Problem"}
          /v1/apps/{app}/users/{user}/unread:
            get:
              summary: How much a person has not read
              description: |
                Needs a key with the scope settings.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
              responses:
                "200":
                  description: Without muted conversations
                  content: {application/json: {schema: {$ref: "#/components/schemas/Unread"}}}
                default: {$ref: "#/components/responses/Problem"}

        """#
}
