import Testing
import TidingsModel

@testable import ChatApp

@Suite struct `The configuration of the example app` {
    private func methods(_ variables: [String: String]) -> Result<[String], any Error> {
        Result { try AppConfiguration(variables, remembered: nil).methods }
    }

    @Test func `has all methods of its delegate unless some are named`() throws {
        #expect(
            try self.methods([:]).get() == [
                "didReceiveRemoteNotification", "didReceiveRemoteNotificationFetch", "performFetch", "willPresent",
                "didReceive",
            ])
        #expect(
            try self.methods(["CHAT_DELEGATE": "legacy"]).get() == [
                "didReceiveRemoteNotification", "didReceiveRemoteNotificationFetch", "didReceiveLocalNotification",
                "performFetch", "handleRemoteAction", "handleRemoteActionWithResponseInfo", "handleLocalAction",
                "handleLocalActionWithResponseInfo",
            ])
        #expect(
            try self.methods(["CHAT_IMPLEMENTS": "didReceive,performFetch"]).get() == ["performFetch", "didReceive"])
        #expect(try self.methods(["CHAT_IMPLEMENTS": ""]).get() == [])
    }

    @Test(arguments: [
        ("modern", "willPresent,fly", "fly"), ("modern", "handleLocalAction", "handleLocalAction"),
        ("legacy", "performFetch,willPresent", "willPresent"),
        ("modern", "willPresent didReceive", "willPresent didReceive"),
    ])
    func `refuses a method that its delegate has not, and names the variable, the rule and the method`(
        delegate: String, names: String, wrong: String
    ) {
        let read = self.methods(["CHAT_DELEGATE": delegate, "CHAT_IMPLEMENTS": names])
        guard case .failure(let error) = read, let fault = error as? InvalidField else {
            Issue.record("\(names) is taken")
            return
        }
        #expect(fault.field == "CHAT_IMPLEMENTS")
        #expect(fault.rule.hasPrefix("must have with the delegate \(delegate) names of didReceiveRemoteNotification, "))
        #expect(fault.rule.hasSuffix("got \(wrong)"))
    }
}
