import AudioToolbox

/// Plays the system's own sounds.
enum SoundPlayer {
    /// Plays a system sound by its number.
    static func play(_ sound: UInt32) { AudioServicesPlaySystemSound(SystemSoundID(sound)) }
    /// Vibrates.
    static func vibrate() { AudioServicesPlaySystemSound(kSystemSoundID_Vibrate) }
}
