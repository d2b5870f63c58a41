import AudioToolbox

enum SoundPlayer {
    static func play(_ sound: UInt32) { AudioServicesPlaySystemSound(SystemSoundID(sound)) }
    static func vibrate() { AudioServicesPlaySystemSound(kSystemSoundID_Vibrate) }
}
