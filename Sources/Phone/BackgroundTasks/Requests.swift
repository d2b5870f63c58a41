public import Foundation
import PhoneCore

/// A request to be woken (iOS 13).
///
/// `@unchecked Sendable`: one thread changes it at a time, before it is submitted, which copies it.
public class BGTaskRequest: @unchecked Sendable {
    /// One of the app's permitted identifiers (`InstalledApp.permittedTasks`).
    public let identifier: String
    /// Not before this moment; nil is as soon as possible. A moment that the phone's clock cannot count to is never reached, one
    /// before all it can count has passed.
    public var earliestBeginDate: Date?

    init(identifier: String, earliestBeginDate: Date?) {
        self.identifier = identifier
        self.earliestBeginDate = earliestBeginDate
    }
}

/// A request for half a minute to refresh (ios-delivery.md §8).
///
/// `@unchecked Sendable`: one thread changes it at a time, before it is submitted, which copies it.
public final class BGAppRefreshTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// A request.
    public init(identifier: String) { super.init(identifier: identifier, earliestBeginDate: nil) }

    convenience init(_ request: RefreshTaskRequest) {
        self.init(identifier: request.identifier)
        self.earliestBeginDate = request.earliestBegin.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
    }

    var value: RefreshTaskRequest {
        RefreshTaskRequest(
            identifier: self.identifier, earliestBegin: self.earliestBeginDate.flatMap(Self.wallMilliseconds))
    }

    /// Milliseconds since 1970, the farthest there are for a date beyond them, and nil for one before them or for no number.
    private static func wallMilliseconds(_ date: Date) -> Int64? {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded(.up)
        return Int64(exactly: milliseconds) ?? (milliseconds > 0 ? .max : nil)
    }
}

/// A request for minutes of work while the phone is idle; noted in the log, never granted by a virtual phone.
///
/// `@unchecked Sendable`: one thread changes it at a time, before it is submitted.
public final class BGProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// True if the work needs the network.
    public var requiresNetworkConnectivity = false
    /// True if the work needs the charger.
    public var requiresExternalPower = false
    /// A request.
    public init(identifier: String) { super.init(identifier: identifier, earliestBeginDate: nil) }
}

extension BGTaskScheduler {
    /// Why a request was refused.
    public struct Error: Swift.Error, Hashable, Sendable, LocalizedError, CustomNSError {
        /// Apple's numbers.
        public enum Code: Int, Hashable, Sendable {
            case unavailable = 1
            case tooManyPendingTaskRequests = 2
            case notPermitted = 3

            /// Lets `catch BGTaskScheduler.Error.notPermitted` match.
            public static func ~= (code: Code, error: any Swift.Error) -> Bool {
                (error as? BGTaskScheduler.Error)?.code == code
            }
        }

        /// Which error.
        public let code: Code

        init(_ error: TaskSchedulerError) { self.code = Code(rawValue: error.rawValue) ?? .unavailable }

        /// The error in words.
        public var errorDescription: String? {
            switch self.code {
            case .unavailable: "Background App Refresh is off, or this is an extension"
            case .tooManyPendingTaskRequests: "too many requests are waiting"
            case .notPermitted:
                "identifier must be one of BGTaskSchedulerPermittedIdentifiers, with background mode fetch"
            }
        }

        /// Background App Refresh is off, or this is an extension.
        public static var unavailable: Code { .unavailable }
        /// Too many requests are waiting.
        public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
        /// The identifier is not permitted.
        public static var notPermitted: Code { .notPermitted }
        /// `BGTaskSchedulerErrorDomain`.
        public static var errorDomain: String { "BGTaskSchedulerErrorDomain" }
        /// Apple's number.
        public var errorCode: Int { self.code.rawValue }
    }
}
