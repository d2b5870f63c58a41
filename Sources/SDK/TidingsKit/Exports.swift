// The kit adds to the client; one import is enough for an app.
@_exported public import TidingsClient
