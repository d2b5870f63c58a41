// The views are of what the kit tells; one import is enough for an app.
@_exported public import TidingsKit
