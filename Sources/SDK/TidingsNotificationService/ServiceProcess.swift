import Foundation

#if TIDINGS_UIKIT
    import VirtualPhone
#endif

/// `#available` does not know a virtual phone's version, so every decision takes this one.
enum ServiceProcess {
    static var systemVersion: String? {
        #if TIDINGS_UIKIT
            return PhoneProcess.currentIfAny?.facts.osVersion
        #else
            let version = ProcessInfo.processInfo.operatingSystemVersion
            return "\(version.majorVersion).\(version.minorVersion)"
        #endif
    }
}
