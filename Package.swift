// swift-tools-version: 6.2
import PackageDescription

// The house in one picture: docs/concepts.md. Every arrow points down; a core can name cores only, because the helper
// that declares one has no parameter through which a package product could be passed.

/// Settings of every target of ours. What dev/build builds can be imported with @testable; an app that depends on a
/// product must find no unsafe flag.
let strict: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
    ] + (Context.environment["TIDINGS_TESTABLE"] == nil ? [] : [.unsafeFlags(["-enable-testing"])])

/// Tests are compiled once, with the optimised targets they test, and run briefly: optimising them costs more than it saves
/// (docs/decisions/0029-one-configuration.md). Unsafe flags are allowed here, since no product has a test target in it.
let notOptimised: [SwiftSetting] = [.unsafeFlags(["-Onone"], .when(configuration: .release))]

#if os(Linux)
    let onLinux = true
    /// Selects the Apple-shaped facades of the virtual phone instead of Apple's own modules.
    let facade: [SwiftSetting] = strict + [.define("TIDINGS_UIKIT")]
#else
    let onLinux = false
    let facade = strict
#endif

/// The one package a core may use: containers whose order is defined (docs/decisions/0001-pure-cores.md).
let collections: [Target.Dependency] = ["DequeModule", "OrderedCollections", "HeapModule"].map {
    .product(name: $0, package: "swift-collections")
}

let products: [String: Target.Dependency] = [
    "ArgumentParser": .product(name: "ArgumentParser", package: "swift-argument-parser"),
    "Configuration": .product(name: "Configuration", package: "swift-configuration"),
    "Crypto": .product(name: "Crypto", package: "swift-crypto"),
    "CryptoExtras": .product(name: "CryptoExtras", package: "swift-crypto"),
    "GRDB": .product(name: "GRDB", package: "GRDB.swift"),
    "GRDBSQLite": .product(name: "GRDBSQLite", package: "GRDB.swift"),
    "Hummingbird": .product(name: "Hummingbird", package: "hummingbird"),
    "HTTPTypes": .product(name: "HTTPTypes", package: "swift-http-types"),
    "Logging": .product(name: "Logging", package: "swift-log"),
    "Metrics": .product(name: "Metrics", package: "swift-metrics"),
    "MetricsTestKit": .product(name: "MetricsTestKit", package: "swift-metrics"),
    "NIOConcurrencyHelpers": .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
    "NIOCore": .product(name: "NIOCore", package: "swift-nio"),
    "NIOEmbedded": .product(name: "NIOEmbedded", package: "swift-nio"),
    "NIOHPACK": .product(name: "NIOHPACK", package: "swift-nio-http2"),
    "NIOHTTP1": .product(name: "NIOHTTP1", package: "swift-nio"),
    "NIOPosix": .product(name: "NIOPosix", package: "swift-nio"),
    "NIOSSL": .product(name: "NIOSSL", package: "swift-nio-ssl"),
    "NIOTLS": .product(name: "NIOTLS", package: "swift-nio"),
    "NIOWebSocket": .product(name: "NIOWebSocket", package: "swift-nio"),
    "ServiceLifecycle": .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
    "SwiftASN1": .product(name: "SwiftASN1", package: "swift-asn1"),
    "SwiftProtobuf": .product(name: "SwiftProtobuf", package: "swift-protobuf"),
    "UnixSignals": .product(name: "UnixSignals", package: "swift-service-lifecycle"),
    "X509": .product(name: "X509", package: "swift-certificates"),
    "Yams": .product(name: "Yams", package: "Yams"),
]

/// Lets tests name the requirement they hold (docs/requirements.md).
let citing: [Target.Dependency] = [.target(name: "Requirements")]

func ours(_ names: [String]) -> [Target.Dependency] { names.map { .target(name: $0) } }
func packaged(_ names: [String]) -> [Target.Dependency] { names.compactMap { products[$0] } }

/// A pure target and its tests. It sees other cores only: there is no parameter through which to pass a package product.
func core(_ wing: String, _ name: String, needs cores: [String] = []) -> [Target] {
    [
        .target(
            name: name, dependencies: ours(cores) + collections, path: "Sources/\(wing)/\(name)",
            swiftSettings: strict),
        .testTarget(
            name: "\(name)Tests", dependencies: ours([name] + cores) + citing, path: "Tests/\(name)Tests",
            swiftSettings: strict + notOptimised),
    ]
}

