import ClientCore
import Foundation

#if canImport(os)
    import os
#endif

/// Where problems go if the app does not say otherwise.
enum ClientLog {
    static func write(_ problem: ClientProblem) {
        #if canImport(os)
            Logger(subsystem: "Tidings", category: "client").error("\(problem.description, privacy: .public)")
        #else
            FileHandle.standardError.write(Data("tidings: \(problem)\n".utf8))
        #endif
    }
}
