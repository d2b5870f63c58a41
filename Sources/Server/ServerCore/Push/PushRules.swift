import StoreModel
import TidingsModel

// What an app allows of the options that are asked for.
extension ServerSettings {
    func pushRules(of app: AppID) -> PushRules { self.pushRules[app] ?? PushRules() }

    func checkPush(of draft: MessageDraft, from app: AppID, isClient: Bool) throws(ServerFrame.Problem) {
        guard let push = draft.push else { return }
        do throws(InvalidField) {
            // Of a client's frame it was checked with the frame, of a request with its body.
            try self.pushRules(of: app).check(push, isClient: isClient, isOfMessage: true)
        } catch {
            throw ServerFrame.Problem(error)
        }
    }
}