/// A target that does I/O, and its tests. `testing` names what only the tests need.
func shell(
    _ wing: String, _ name: String, needs targets: [String] = [], uses packages: [String] = [],
    testing: [String] = [], testingUses: [String] = [], resources: [Resource]? = nil,
    settings: [SwiftSetting] = strict
) -> [Target] {
    [
        .target(
            name: name, dependencies: ours(targets) + packaged(packages), path: "Sources/\(wing)/\(name)",
            resources: resources, swiftSettings: settings),
        .testTarget(
            name: "\(name)Tests",
            dependencies: ours([name] + targets + testing) + packaged(packages + testingUses) + citing,
            path: "Tests/\(name)Tests", swiftSettings: settings + notOptimised),
    ]
}

var targets: [Target] = [
    .target(
        name: "Requirements", dependencies: ours(["TidingsModel"]), path: "Tests/Requirements", swiftSettings: strict)
]

// Model
targets += core("Model", "TidingsModel")
// The one core with a package product: the generated protocol types need swift-protobuf's runtime.
targets += [
    .target(
        name: "TidingsWire",
        dependencies: ours(["TidingsModel"]) + packaged(["SwiftProtobuf"]), path: "Sources/Model/TidingsWire",
        exclude: ["tidings.proto"], swiftSettings: strict),
    .testTarget(
        name: "TidingsWireTests",
        dependencies: ours(["TidingsWire", "TidingsModel"]) + packaged(["SwiftProtobuf"]) + citing,
        path: "Tests/TidingsWireTests", resources: [.copy("Vectors")], swiftSettings: strict + notOptimised),
]

// APNs
targets += core("APNs", "APNsModel", needs: ["TidingsModel"])
targets += core("APNs", "APNsCore", needs: ["TidingsModel", "APNsModel"])
targets += core("APNs", "APNsClientCore", needs: ["TidingsModel", "APNsModel"])
// HTTP/2 without sockets and clocks, under both sides (docs/decisions/0011-own-http2-framing.md).
targets += shell("APNs", "HTTP2Connection", uses: ["NIOCore"], testingUses: ["NIOHPACK"])
targets += shell(
    "APNs", "APNsClient", needs: ["TidingsModel", "APNsModel", "APNsClientCore", "HTTP2Connection"],
    uses: [
        "Crypto", "CryptoExtras", "Logging", "Metrics", "NIOConcurrencyHelpers", "NIOCore", "NIOPosix", "NIOSSL",
        "NIOTLS",
    ], testing: ["APNsSimulator", "APNsCore", "APNsTestSupport"], testingUses: ["MetricsTestKit", "SwiftASN1", "X509"])
targets += shell(
    "APNs", "APNsSimulator", needs: ["TidingsModel", "APNsModel", "APNsCore", "HTTP2Connection", "HTTPUpgrades"],
    uses: [
        "Crypto", "GRDB", "Hummingbird", "HTTPTypes", "Logging", "NIOConcurrencyHelpers", "NIOCore",
        "NIOPosix", "NIOSSL", "NIOTLS", "SwiftASN1", "X509",
    ], testing: ["APNsTestSupport"], testingUses: ["NIOEmbedded"])
// What the tests of APNs client and local APNs share.
targets.append(
    .target(
        name: "APNsTestSupport", dependencies: ours(["TidingsModel"]) + packaged(["NIOCore", "NIOPosix"]),
        path: "Tests/APNsTestSupport", swiftSettings: strict))

// Both HTTP/1.1 servers, of the server and of the local APNs, pass over offers of another protocol.
targets += shell("Server", "HTTPUpgrades", uses: ["NIOCore", "NIOHTTP1"], testingUses: ["NIOEmbedded"])

// Server
targets += shell("Server", "Console", resources: [.embedInCode("Pages")])
targets += core("Server", "StoreModel", needs: ["TidingsModel", "APNsModel"])
targets += core("Server", "ServerCore", needs: ["TidingsModel", "APNsModel", "StoreModel"])
targets += shell(
    "Server", "MessageStore", needs: ["TidingsModel", "StoreModel"], uses: ["GRDB", "GRDBSQLite", "Logging"])
