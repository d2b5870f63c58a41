/// Texts that the server's program carries, so that it needs no file at its side. In C, because the Swift compiler takes
/// minutes for the arrays that SwiftPM's `embedInCode` makes of as many bytes (docs/inside/decisions/0056-two-builds.md).
#pragma once

struct embedded_file {
    const char *_Nonnull name;
    const char *_Nonnull text;
};

/// Returns API/openapi.yaml of TidingsServer.
const char *_Nonnull embedded_api_description(void);

/// Returns the file of Console's folder Pages with this index, by name from 0; none past the last.
const struct embedded_file *_Nullable embedded_console_file(int index);
