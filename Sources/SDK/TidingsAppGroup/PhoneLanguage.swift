import Foundation

/// The language the person has chosen for their phone.
package enum PhoneLanguage {
    /// A BCP 47 tag such as `zh-Hans-CN`: the first of those in the phone's settings. Off Apple's systems, where there are none, English.
    package static var tag: String {
        #if canImport(Darwin)
            Locale.preferredLanguages.first ?? "en"
        #else
            "en"
        #endif
    }
}