targets += shell(
    "Server", "TidingsServer",
    needs: [
        "TidingsModel", "TidingsWire", "StoreModel", "ServerCore", "MessageStore", "APNsModel", "APNsClientCore",
        "APNsClient", "HTTPUpgrades", "Console",
    ],
    uses: [
        "Configuration", "Crypto", "CryptoExtras", "Hummingbird", "HTTPTypes", "Logging", "Metrics",
        "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOWebSocket",
        "ServiceLifecycle", "SwiftProtobuf", "UnixSignals", "Yams",
    ], testing: onLinux ? ["TidingsClient", "URLSessionWebSocket"] : [], testingUses: ["NIOEmbedded"],
    resources: [.embedInCode("API/openapi.yaml")])

// Phone
targets += core("Phone", "PhoneCore", needs: ["TidingsModel"])
targets += shell(
    "Phone", "VirtualPhone", needs: ["TidingsModel", "APNsModel", "PhoneCore"],
    uses: ["NIOCore", "NIOPosix"], testing: ["APNsSimulator", "APNsClient"] + (onLinux ? ["ScreenApp"] : []),
    testingUses: ["Logging"])
if onLinux {
    // An app with a screen, which the tests of the phone run as a process of its own.
    targets.append(
        .executableTarget(
            name: "ScreenApp", dependencies: ours(["TidingsModel", "VirtualPhone", "UIKit", "UserNotifications"]),
            path: "Tests/ScreenApp", swiftSettings: facade))
    targets += shell(
        "Phone", "UserNotifications", needs: ["TidingsModel", "PhoneCore", "VirtualPhone"], settings: facade)
    // Swift Testing's overlay for a module named UIKit, empty here (see its source).
    targets.append(.target(name: "_Testing_UIKit", path: "Sources/Phone/_Testing_UIKit", swiftSettings: strict))
    targets += shell(
        "Phone", "UIKit",
        needs: ["TidingsModel", "PhoneCore", "VirtualPhone", "UserNotifications", "_Testing_UIKit"],
        testing: ["AudioToolbox"], settings: facade)
    targets += shell(
        "Phone", "UserNotificationsUI",
        needs: ["TidingsModel", "PhoneCore", "VirtualPhone", "UserNotifications", "UIKit", "_Testing_UIKit"],
        testing: ["ChatApp", "ChatNotificationContent"], settings: facade)
    for name in ["AudioToolbox", "BackgroundTasks", "CallKit", "Intents", "KeychainServices", "PushKit"] {
        targets += shell(
            "Phone", name,
            needs: ["TidingsModel", "PhoneCore", "VirtualPhone"] + (name == "Intents" ? ["UserNotifications"] : []),
            settings: facade)
    }
    // Foundation's own on Linux has no WebSockets that can be relied on.
    targets += shell(
        "Phone", "URLSessionWebSocket",
        uses: ["NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOWebSocket"], testing: ["APNsSimulator"],
        settings: facade)
    // A phone on a terminal: what it draws and which keys it takes.
    targets += shell("Phone", "PhoneTerminal", needs: ["TidingsModel", "PhoneCore", "VirtualPhone"], settings: facade)
}
let facades =
    onLinux
    ? ["UIKit", "UserNotifications", "AudioToolbox", "BackgroundTasks", "CallKit", "PushKit", "VirtualPhone"] : []
/// Apple's `Security` elsewhere.
let keychain = onLinux ? ["KeychainServices"] : []
/// Foundation's elsewhere: the virtual phone's `performExpiringActivity`, and WebSockets.
let expiringActivity = onLinux ? ["UserNotifications"] : []
let webSockets = onLinux ? ["URLSessionWebSocket"] : []
let extensionFacades = onLinux ? ["UserNotifications", "Intents", "VirtualPhone"] : []

// SDK
targets += core("SDK", "ClientCore", needs: ["TidingsModel"])
targets += shell(
    "SDK", "TidingsAppGroup", needs: ["TidingsModel", "ClientCore"] + keychain + expiringActivity,
    testing: ["AppGroupRace"] + (onLinux ? ["PhoneCore", "VirtualPhone"] : []),
    resources: [.copy("PrivacyInfo.xcprivacy")], settings: facade)
