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
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .target(
            name: "TidingsModel", dependencies: collections, path: "Sources/Model/TidingsModel",
            swiftSettings: settings),
        .target(
            name: "PhoneCore", dependencies: ["TidingsModel"] + collections, path: "Sources/Phone/PhoneCore",
            swiftSettings: settings),
        .executableTarget(
            name: "Phone",
            dependencies: ["TidingsModel", "PhoneCore", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/Phone", swiftSettings: settings,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    ]
)
