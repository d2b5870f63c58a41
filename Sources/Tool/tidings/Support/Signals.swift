import Dispatch
import Foundation

enum Signals {
    /// The signals no longer end the process.
    static func wait(for numbers: [Int32]) async {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        let sources = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield(number) }
            source.resume()
            return source
        }
        for await _ in stream { break }
        for source in sources { source.cancel() }
    }
}