// One process of the race on ledger and badge that the tests of the app group start several times.
targets.append(
    .executableTarget(
        name: "AppGroupRace", dependencies: ours(["TidingsModel", "ClientCore", "TidingsAppGroup"]),
        path: "Tests/AppGroupRace", swiftSettings: strict))
targets += shell(
    "SDK", "TidingsClient",
    needs: ["TidingsModel", "TidingsWire", "ClientCore", "TidingsAppGroup"] + keychain + webSockets,
    uses: ["GRDB", "SwiftProtobuf"] + (onLinux ? ["NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOWebSocket"] : []),
    testing: ["SDKTestSupport", "ServerCore", "StoreModel"] + (onLinux ? ["VirtualPhone", "PhoneCore"] : []),
    resources: [.copy("PrivacyInfo.xcprivacy")], settings: facade
)
// How kit and extension write Apple's contents and intents; their tests are those of both.
targets.append(
    .target(
        name: "TidingsNotificationContent",
        dependencies: ours(["TidingsModel", "ClientCore", "TidingsAppGroup"] + extensionFacades),
        path: "Sources/SDK/TidingsNotificationContent", swiftSettings: facade))
targets += shell(
    "SDK", "TidingsKit",
    needs: ["TidingsModel", "ClientCore", "TidingsAppGroup", "TidingsClient", "TidingsNotificationContent"] + facades,
    testing: ["SDKTestSupport", "ServerCore", "StoreModel"], resources: [.copy("PrivacyInfo.xcprivacy")],
    settings: facade)
// The SDK's views.
targets += shell(
    "SDK", "TidingsUI",
    needs: ["TidingsModel", "ClientCore", "TidingsAppGroup", "TidingsClient", "TidingsKit"] + facades,
    testing: ["SDKTestSupport", "ServerCore", "StoreModel", "PhoneCore"] + (onLinux ? ["PhoneTerminal"] : []),
    resources: [.copy("PrivacyInfo.xcprivacy")], settings: facade)
// The server that the tests of client, kit and views share.
targets.append(
    .target(
        name: "SDKTestSupport",
        dependencies: ours(
            ["TidingsModel", "TidingsWire", "TidingsClient", "StoreModel", "ServerCore", "SimulatedServer"]
                + (onLinux ? ["VirtualPhone"] : [])), path: "Tests/SDKTestSupport", swiftSettings: facade))
targets += shell(
    "SDK", "TidingsNotificationService",
    needs: ["TidingsModel", "ClientCore", "TidingsAppGroup", "TidingsNotificationContent"] + extensionFacades,
    resources: [.copy("PrivacyInfo.xcprivacy")], settings: facade)

// The SDK's machines on the virtual iPhone, under the World and the scenarios
targets += core("World", "SimulatedPhone", needs: ["TidingsModel", "PhoneCore", "ClientCore"])

// The server's machine on a store in memory, under the scenarios and the SDK's tests
targets += core("World", "SimulatedServer", needs: ["TidingsModel", "APNsModel", "StoreModel", "ServerCore"])

// World
targets += core(
    "World", "World",
    needs: [
        "TidingsModel", "APNsModel", "APNsCore", "APNsClientCore", "StoreModel", "ServerCore", "PhoneCore",
        "ClientCore", "SimulatedPhone",
    ])

// Scenarios: what a phone should do, written as a file (docs/scenarios.md)
targets += core(
    "World", "ScenarioCore",
    needs: [
        "TidingsModel", "APNsModel", "StoreModel", "ServerCore", "PhoneCore", "ClientCore", "SimulatedPhone",
        "SimulatedServer",
    ])
targets += shell(
    "World", "Scenarios", needs: ["TidingsModel", "PhoneCore", "ClientCore", "ScenarioCore"], uses: ["Yams"])

