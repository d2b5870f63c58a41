import Foundation

#if TIDINGS_UIKIT
    import VirtualPhone
#endif

/// The process of the extension. `#available` does not know a virtual phone's version, so every decision takes this one.
enum ServiceProcess {
    /// The version of the system, for example `17.0`; nil on a machine that is no phone.
    static var systemVersion: String? {
        #if TIDINGS_UIKIT
            return PhoneProcess.currentIfAny?.facts.osVersion
        #else
            let version = ProcessInfo.processInfo.operatingSystemVersion
            return "\(version.majorVersion).\(version.minorVersion)"
        #endif
    }
}
