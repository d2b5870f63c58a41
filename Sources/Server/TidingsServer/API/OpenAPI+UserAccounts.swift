extension OpenAPI {
    /// What the app's backend decides about one person.
    static let userAccountPaths = #"""
          /v1/apps/{app}/users/{user}/account:
            get:
              summary: Whether a person is banned, and which of their tokens are good
              description: Needs a key with the scope accounts.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
              responses:
                "200":
                  description: Also of a person nobody knows
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [banned, tokens_not_before]
                        properties:
                          banned: {type: boolean}
                          tokens_not_before:
                            type: [integer, "null"]
                            description: Tokens issued before are revoked, in milliseconds since 1970; null if none ever was
                problems: [400, 401, 403, 429, 503]
          /v1/apps/{app}/users/{user}/ban:
            put:
              summary: Ban a person
              description: |
                Needs a key with the scope accounts.
                All devices are signed out, whose unfinished legs end disabled; connections are closed with disabled. Nobody can sign
                in as this person until the ban is lifted. Messages to them are kept in their log.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
              responses:
                "204": {description: "Done, also if they were banned already"}
                problems: [400, 401, 403, 429, 503, 507]
            delete:
              summary: Let a person in again
              description: |
                Needs a key with the scope accounts.
                Tokens issued before the ban are good again unless they were revoked.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
              responses:
                "204": {description: "Done, also if they were not banned"}
                problems: [400, 401, 403, 429, 503, 507]
          /v1/apps/{app}/users/{user}/revoke-tokens:
            post:
              summary: Revoke a person's user tokens
              description: |
                Needs a key with the scope accounts.
                Tokens issued before a time, and those that do not say when (claim iat), are good no more; connections that live on
                one are closed with token_revoked. The time moves forward only.
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
                        before:
                          type: integer
                          minimum: 0
                          description: Milliseconds since 1970, not in the future; now if left out
                        sign_out:
                          type: boolean
                          default: false
                          description: Sign all devices out, too
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 408, 413, 429, 503, 507]

        """#
}
