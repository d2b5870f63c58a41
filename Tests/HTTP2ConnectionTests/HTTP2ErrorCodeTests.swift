import HTTP2Connection
import Testing

@Suite("Error codes of HTTP/2")
struct HTTP2ErrorCodeTests {
    @Test(
        "The numbers are those of RFC 9113 §7",
        arguments: zip(
            UInt32(0)...0xd,
            [
                HTTP2ErrorCode.noError, .protocolError, .internalError, .flowControlError, .settingsTimeout,
                .streamClosed,
                .frameSizeError, .refusedStream, .cancel, .compressionError, .connectError, .enhanceYourCalm,
                .inadequateSecurity, .http11Required,
            ]))
    func numbers(number: UInt32, code: HTTP2ErrorCode) { #expect(code.rawValue == number) }
}
