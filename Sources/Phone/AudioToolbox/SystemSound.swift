public import Foundation
import PhoneCore
import Synchronization
import VirtualPhone

// System sounds (S4.2, S4.6): a virtual phone is silent and writes each into its trace (`PhoneRecord.Entry.systemSound`).

/// Names a system sound, for example 1007 or 1312.
public typealias SystemSoundID = UInt32

/// The vibration alone.
public let kSystemSoundID_Vibrate: SystemSoundID = SystemSound.vibration
/// No error.
public let kAudioServicesNoError: Int32 = 0
/// The sound's identifier is not one this process made; the letters `!ids`.
public let kAudioServicesBadSystemSoundIDError: Int32 = 560_555_123
/// The file cannot be read.
public let kAudioServicesSystemSoundUnspecifiedError: Int32 = -1_500

/// Plays a sound.
public func AudioServicesPlaySystemSound(_ inSystemSoundID: SystemSoundID) {
    PhoneProcess.current.report(.systemSoundPlayed(SystemSound(number: inSystemSoundID)))
}

/// Plays a sound as an alert, which vibrates too.
public func AudioServicesPlayAlertSound(_ inSystemSoundID: SystemSoundID) {
    PhoneProcess.current.report(.systemSoundPlayed(SystemSound(number: inSystemSoundID, isAlert: true)))
}

/// Plays a sound and calls back when it is over, which it is at once (iOS 9).
public func AudioServicesPlaySystemSoundWithCompletion(
    _ inSystemSoundID: SystemSoundID, _ inCompletionBlock: (@Sendable () -> Void)?
) {
    AudioServicesPlaySystemSound(inSystemSoundID)
    if let inCompletionBlock { Task { inCompletionBlock() } }
}

/// Plays a sound as an alert and calls back when it is over, which it is at once (iOS 9).
public func AudioServicesPlayAlertSoundWithCompletion(
    _ inSystemSoundID: SystemSoundID, _ inCompletionBlock: (@Sendable () -> Void)?
) {
    AudioServicesPlayAlertSound(inSystemSoundID)
    if let inCompletionBlock { Task { inCompletionBlock() } }
}

/// Gives a sound file of the app a number, 5000 or more. Takes a `URL`: there is no `CFURL` on Linux.
///
/// - Returns: no error, or -1500 if the file does not exist.
public func AudioServicesCreateSystemSoundID(
    _ inFileURL: URL, _ outSystemSoundID: UnsafeMutablePointer<SystemSoundID>
) -> Int32 {
    guard FileManager.default.fileExists(atPath: inFileURL.path) else {
        return kAudioServicesSystemSoundUnspecifiedError
    }
    outSystemSoundID.pointee = OwnSounds.of(PhoneProcess.current).add()
    return kAudioServicesNoError
}

/// Gives the number of a sound file back.
///
/// - Returns: no error, or `kAudioServicesBadSystemSoundIDError` if this process did not make it.
@discardableResult
public func AudioServicesDisposeSystemSoundID(_ inSystemSoundID: SystemSoundID) -> Int32 {
    OwnSounds.of(PhoneProcess.current).remove(inSystemSoundID)
        ? kAudioServicesNoError : kAudioServicesBadSystemSoundIDError
}

private final class OwnSounds: Sendable {
    private let numbers = Mutex<(next: SystemSoundID, inUse: Set<SystemSoundID>)>((5_000, []))

    static func of(_ process: PhoneProcess) -> OwnSounds { process.facade(OwnSounds.self) { OwnSounds() } }

    func add() -> SystemSoundID {
        self.numbers.withLock { numbers in
            defer { numbers.next += 1 }
            numbers.inUse.insert(numbers.next)
            return numbers.next
        }
    }

    func remove(_ number: SystemSoundID) -> Bool { self.numbers.withLock { $0.inUse.remove(number) != nil } }
}
