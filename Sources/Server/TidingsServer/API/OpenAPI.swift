/// The description of the HTTP API that `/openapi.yaml` serves. A test holds it against the routes.
enum OpenAPI {
    /// The whole document, in YAML.
    static let document =
        Self.head + Self.messagePaths + Self.conversationPaths + Self.settingsPaths + Self.devicePaths
        + Self.accountPaths + Self.operationPaths
        + Self.components

    /// What it is, and user tokens.
    static let head = #"""
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
              description: |
                Needs a key with the scope tokens. Refused with disabled (status 403) for somebody who is banned.
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

        """#
}
