import APNsModel
import Testing

@testable import APNsCore

@Suite struct `The body of a push` {
    @Test(arguments: [
        (
            #"{"aps":{"alert":{"title":"Grüße","body":"\"hi\" \ud83d\ude00 😀"},"badge":-1.5e3},"a":[{},[],null,true]}"#,
            true
        ),
        (" {\n} ", true), (#"{"a":1,"a":2}"#, false), (#"{"a":1}{"#, false), (#"{"a":"\ud83d"}"#, false), ("[]", false),
        (#"{"a":01}"#, false), (#"{"a":1,}"#, false), (#"{,}"#, false), ("", false), ("{", false),
        (String(repeating: #"{"a":"#, count: 63) + "{}" + String(repeating: "}", count: 63), true),
        (String(repeating: #"{"a":"#, count: 64) + "{}" + String(repeating: "}", count: 64), false),
    ])
    func `is taken if it is a JSON object, and else as good as empty`(text: String, isObject: Bool) {
        let refusal: APNsReason?
        do throws(Refusal) {
            try RequestCheck.body(Array(text.utf8), bytesMax: 4_096)
            refusal = nil
        } catch {
            refusal = error.reason
        }
        #expect(refusal == (isObject ? nil : .payloadEmpty))
    }
}
