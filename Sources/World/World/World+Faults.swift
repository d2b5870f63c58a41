import APNsCore
import APNsModel
import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

package enum PhoneFault: String, Hashable, Sendable, CaseIterable {
    /// Its app is suspended without a word.
    case frozen
    case killed
    case forceQuit
    /// Suspended processes are ended.
    case memory
    case crashed
    case offline
    case restarted
    /// For some minutes: nothing is woken.
    case lowPower
    case forbidden
    case updated
    /// Its backup is put on a new device: another token, an empty list.
    case restored
    /// For some minutes: the app's store takes nothing.
    case storageFull
    case sceneLost

    /// True if it costs nothing but the app's process, or its work: messages meanwhile have to ring by push.
    var endsAppAlone: Bool {
        [.frozen, .killed, .forceQuit, .memory, .crashed, .sceneLost].contains(self)
    }
}

// PhoneCore and ClientCore decide what follows from a fault.
extension World {
    mutating func fault(_ index: Int) {
        guard let fault = self.drawn(self.options.faults.phoneFaults) else { return }
        self.appendTrace("\(fault.rawValue) on phone \(index)")
        self.emit(fault.endsAppAlone ? .appEnded(self.phones[index].key) : .disturbed(self.phones[index].key))
        self.emit(.reached(fault.mark))
        let minutes = self.chance.number(5_000...180_000)
        switch fault {
        case .frozen: self.handle(PhoneEvent.system(.appFrozen(Self.bundle)), on: index)
        case .killed: self.handle(PhoneEvent.system(.appKilled(Self.bundle)), on: index)
        case .forceQuit: self.handle(PhoneEvent.person(.appForceQuit(Self.bundle)), on: index)
        case .memory: self.handle(PhoneEvent.system(.memoryRanLow), on: index)
        case .crashed: self.crashApp(on: index)
        case .offline:
            self.handle(PhoneEvent.person(.airplaneModeChanged(isOn: true)), on: index)
            self.plan(.phone(index, .person(.airplaneModeChanged(isOn: false))), after: minutes)
        case .restarted:
            self.handle(PhoneEvent.system(.restarted), on: index)
            self.plan(.phone(index, .person(.unlocked)), after: minutes)
        case .lowPower:
            self.saveEnergy(true, on: index)
            self.plan(.energySaved(index), after: minutes)
        case .forbidden:
            self.handle(
                PhoneEvent.person(.settingChanged(Self.bundle, .notifications, isOn: false)), on: index)
            self.plan(
                .phone(index, .person(.settingChanged(Self.bundle, .notifications, isOn: true))), after: minutes)
        case .updated: self.handle(PhoneEvent.system(.appUpdated(self.phones[index].installed)), on: index)
        case .restored:
            self.phones[index].registration = nil
            self.emit(.tokenEnded(self.phones[index].device))
            self.handle(PhoneEvent.system(.restoredFromBackup), on: index)
            self.plan(.phone(index, .person(.unlocked)), after: minutes)
        case .storageFull:
            self.phones[index].isFull = true
            self.plan(.storageFreed(index), after: minutes)
        case .sceneLost: self.handle(PhoneEvent.system(.sceneDisconnected(Self.bundle)), on: index)
        }
    }

    private mutating func crashApp(on index: Int) {
        guard let process = self.phones[index].core.process(of: Self.bundle),
            self.phones[index].processes[process]?.isSuspended == false
        else { return }
        self.phones[index].processes[process] = nil
        self.dropConnections(of: process, on: index)
        self.handle(PhoneEvent.process(process, .exited(crashed: true)), on: index)
    }

    mutating func saveEnergy(_ isOn: Bool, on index: Int) {
        self.handle(PhoneEvent.person(.lowPowerModeChanged(isOn: isOn)), on: index)
        guard let courier = self.phones[index].courier else { return }
        self.tellCourier(.powerReported(.init(courier), isOn ? .lowPower : .awake), index)
    }

    /// The person has another device from now on: all tokens are void (ios-delivery.md §13). APNs is told sooner or
    /// later, and until then accepts what is for the old one.
    mutating func invalidateTokens(on index: Int) {
        let token = self.token(of: index)
        self.phones[index].tokenGeneration += 1
        self.phones[index].awaitsToken = false
        let isLate = !self.hasHealed && self.phones[index].chance.chance(perMille: 500)
        let wait = isLate ? self.phones[index].chance.number(10_000...300_000) : 0
        // Not before what the old device has asked for: a token cannot end before it was drawn.
        let heard = max(self.phones[index].courierArrival, self.time)
        self.agenda.plan(.apns(.tokenRetired(token, .unregistered)), at: max(heard, self.time + wait))
    }

