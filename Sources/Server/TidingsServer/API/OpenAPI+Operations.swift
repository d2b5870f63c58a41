extension OpenAPI {
    /// The extension's routes, and what an operator looks at.
    static let operationPaths = #"""
          /v1/extension/receipts:
            servers: [{url: "http://127.0.0.1:7481", description: The routes for phones}]
            post:
              summary: What a phone did with a pushed message
              security: [{extensionToken: []}]
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [receipt]
                      oneOf: [{required: [message_id]}, {required: [message_ids]}]
                      additionalProperties: false
                      properties:
                        message_id: {$ref: "#/components/schemas/MessageId"}
                        message_ids:
                          type: array
                          items: {$ref: "#/components/schemas/MessageId"}
                          minItems: 1
                          maxItems: 20
                        receipt: {type: string, enum: [shown, opened]}
              responses:
                "204": {description: Done}
                problems: [400, 401, 408, 413, 429, 503, 507]
          /v1/extension/missed:
            servers: [{url: "http://127.0.0.1:7481", description: The routes for phones}]
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
                problems: [400, 401, 429, 503]
          /healthz:
            get:
              summary: The process runs
              responses:
                "200": {description: It does}
          /readyz:
            get:
              summary: The server takes work
              responses:
                "200": {description: It does}
                "503": {$ref: "#/components/responses/Problem"}
          /metrics:
            get:
              summary: Metrics in Prometheus's text form
              responses:
                "200": {description: The metrics, content: {text/plain: {}}}
          /openapi.yaml:
            get:
              summary: This document
              responses:
                "200": {description: This document, content: {application/yaml: {}}}

        """#
}
