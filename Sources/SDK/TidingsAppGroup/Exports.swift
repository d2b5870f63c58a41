// Names of the shared vocabulary that appear in the public interface: one import is enough for an app.
@_exported public import ClientCore
@_exported public import TidingsModel