    func token(of index: Int) -> PushToken {
        PushToken(Hexadecimal.text(UInt64(index + 4_096 * self.phones[index].tokenGeneration), digits: 64))
    }

    // MARK: The app's store

    /// Why a write of a full phone fails.
    static let noSpace = "no space left"

    /// Returns true if the app's store carries out a command; if not, the client is told.
    mutating func canStore(_ command: LocalStoreCommand, in process: ProcessID, on index: Int) -> Bool {
        // The store keeps room for it: what has ended is not sent again by the next start.
        if case .removeOutgoing = command { return true }
        guard self.phones[index].isFull else { return true }
        self.emit(.refusedWrite(on: self.phones[index].key))
        self.planClientEvent(command.failure(reason: Self.noSpace), in: process, on: index)
        return false
    }

    // MARK: The extension

    /// For an extension, in bytes.
    private static let tooMuchMemory = 100_000_000

    /// Returns true if the extension's process does not go on; or plans its end for memory while it has a push.
    ///
    /// - Parameter isForAnother: the push is for nobody who is signed in. Few are, and the kit sees them only without an extension.
    mutating func breaksExtension(
        _ process: ProcessID, of identifier: String, isForAnother: Bool, on index: Int
    ) -> Bool {
        if let name = self.phones[index].endsExtensionFor, name == identifier {
            self.phones[index].endsExtensionFor = nil
            self.plan(.phone(index, .process(process, .memoryUseChanged(bytes: Self.tooMuchMemory))), after: 0)
            return false
        }
        let rate = self.options.faults.extensions
        let perMille = isForAnother && rate > 0 ? max(rate, 500) : rate
        guard var chance = self.injectFault(.pushExtension(index), perMille: perMille) else { return false }
        guard chance.chance(perMille: 500) else {
            self.appendTrace("phone \(index) extension does not go on")
            self.emit(.reached(.stalledExtensions))
            return true
        }
        self.appendTrace("phone \(index) extension is to be ended for memory")
        self.emit(.reached(.killedExtensions))
        self.plan(
            .phone(index, .process(process, .memoryUseChanged(bytes: Self.tooMuchMemory))),
            after: chance.number(0...1_000))
        return false
    }

    mutating func neglects(_ callback: Callback, _ number: CallbackNumber, on index: Int) -> Bool {
        switch callback {
        case .receiveRemoteFetch, .performFetch, .receiveResponse: break
        default: return false  // tidy: the others have no completion handler, or the kit answers within seconds
        }
        guard self.injectFault(.app(index), perMille: self.options.faults.neglect) != nil else { return false }
        self.appendTrace("phone \(index) never answers \(callback.name)")
        self.emit(.disturbed(self.phones[index].key))
        self.emit(.reached(.neglectedHandlers))
        self.phones[index].neglected.append(number)
        return true
    }

    mutating func healPhones() {
        for index in self.phones.indices {
            self.phones[index].isFull = false
            self.saveEnergy(false, on: index)
            self.handle(PhoneEvent.person(.focusChanged(nil)), on: index)
            self.handle(PhoneEvent.person(.airplaneModeChanged(isOn: false)), on: index)
            self.handle(PhoneEvent.person(.settingChanged(Self.bundle, .notifications, isOn: true)), on: index)
            if self.phones[index].core.asksForPermission {
                self.handle(PhoneEvent.person(.permissionAnswered(allowed: true)), on: index)
            }
        }
    }
}

extension PhoneFault {
    fileprivate var mark: WorldMark {
        switch self {
        case .frozen: .frozen
        case .killed: .killed
        case .forceQuit: .forceQuits
        case .memory: .lowMemory
        case .crashed: .appCrashes
        case .offline: .offline
        case .restarted: .restarts
        case .lowPower: .lowPower
        case .forbidden: .forbidden
        case .updated: .updates
        case .restored: .restores
        case .storageFull: .fullPhones
        case .sceneLost: .lostScenes
        }
    }
}
