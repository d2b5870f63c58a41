// swift-tools-version: 6.2
import PackageDescription

// A floor for `make bench-server`, apart from the product: it needs SwiftNIO alone and builds in a minute.
let package = Package(
    name: "nio-relay",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/apple/swift-nio", from: "2.101.2")],
    targets: [
        .executableTarget(
            name: "NIORelay",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources/NIORelay", swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
