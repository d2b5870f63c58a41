import NIOCore
import ServerCore
import TidingsModel

extension ServerLoop {
    /// Hands the core what the APNs clients report of their lanes.
    func followLanes(of senders: [AppID: any PushSender]) {
        let eventLoop = self.eventLoop
        // tidy: order does not leave: each sender has lanes of its own.
        for (app, sender) in senders {
            let environment = sender.environment
            sender.reportLanes { [weak self] topic, state in
                eventLoop.execute { [weak self] in
                    self?.receive(.laneReported(app, environment, topic: topic, state))
                }
            }
        }
    }
}
