/// The description of the HTTP API that `/openapi.yaml` serves. Tests hold it against the routes and against every answer.
enum OpenAPI {
    /// The whole document: `openapi.yaml` beside this file, compiled in, so that the binary needs no file at its side.
    static let document = String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
}
