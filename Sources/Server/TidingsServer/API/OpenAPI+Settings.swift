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
                problems: [400, 401, 403, 429, 503]
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
                        levels: {oneOf: [{$ref: "#/components/schemas/Levels"}, {type: "null"}]}
                        quiet_hours: {oneOf: [{$ref: "#/components/schemas/QuietHours"}, {type: "null"}]}
                        hides_content: {type: [boolean, "null"], default: false}
                        language: {type: [string, "null"], maxLength: 35, description: A BCP 47 tag}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 408, 413, 429, 503, 507]
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
                        level_until: {type: [integer, "null"], minimum: 1, description: "Milliseconds since 1970, in the future"}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 408, 413, 429, 503, 507]
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
                problems: [400, 401, 403, 429, 503, 507]
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
                problems: [400, 401, 403, 429, 503, 507]
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
                problems: [400, 401, 403, 429, 503, 507]
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
                  description: In all conversations together
                  content: {application/json: {schema: {$ref: "#/components/schemas/Unread"}}}
                problems: [400, 401, 403, 429, 503]
          /v1/apps/{app}/users/{user}/unread/{type}/{id}:
            get:
              summary: How much of one conversation a person has not read
              description: |
                Needs a key with the scope settings. The conversation is named as the person sees it; of one they have nothing
                of, nothing is unread.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
                - {$ref: "#/components/parameters/anyType"}
                - {$ref: "#/components/parameters/id"}
              responses:
                "200":
                  description: The conversation's part
                  content: {application/json: {schema: {$ref: "#/components/schemas/UnreadInConversation"}}}
                problems: [400, 401, 403, 429, 503]
          /v1/apps/{app}/object-names:
            get:
              summary: The object names the app has registered
              description: |
                Needs a key with the scope settings.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
              responses:
                "200":
                  description: Sorted, without those that are built in
                  content: {application/json: {schema: {$ref: "#/components/schemas/ObjectNames"}}}
                problems: [400, 401, 403, 429, 503]
            put:
              summary: Register the app's own object names
              description: |
                Needs a key with the scope settings.
                Replaces those registered before. From the first one on, a message of any other name that is not built in is
                refused with unknown_object_name; with none, any well-formed name is accepted.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: "#/components/schemas/ObjectNames"}}}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 408, 413, 429, 503, 507]

        """#
}
