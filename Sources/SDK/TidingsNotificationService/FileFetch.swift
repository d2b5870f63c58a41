import ClientCore
import Foundation
import TidingsAppGroup

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Stops at the first byte that is too many, so that no answer fills the extension's memory.
final class FileFetch: NSObject, URLSessionDataDelegate {
    enum Fault: Error, Equatable {
        /// The URL, or one it leads to, does not ask for an encrypted connection.
        case insecure
        case foreign
        case refused
        case tooLarge
    }

    private struct State {
        var bytes = Data()
        var fault: Fault?
        var continuation: CheckedContinuation<Data, any Error>?
    }

    private let bytesMax: Int
    /// To which a redirection may lead; nil if none may be followed.
    private let hosts: [String]?
    private let state = Locked(State())

    init(hosts: [String]?, bytesMax: Int) {
        self.hosts = hosts
        self.bytesMax = bytesMax
    }

    /// Nil if a file may be asked for there.
    static func fault(of url: URL?, hosts: [String]) -> Fault? {
        guard let url, url.scheme?.lowercased() == "https", let host = url.host, !host.isEmpty else { return .insecure }
        // A name before the host may look like one.
        guard url.user == nil, url.password == nil, NotificationImage.isAllowed(host, among: hosts) else {
            return .foreign
        }
        return nil
    }

    func begin(_ continuation: CheckedContinuation<Data, any Error>) {
        self.state.withLock { $0.continuation = continuation }
    }

    private func stop(_ task: URLSessionTask, because fault: Fault) {
        self.state.withLock { $0.fault = $0.fault ?? fault }
        task.cancel()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let fault = self.hosts.map({ Self.fault(of: request.url, hosts: $0) }) ?? .foreign else {
            return completionHandler(request)
        }
        // The answer stays the redirection itself, which is refused. A task that is cancelled here fails twice on Linux.
        self.state.withLock { $0.fault = $0.fault ?? fault }
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if (response as? HTTPURLResponse)?.statusCode != 200 {
            self.stop(dataTask, because: .refused)
        } else if response.expectedContentLength > Int64(self.bytesMax) {
            self.stop(dataTask, because: .tooLarge)
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = self.state.withLock { state in
            guard state.fault == nil else { return false }
            state.bytes.append(data)
            guard state.bytes.count > self.bytesMax else { return false }
            state.bytes = Data()
            return true
        }
        if isTooLarge { self.stop(dataTask, because: .tooLarge) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let end = self.state.withLock { state in
            defer { state.continuation = nil }
            return state
        }
        if let fault = end.fault {
            end.continuation?.resume(throwing: fault)
        } else if let error {
            end.continuation?.resume(throwing: error)
        } else if (task.response as? HTTPURLResponse)?.statusCode != 200 {
            end.continuation?.resume(throwing: Fault.refused)
        } else {
            end.continuation?.resume(returning: end.bytes)
        }
    }
}
