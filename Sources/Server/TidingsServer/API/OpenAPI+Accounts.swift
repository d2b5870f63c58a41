extension OpenAPI {
    /// Accounts and bans.
    static let accountPaths = #"""
          /v1/apps/{app}/accounts:
            get:
              summary: The accounts the app has declared
              description: |
                Needs a key with the scope settings.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
              responses:
                "200":
                  description: Sorted by kind, then id
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [accounts]
                        properties:
                          accounts:
                            type: array
                            items:
                              type: object
                              required: [kind, id]
                              properties:
                                kind: {type: string, enum: [CS, MC, MP]}
                                id: {$ref: "#/components/schemas/Id"}
                problems: [400, 401, 403, 429, 503]
          /v1/apps/{app}/accounts/{type}/{id}:
            put:
              summary: Declare a person an account of a kind
              description: |
                Needs a key with the scope settings. Messages of the kinds CS, MC and MP go only to an account of that kind, or from
                one; an app has at most 1,000.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/accountType"}
                - {$ref: "#/components/parameters/id"}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 429, 503, 507]
            delete:
              summary: Take an account back
              description: |
                Needs a key with the scope settings. What was sent stays; nothing new goes there.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/accountType"}
                - {$ref: "#/components/parameters/id"}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 429, 503, 507]
          /v1/apps/{app}/conversations/{type}/{id}/bans:
            get:
              summary: Who may not come into a chat room
              description: |
                Needs a key with the scope conversations. An actor must be owner or admin.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/memberType"}
                - {$ref: "#/components/parameters/id"}
                - {$ref: "#/components/parameters/actor"}
              responses:
                "200":
                  description: Sorted by person, without those that have ended
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [bans]
                        properties:
                          bans:
                            type: array
                            items:
                              type: object
                              required: [user, until]
                              properties:
                                user: {$ref: "#/components/schemas/Id"}
                                until:
                                  type: [integer, "null"]
                                  description: Milliseconds since 1970; null for as long as nobody lifts it
                problems: [400, 401, 403, 404, 429, 503]
          /v1/apps/{app}/conversations/{type}/{id}/bans/{user}:
            put:
              summary: Put a person out of a chat room, and keep them out
              description: |
                Needs a key with the scope conversations.
                They are no member any more and hear the room on none of their connections from then on. An actor must be owner or
                admin; nobody bans the owner, nor an admin another one.
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
                        until:
                          type: [integer, "null"]
                          minimum: 1
                          description: Milliseconds since 1970, in the future; null or missing until the ban is lifted
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 404, 408, 413, 429, 503, 507]
            delete:
              summary: Lift a ban
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

        """#
}
