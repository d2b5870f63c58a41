enum OpenAPI {
    /// `openapi.yaml` beside this file, compiled in, so that the binary needs no file at its side. Tests hold it against the routes
    /// and against every answer.
    static let document = String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
}
