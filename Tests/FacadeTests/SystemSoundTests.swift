import AudioToolbox
import Foundation
import PhoneCore
import Requirements
import Testing
import TidingsModel
import VirtualPhone

@MainActor @Suite struct `A system sound` {
    private func sounds(_ phone: VirtualPhone) -> [SystemSound] {
        phone.trace.compactMap { if case .systemSound(let sound) = $0.entry { sound } else { nil } }
    }

    @Test(.requirement("S4.2", "S4.6")) func `is a line of the phone's trace, with its vibration`() async {
        let phone = await launchedPhone()
        await phone.inApp {
            AudioServicesPlaySystemSound(1007)
            AudioServicesPlayAlertSound(1312)
            AudioServicesPlaySystemSound(kSystemSoundID_Vibrate)
        }
        #expect(
            self.sounds(phone) == [
                SystemSound(number: 1_007), SystemSound(number: 1_312, isAlert: true), SystemSound(number: 4_095),
            ])
        #expect(self.sounds(phone).map(\.vibrates) == [false, true, true])
    }

    @Test func `of a file gets a number of its own, until it is given back`() async throws {
        let phone = await launchedPhone()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("sound-\(UUID().uuidString).caf")
        #expect(FileManager.default.createFile(atPath: file.path, contents: Data([0])))
        defer { try? FileManager.default.removeItem(at: file) }
        await phone.inApp {
            var sound: SystemSoundID = 0
            #expect(AudioServicesCreateSystemSoundID(file, &sound) == kAudioServicesNoError)
            #expect(sound >= 5_000)
            AudioServicesPlaySystemSound(sound)
            #expect(AudioServicesDisposeSystemSoundID(sound) == kAudioServicesNoError)
            #expect(AudioServicesDisposeSystemSoundID(sound) == kAudioServicesBadSystemSoundIDError)
            #expect(kAudioServicesBadSystemSoundIDError == "!ids".utf8.reduce(0) { $0 << 8 | Int32($1) })
            let nowhere = URL(fileURLWithPath: "/nonexistent.caf")
            #expect(AudioServicesCreateSystemSoundID(nowhere, &sound) == kAudioServicesSystemSoundUnspecifiedError)
        }
        #expect(self.sounds(phone).map(\.number) == [5_000])
    }

    @Test func `that is over calls back`() async {
        let phone = await launchedPhone()
        await phone.inApp {
            await withCheckedContinuation { continuation in
                AudioServicesPlayAlertSoundWithCompletion(1312) { continuation.resume() }
            }
        }
        #expect(self.sounds(phone) == [SystemSound(number: 1_312, isAlert: true)])
    }
}
