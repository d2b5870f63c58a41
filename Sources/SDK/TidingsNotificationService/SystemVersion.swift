import Foundation

#if TIDINGS_UIKIT
    import VirtualPhone
#endif

/// The version of the system. `#available` does not know a virtual phone's, so every decision takes this one.
enum SystemVersion {
    /// For example `17.0`; nil on a machine that is no phone.
    static var text: String? {
        #if TIDINGS_UIKIT
            return PhoneProcess.currentIfAny?.facts.osVersion
        #else
            let version = ProcessInfo.processInfo.operatingSystemVersion
            return "\(version.majorVersion).\(version.minorVersion)"
        #endif
    }
}
