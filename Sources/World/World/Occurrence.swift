import APNsClientCore
import APNsCore
import APNsModel
import ClientCore
import HeapModule
import PhoneCore
import ServerCore
import StoreModel
import TidingsModel

/// Something that is due at a time: an event for one of the cores, or a moment of the world itself.
enum Occurrence {
    /// For the server of one life; after a crash the events of the earlier life are gone.
    case server(life: Int, ServerEvent)
    case serverTimer(life: Int)
    /// The disk has synced everything handed to it before.
    case storeSynced(life: Int)
    case serverCrash
    case serverStart
    case apns(APNsService.Event)
    case apnsFault(APNsFault?)
    /// Apple answers a request that had to wait.
    indirect case appleAnswers(APNsService.RequestID, APNsResponse)
    /// For the APNs client of a server's life.
    indirect case pool(life: Int, APNsDispatcher.Event)
    case poolTimer(life: Int)
    /// A frame arrives at the other end of a connection to Apple.
    case toApple(UInt64, ToApple)
    case fromApple(UInt64, FromApple)
    /// An attempt to connect to Apple has had its time.
    case connectTimeout(UInt64)
    case phone(Int, PhoneEvent)
    case phoneTimer(Int)
    /// For a process of a phone; while that is suspended it waits.
    case client(Int, ProcessID, ClientEvent)
    case clientTimer(Int, ProcessID)
    /// The same for the kit's work at the notification centre.
    indirect case center(Int, ProcessID, NotificationCenterQueue.Event)
    /// A frame arrives at the other end of a connection.
    case toServer(Int, ClientFrame)
    case toClient(Int, ServerFrame)
    /// The other end of a connection notices its end.
    case serverHangUp(Int)
    case clientHangUp(Int)
    case personActs(Int)
    /// Somebody recalls what they have just written.
    case takesBack(Int, MessageID)
    /// Somebody clears a notification, if it is still there.
    case clears(Int, NotificationKey)
    /// Somebody signs in on a phone on which nobody is.
    case signsIn(Int)
    case chanceOfCrash
    case chanceOfAPNsFault
    case groupsBegin
    /// The app's backend does something.
    case backendActs
    /// The other app on the server does something.
    case otherTenantActs
    /// A hostile client does something; what it was to say once its devices are signed in.
    case hostileActs
    case hostileRegisters(life: Int)
    case hostileWrites(life: Int)
    /// A request arrives at the HTTP API.
    case apiRequest(APIRequestID, APICommand)
    /// An extension hears the answer to its request; nil when it has waited long enough.
    case extensionHears(Int, CallbackNumber, APIRequestID, APIResult?)
    /// Something else happens to a push the extension has at work.
    case extensionGoesOn(Int, CallbackNumber, ExtensionMachine.Event)
    /// A push arrives at a phone, unless that was replaced by a new device meanwhile.
    case pushArrives(Int, generation: Int, Push)
    /// A phone has room again, or is not to save energy any more.
    case storageFreed(Int)
    /// The server's disk is quick again, and has room.
    case diskHeals
    case energySaved(Int)
    /// What server and phones hold in memory is counted.
    case measure
    case heal
    /// Everybody looks at the app.
    case openEverything
    /// Everybody has looked at it for four minutes after healing.
    case endLook
    /// Everybody puts the phone away.
    case leaveEverything
    /// Everybody who may be rung for is written to.
    case finalProbe
    case finalProbeEnds
}

/// Occurrences in the order of their time; those of the same time in the order they were planned.
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
    private var occurrences: [Occurrence?] = []
    private var freePlaces: [Int] = []

    /// Where the occurrence lies whose time has come.
    private var due: Int?

    mutating func plan(_ occurrence: consuming Occurrence, at time: Int64) {
        self.planned += 1
        if let place = self.freePlaces.popLast() {
            self.occurrences[place] = occurrence
            self.heap.insert(Item(at: time, order: self.planned, place: place))
        } else {
            self.heap.insert(Item(at: time, order: self.planned, place: self.occurrences.count))
            self.occurrences.append(occurrence)
        }
    }

    /// Goes on to the next occurrence, which is then to be taken.
    ///
    /// - Returns: its time; nil if none is due until then.
    mutating func goOn(until time: Int64) -> Int64? {
        guard let first = self.heap.min, first.at <= time else { return nil }
        self.due = self.heap.removeMin().place
        return first.at
    }

    /// Takes the occurrence whose time has come. It is big, and moved once.
    mutating func take() -> Occurrence? {
        guard let place = self.due.take() else { return nil }
        // Its place is free once it has left.
        self.freePlaces.append(place)
        return self.occurrences[place].take()
    }
}

/// A connection of a phone's process to the server.
struct WorldConnection {
    var phone: Int
    var process: ProcessID
    /// The client's own number of it.
    var number: ConnectionNumber
    var session: SessionID
    /// The server's life it belongs to.
    var life: Int
    /// How long its frames take, and when it breaks.
    var chance: SplitMix64
    var clientIsOpen = true
    var serverIsOpen = true
    /// Broken without a word: nothing arrives any more, in either direction.
    var isDead = false
    /// What is written to this end is lost, and the other end does not know.
    var isDeafServer = false
    var isDeafClient = false
    /// How much longer every frame takes, in milliseconds.
    var slowness: Int64 = 0
    /// Frames keep their order: none arrives before the one written earlier.
    var clientArrival: Int64 = 0
    var serverArrival: Int64 = 0
}
