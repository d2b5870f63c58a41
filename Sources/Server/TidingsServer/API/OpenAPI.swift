import NIOCore

enum OpenAPI {
    /// `openapi.yaml` beside this file, compiled in, so that the binary needs no file at its side. Tests hold it against the routes
    /// and against every answer.
    static var document: String { String(buffer: self.bytes) }
    /// Shared by all answers: it is large, and anybody may ask for it.
    static let bytes = ByteBuffer(bytes: PackageResources.openapi_yaml)
}
