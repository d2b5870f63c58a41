import ServerCore
import TidingsModel

extension ConfigurationKey {
    private static let bytes = 1...1_125_899_906_842_624

    static let media: [ConfigurationKey] = [
        .init(
            "media.path", "folder of the files that people send; without one the server keeps none",
            .optional(\.media.path)),
        .init(
            "media.types", "media types that may be uploaded, with commas between",
            .words(\.media.types, MediaKind.allCases.map(\.rawValue))),
        .init("media.bytes_max", "largest file in bytes", .milliseconds(\.media.limits.bytesMax, 1...1_073_741_824)),
        .init(
            "media.person_bytes_max", "bytes of files a person may have; each counts as 4096 at least",
            .milliseconds(\.media.limits.personBytesMax, Self.bytes)
        ),
        .init(
            "media.app_bytes_max", "bytes of files an app may have; each counts as 4096 at least",
            .milliseconds(\.media.limits.appBytesMax, Self.bytes)),
        .init(
            "media.person_files_max", "files a person may have",
            .integer(\.media.limits.personFilesMax, 1...1_000_000_000)),
        .init(
            "media.app_files_max", "files an app may have, those of its backend and of its people",
            .integer(\.media.limits.appFilesMax, 1...1_000_000_000)),
        .init(
            "media.person_uploads_max", "unfinished uploads a person may have; the backend 32 times as many",
            .integer(\.media.limits.personUploadsMax, 1...1_000)),
        .init(
            "media.upload_milliseconds", "time after its last byte at which an unfinished upload is deleted",
            .milliseconds(\.media.limits.uploadTime, 60_000...2_592_000_000)),
        .init(
            "media.unused_milliseconds", "time after which a person's file is deleted that no message names",
            .milliseconds(\.media.limits.unusedTime, 60_000...2_592_000_000)),
        .init(
            "media.lifetime_milliseconds",
            "age at which every file is deleted, 0 for none: a file goes with its messages",
            .milliseconds(\.media.limits.lifetime, 0...3_153_600_000_000)),
        .init(
            "media.free_bytes_min", "free bytes of the folder's disk that uploads leave",
            .milliseconds(\.media.limits.freeBytesMin, 0...9_007_199_254_740_991)),
    ]
}
