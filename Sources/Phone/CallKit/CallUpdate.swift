public import Foundation

/// A person's address on the phone.
public final class CXHandle: Hashable, Sendable {
    /// The kind of value. Raw values as Apple's.
    public enum HandleType: Int, Hashable, Sendable {
        /// The app's own id.
        case generic = 1
        case phoneNumber = 2
        case emailAddress = 3
    }

    /// The kind of value.
    public let type: HandleType
    /// The id, number or address.
    public let value: String

    /// A handle.
    public init(type: HandleType, value: String) {
        self.type = type
        self.value = value
    }

    /// The same value of the same type.
    public static func == (left: CXHandle, right: CXHandle) -> Bool {
        left.type == right.type && left.value == right.value
    }
    /// Equal ones have equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.value) }
}

/// The description of a call on the screen. A member that is nil or was never set leaves the earlier one.
///
/// `@unchecked Sendable`: one thread changes it at a time, before it is reported, which copies it.
public final class CXCallUpdate: @unchecked Sendable {
    /// Who calls.
    public var remoteHandle: CXHandle?
    /// The caller's name; without one the handle's value stands on the screen.
    public var localizedCallerName: String?
    /// True if the call can be held; recorded only.
    public var supportsHolding = true
    /// True if the call can be grouped with others; recorded only.
    public var supportsGrouping = true
    /// True if the call can leave a group; recorded only.
    public var supportsUngrouping = true
    /// True if the call can send tones; recorded only.
    public var supportsDTMF = true
    /// True if it is a call with video.
    public var hasVideo = false

    /// An update that says nothing yet.
    public init() {}
}

/// How the app's calls look and what they can do; recorded only.
///
/// `@unchecked Sendable`: one thread changes it at a time, before it is given to a provider.
public final class CXProviderConfiguration: @unchecked Sendable {
    /// The name of a sound file in the app's bundle; nil plays the system's.
    public var ringtoneSound: String?
    /// The image of the button that opens the app, as PNG.
    public var iconTemplateImageData: Data?
    /// How many groups of calls there may be.
    public var maximumCallGroups = 2
    /// How many calls a group may have.
    public var maximumCallsPerCallGroup = 5
    /// True if calls stand in the list of the phone app.
    public var includesCallsInRecents = true
    /// True if the app has calls with video.
    public var supportsVideo = false
    /// The kinds of handles that the app can call.
    public var supportedHandleTypes: Set<CXHandle.HandleType> = []

    /// The standard configuration (iOS 14).
    public init() {}
}

/// Why a call ended by itself. Raw values as Apple's.
public enum CXCallEndedReason: Int, Hashable, Sendable {
    case failed = 1
    case remoteEnded = 2
    case unanswered = 3
    case answeredElsewhere = 4
    case declinedElsewhere = 5
}

/// Why an incoming call is not shown.
public struct CXErrorCodeIncomingCallError: Error, Hashable, Sendable, CustomNSError {
    /// Apple's numbers.
    public enum Code: Int, Hashable, Sendable {
        case unknown = 0
        /// The app lacks the background mode `voip`.
        case unentitled = 1
        case callUUIDAlreadyExists = 2
        /// Never on a virtual phone, on which a Focus lets calls through.
        case filteredByDoNotDisturb = 3
        /// Never on a virtual phone.
        case filteredByBlockList = 4
    }

    /// The reason of the error.
    public let code: Code
    /// An error of a kind.
    public init(_ code: Code) { self.code = code }

    /// Apple's `CXErrorDomainIncomingCall`.
    public static var errorDomain: String { "com.apple.CallKit.error.incomingcall" }
    /// The raw value of the code.
    public var errorCode: Int { self.code.rawValue }
    /// The call is known already.
    public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
    /// The app lacks the background mode `voip`.
    public static var unentitled: Code { .unentitled }
    /// A Focus keeps the call back.
    public static var filteredByDoNotDisturb: Code { .filteredByDoNotDisturb }
    /// The person has blocked the caller on the phone.
    public static var filteredByBlockList: Code { .filteredByBlockList }
}
