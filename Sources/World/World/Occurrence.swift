import APNsClientCore
import APNsCore
import APNsModel
import ClientCore
import HeapModule
import PhoneCore
import ServerCore
import TidingsModel

/// Something that is due at a time: an event for one of the cores, or a moment of the World itself.
enum Occurrence {
    /// After a crash the events of the earlier life are gone.
    case server(life: Int, ServerEvent)
    case serverTimer(life: Int)
    /// Everything handed to the disk before.
    case storeSynced(life: Int)
    case serverCrash
    case serverStart
    case apns(APNsService.Event)
    case apnsFault(APNsFault?)
    indirect case appleAnswers(APNsService.RequestID, APNsResponse)
    /// For one of the server's APNs clients, by its number.
    indirect case pool(UInt64, APNsDispatcher.Event)
    case poolTimer(UInt64)
    case toApple(UInt64, ToApple)
    case fromApple(UInt64, FromApple)
    case connectTimeout(UInt64)
    case phone(Int, PhoneEvent)
    case phoneTimer(Int)
    /// While the process is suspended it waits.
    case client(Int, ProcessID, ClientEvent)
    case clientTimer(Int, ProcessID)
    /// Waits likewise.
    indirect case center(Int, ProcessID, NotificationCenterQueue.Event)
    case toServer(Int, ClientFrame)
    case toClient(Int, ServerFrame)
    case serverHangUp(Int)
    case clientHangUp(Int)
    case personActs(Int)
    case recallsWritten(Int, MessageID)
    case clears(Int, NotificationKey)
    case signsIn(Int)
    case chanceOfCrash
    case chanceOfAPNsFault
    case groupsBegin
    case backendActs
    case otherTenantActs
    case namesChange
    case accountsAct
    case pushesAct
    case credentialsAct
    case credentialStep(CredentialStep)
    case hostileActs
    case hostileRegisters(life: Int)
    case hostileWrites(life: Int)
    case apiRequest(APIRequestID, APICommand)
    /// Nil when it has waited long enough.
    case extensionAnswered(Int, CallbackNumber, APIRequestID, APIResult?)
    case continueExtension(Int, CallbackNumber, ExtensionMachine.Event)
    /// Unless the phone was replaced by a new device meanwhile.
    case pushArrives(Int, generation: Int, Push)
    case storageFreed(Int)
    case diskHeals
    case energySaved(Int)
    case measure
    case heal
    case openEverything
    case endLook
    case leaveEverything
    case finalProbe
    case finalProbeEnds
    case readsCall(Int)
    case calledAgain(Int)
    case repeatsCall(Int)
    case reachesServer
    case readingProbeEnds
}

/// The planned occurrences, those of the same time in the order they were planned.
struct Agenda {
    /// Small, because the heap moves it often; the occurrence stays where it is.
    private struct Item: Comparable {
        var at: Int64
        var order: UInt64
        var place: Int

        static func == (left: Item, right: Item) -> Bool { left.order == right.order }
        static func < (left: Item, right: Item) -> Bool {
            left.at == right.at ? left.order < right.order : left.at < right.at
        }
    }

    private var heap = Heap<Item>()
    private var planned: UInt64 = 0
    private var occurrences: [Occurrence] = []
    private var freePlaces: [Int] = []

    mutating func plan(_ occurrence: consuming Occurrence, at time: Int64) {
        self.planned += 1
        let place = self.freePlaces.popLast() ?? self.occurrences.count
        if place == self.occurrences.count { self.occurrences.append(.measure) }
        self.heap.insert(Item(at: time, order: self.planned, place: place))
        // Named once: with a second use it would be copied.
        self.occurrences[place] = consume occurrence
    }

    /// Moves to the next occurrence: when it is due, and where it lies; nil if none is due until then.
    mutating func advance(until time: Int64) -> (time: Int64, place: Int)? {
        guard let first = self.heap.min, first.at <= time else { return nil }
        self.heap.removeMin()
        return (first.at, first.place)
    }

    /// The occurrence whose time has come. It is big, and moved once.
    mutating func remove(_ place: Int) -> Occurrence {
        self.freePlaces.append(place)
        return self.occurrences.takeElement(place, leaving: .measure)
    }
}

struct WorldConnection {
    var phone: Int
    var process: ProcessID
    var number: ConnectionNumber
    var session: SessionID
    var life: Int
    /// How long its frames take, and when it breaks.
    var chance: SplitMix64
    var clientIsOpen = true
    var serverIsOpen = true
    /// Broken without a word: nothing arrives any more, in either direction.
    var isDead = false
    /// True if writes to this end are lost, and the other end does not know.
    var isDeafServer = false
    var isDeafClient = false
    /// In milliseconds, for every frame.
    var slowness: Int64 = 0
    /// When the phone reads nothing, and how many frames wait for it.
    var pause: Range<Int64>?
    var unread = 0
    /// Frames keep their order: none arrives before the one written earlier.
    var clientArrival: Int64 = 0
    var serverArrival: Int64 = 0
}
