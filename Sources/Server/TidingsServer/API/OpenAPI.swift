/// The description of the HTTP API that `/openapi.yaml` serves. A test holds it against the routes.
enum OpenAPI {
    /// The whole document, in YAML.
    static let document = Self.expanded(
        Self.head + Self.messagePaths + Self.conversationPaths + Self.accountPaths + Self.settingsPaths
            + Self.devicePaths + Self.userAccountPaths + Self.operationPaths + Self.components)

    /// Writes a response for each status of a line such as `problems: [400, 401]`. None stands for all others: a status that is
    /// not described is a mistake, and a test that compares answers with the document can see it. 500 is never described.
    private static func expanded(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard let match = line.wholeMatch(of: /( +)problems: \[([0-9, ]+)\]/) else { return String(line) }
            return match.2.split(separator: ", ").map { status in
                "\(match.1)\"\(status)\": {$ref: \"#/components/responses/Problem\"}"
            }.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// What it is, and user tokens.
    static let head = #"""
        openapi: 3.1.0
        info:
          title: Tidings HTTP API
          version: "1"
          description: |
            For an app's backend and its operators. Errors are application/problem+json and name the field and the rule;
            a refused request has changed nothing. Below /v1, members of bodies and queries that are not described here are
            refused, and 429 and 503 say in Retry-After when to come again. Methods a path does not have are refused (405).
            Members that need not be there may be null. Every answer has a header X-Request-Id; a proxy that is trusted may
            give the id.
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
                        expires_in_seconds: {type: [integer, "null"], minimum: 1, maximum: 31536000, default: 86400}
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
                problems: [400, 401, 403, 408, 413, 429, 503, 507]

        """#
}