// Tool
targets += [
    .executableTarget(
        name: "tidings",
        dependencies: ours(
            [
                "TidingsModel", "APNsSimulator", "APNsModel", "APNsCore", "APNsClient", "APNsClientCore",
                "HTTPUpgrades", "TidingsServer", "StoreModel", "ServerCore", "MessageStore", "VirtualPhone",
                "PhoneCore",
                "TidingsClient", "ClientCore", "TidingsWire", "World", "ScenarioCore", "Scenarios",
            ] + (onLinux ? ["PhoneTerminal"] : []))
            + packaged([
                "ArgumentParser", "Crypto", "HTTPTypes", "Hummingbird", "Logging", "Metrics", "NIOCore", "NIOHTTP1",
                "NIOPosix", "NIOWebSocket", "ServiceLifecycle", "Yams",
            ]),
        path: "Sources/Tool/tidings", swiftSettings: facade),
    .testTarget(
        name: "TidingsToolTests",
        dependencies: ours(["TidingsModel", "APNsModel", "PhoneCore", "tidings"]) + packaged(["ArgumentParser"]),
        path: "Tests/TidingsToolTests", swiftSettings: strict + notOptimised),
    // The rules of the house: imports, purity, sizes, words.
    .testTarget(name: "TidyTests", path: "Tests/TidyTests", swiftSettings: strict + notOptimised),
]
// The example app's backend: it has nothing of Tidings in it, as that of another app has not.
targets.append(
    .executableTarget(
        name: "ChatBackend",
        dependencies: packaged([
            "ArgumentParser", "Crypto", "CryptoExtras", "HTTPTypes", "Hummingbird", "Logging", "NIOCore",
        ]), path: "Examples/Backend", swiftSettings: strict))
if onLinux {
    targets += [
        .executableTarget(
            name: "ChatApp",
            dependencies: ours(["TidingsUI", "TidingsKit"] + keychain + facades), path: "Examples/Chat/App",
            swiftSettings: facade),
        .executableTarget(
            name: "ChatNotificationService",
            dependencies: ours(["TidingsModel", "TidingsNotificationService", "ClientCore"] + extensionFacades),
            path: "Examples/Chat/NotificationService", swiftSettings: facade),
        .executableTarget(
            name: "ChatNotificationContent",
            dependencies: ours(["TidingsModel", "UIKit", "UserNotifications", "UserNotificationsUI", "VirtualPhone"]),
            path: "Examples/Chat/NotificationContent", swiftSettings: facade),
    ]
}

let package = Package(
    name: "tidings",
    platforms: [.iOS(.v15), .macOS(.v15)],
    products: [
        .library(name: "TidingsClient", targets: ["TidingsClient"]),
        .library(name: "TidingsKit", targets: ["TidingsKit"]),
        .library(name: "TidingsUI", targets: ["TidingsUI"]),
        .library(name: "TidingsNotificationService", targets: ["TidingsNotificationService"]),
        .library(name: "APNsClient", targets: ["APNsClient", "APNsModel"]),
        .library(name: "APNsSimulator", targets: ["APNsSimulator"]),
        .library(
            name: "VirtualPhone",
            targets: ["VirtualPhone"]
                + (onLinux
                    ? [
                        "UIKit", "UserNotifications", "UserNotificationsUI", "AudioToolbox", "BackgroundTasks",
                        "CallKit", "Intents", "KeychainServices", "PushKit",
                    ] : [])),
        .executable(name: "tidings", targets: ["tidings"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: [.defaults, "YAML"]),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: targets
)

// What is named, with what it needs, and nothing else: the short loop of dev/core (docs/decisions/0024-short-loop.md).
if let only = Context.environment["TIDINGS_ONLY"] {
    var keptTargets: Set<String> = []
    var keptPackages: Set<String> = []
    var waiting = only.split(separator: ",").map(String.init)
    while let name = waiting.popLast() {
        guard keptTargets.insert(name).inserted else { continue }
        guard let target = package.targets.first(where: { $0.name == name }) else {
            fatalError("TIDINGS_ONLY: there is no target \(name)")
        }
        for dependency in target.dependencies {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): waiting.append(name)
            case .productItem(_, let package, _, _): keptPackages.formUnion([package].compactMap(\.self))
            @unknown default: fatalError("TIDINGS_ONLY: a dependency of \(name) of a kind not known here")
            }
        }
    }
    package.products = []
    package.targets.removeAll { !keptTargets.contains($0.name) }
    package.dependencies.removeAll { dependency in
        guard case .sourceControl(_, let location, _) = dependency.kind else { return true }
        return !keptPackages.contains { location.hasSuffix("/\($0)") }
    }
}
