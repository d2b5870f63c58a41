extension OpenAPI {
    /// The devices of one person.
    static let devicePaths = #"""
          /v1/apps/{app}/users/{user}/devices:
            get:
              summary: The devices on which a person is signed in
              description: |
                Needs a key with the scope settings.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
              responses:
                "200":
                  description: Sorted by id; none for a person nobody knows
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [devices]
                        properties:
                          devices: {type: array, items: {$ref: "#/components/schemas/Device"}}
                problems: [400, 401, 403, 429, 503]
            delete:
              summary: Sign a person out on all devices
              description: |
                Needs a key with the scope settings.
                Connections are closed and push tokens forgotten. Whoever still holds a good user token can sign in again.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
              responses:
                "204": {description: "Done, also if there was no device"}
                problems: [400, 401, 403, 429, 503, 507]
          /v1/apps/{app}/users/{user}/devices/{device}:
            delete:
              summary: Sign a person out on one device
              description: |
                Needs a key with the scope settings.
                Refused with invalid_field if the person is not signed in there.
              security: [{apiKey: []}]
              parameters:
                - {$ref: "#/components/parameters/app"}
                - {$ref: "#/components/parameters/user"}
                - {name: device, in: path, required: true, schema: {$ref: "#/components/schemas/Id"}}
              responses:
                "204": {description: Done}
                problems: [400, 401, 403, 429, 503, 507]

        """#
}
