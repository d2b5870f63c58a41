// swift-tools-version: 6.2
import PackageDescription

// Speed of the hot paths, apart from the product: its dependencies stay out of everybody else's build. The cores are built
// here from the same sources (Sources is a link), because what they offer is visible inside one package only.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let collections: [Target.Dependency] = ["DequeModule", "OrderedCollections", "HeapModule"].map {
    .product(name: $0, package: "swift-collections")
}

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .target(
            name: "TidingsModel", dependencies: collections, path: "Sources/Model/TidingsModel",
            swiftSettings: settings),
        .target(
            name: "PhoneCore", dependencies: ["TidingsModel"] + collections, path: "Sources/Phone/PhoneCore",
            swiftSettings: settings),
        .target(
            name: "StoreModel", dependencies: ["TidingsModel"] + collections, path: "Sources/Server/StoreModel",
            swiftSettings: settings),
        .target(
            name: "MessageStore",
            dependencies: [
                "TidingsModel", "StoreModel", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"), .product(name: "Logging", package: "swift-log"),
            ], path: "Sources/Server/MessageStore", swiftSettings: settings),
        .executableTarget(
            name: "Store",
            dependencies: [
                "TidingsModel", "StoreModel", "MessageStore", .product(name: "Logging", package: "swift-log"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Benchmark", package: "benchmark"),
            ], path: "Benchmarks/Store", swiftSettings: settings,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        .executableTarget(
            name: "Phone",
            dependencies: ["TidingsModel", "PhoneCore", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/Phone", swiftSettings: settings,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    ]
)
