import Foundation

package enum PhoneLanguage {
    /// A BCP 47 tag such as `zh-Hans-CN`, the first of those in the phone's settings; `en` where there are none.
    package static var tag: String {
        #if canImport(Darwin)
            Locale.preferredLanguages.first ?? "en"
        #else
            "en"
        #endif
    }
}
