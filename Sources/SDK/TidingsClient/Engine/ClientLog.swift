import ClientCore
import Foundation

#if canImport(os)
    import os
#endif

enum ClientLog {
    static func write(_ problem: ClientProblem) {
        #if canImport(os)
            Logger(subsystem: "Tidings", category: "client").error("\(problem.description, privacy: .public)")
        #else
            FileHandle.standardError.write(Data("tidings: \(problem)\n".utf8))
        #endif
    }
}
