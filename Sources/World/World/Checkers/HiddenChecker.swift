// A person who hides content reads it in no notification: not in a push handed over once the server's core knows, and
// not in a local notification of a phone that knows.
import ClientCore
import TidingsModel

struct HiddenChecker: Checker {
    static let kinds = FactKinds(.applied, .signedOut, .pushed, .toldMissed, .posted)

    private var applied: [DeviceKey: LogPosition] = [:]

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .applied(let entries, let key):
            self.applied[key] = max(self.applied[key] ?? 0, entries.last?.position ?? 0)
        case .signedOut(let key): self.applied[key] = nil
        case .pushed(let request, let key):
            guard let info = request.alert, state.known.settings(of: key.user.user).person.hidesContent else { return }
            if info.text != nil || info.imageURL != nil {
                findings.add("hidden", "a push of \(info.message) tells \(key) what it says")
            }
        case .toldMissed(let answer, let key):
            guard state.known.settings(of: key.user.user).person.hidesContent else { return }
            for entry in answer["entries"]?.arrayValue ?? [] where entry["text"]?["title"] != nil {
                findings.add("hidden", "the extension of \(key) is told what \(entry) says")
            }
        case .posted(let notification, let key, let disk):
            let known = disk.preferences(upTo: self.applied[key] ?? 0)
            guard known.current.person.hidesContent, disk.store.preferences().current.person.hidesContent else {
                return
            }
            if notification.title != "" || notification.subtitle != nil {
                findings.add("hidden", "\(key) shows what \(notification.message) says")
            }
        default: break  // tidy: the other facts are other promises'
        }
    }
}
