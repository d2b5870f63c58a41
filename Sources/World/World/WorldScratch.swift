import APNsClientCore
import APNsCore
import ClientCore
import PhoneCore
import ServerCore

/// Room for effects: an array that is made anew for each event grows several times for each.
struct WorldScratch {
    /// One array that is lent out. What is lent while it is out begins empty: a core may lead to an event for another of its kind.
    struct Room<Effect> {
        private var spare: [Effect] = []

        /// An empty array.
        mutating func take() -> [Effect] {
            var taken: [Effect] = []
            swap(&taken, &self.spare)
            return taken
        }

        /// Takes an array back that nobody needs any more.
        mutating func give(_ effects: inout [Effect]) {
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
