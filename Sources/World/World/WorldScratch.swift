import APNsClientCore
import APNsCore
import ClientCore
import PhoneCore
import ServerCore

extension Array {
    /// Takes an element out and leaves another in its place: what is large is moved, not copied.
    mutating func takeElement(_ place: Int, leaving rest: consuming Element) -> Element {
        swap(&rest, &self[place])
        return rest
    }
}

/// Room for effects: an array that is made anew for each event grows several times for each.
struct WorldScratch {
    /// Lends an array for effects. It begins empty while it is out: a core may lead to an event for another of its kind.
    struct Room<Effect> {
        private var spare: [Effect] = []

        mutating func borrow() -> [Effect] {
            var taken: [Effect] = []
            swap(&taken, &self.spare)
            return taken
        }

        mutating func giveBack(_ effects: inout [Effect]) {
            effects.removeAll(keepingCapacity: true)
            swap(&effects, &self.spare)
        }
    }

    var client = Room<ClientEffect>()
    var phone = Room<PhoneEffect>()
    var server = Room<ServerEffect>()
    var pool = Room<APNsDispatcher.Effect>()
    var apns = Room<APNsService.Effect>()
}
