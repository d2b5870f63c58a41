// The shared vocabulary appears in the public interface: `import TidingsClient` is enough for an app.
@_exported public import ClientCore
@_exported public import TidingsAppGroup
@_exported public import TidingsModel
