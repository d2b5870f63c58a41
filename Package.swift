// swift-tools-version: 6.2
import PackageDescription

// The house in one picture: docs/inside/concepts.md. Every arrow points down; a core can name cores only, because the helper
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
/// (docs/inside/decisions/0056-two-builds.md). Unsafe flags are allowed here, since no product has a test target in it.
let notOptimised: [SwiftSetting] = [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// Virtual phone, scenarios and the SDK on them are equipment on Linux, and no load: dev/build does not optimise them either.
let equipment = strict + (Context.environment["TIDINGS_TESTABLE"] == nil ? [] : notOptimised)

#if os(Linux)
    let onLinux = true
#else
    let onLinux = false
#endif
/// Selects the Apple-shaped facades of the virtual phone instead of Apple's own modules.
let onFacades: [SwiftSetting] = onLinux ? [.define("TIDINGS_UIKIT")] : []
let facade = equipment + onFacades

/// The one package a core may use: containers whose order is defined (docs/inside/decisions/0001-pure-cores.md).
let collections: [Target.Dependency] = ["DequeModule", "OrderedCollections", "HeapModule"].map {
    .product(name: $0, package: "swift-collections")
}

/// What shells may use of packages.
let products: KeyValuePairs = [
    "GRDB.swift": ["GRDB", "GRDBSQLite"],
    "Yams": ["Yams"],
    "hummingbird": ["Hummingbird"],
    "swift-argument-parser": ["ArgumentParser"],
    "swift-asn1": ["SwiftASN1"],
    "swift-certificates": ["X509"],
    "swift-configuration": ["Configuration"],
    "swift-crypto": ["Crypto", "CryptoExtras"],
    "swift-http-types": ["HTTPTypes"],
    "swift-log": ["Logging"],
    "swift-metrics": ["Metrics", "MetricsTestKit"],
    "swift-nio": ["NIOConcurrencyHelpers", "NIOCore", "NIOEmbedded", "NIOHTTP1", "NIOPosix", "NIOTLS", "NIOWebSocket"],
    "swift-nio-http2": ["NIOHPACK"],
    "swift-nio-ssl": ["NIOSSL"],
    "swift-protobuf": ["SwiftProtobuf"],
    "swift-service-lifecycle": ["ServiceLifecycle", "UnixSignals"],
]

/// Lets tests name the requirement they hold (docs/inside/requirements.md).
let citing: [Target.Dependency] = [.target(name: "Requirements")]

func ours(_ names: [String]) -> [Target.Dependency] { names.map { .target(name: $0) } }
func packaged(_ names: [String]) -> [Target.Dependency] {
    products.flatMap { package, own in own.filter(names.contains).map { .product(name: $0, package: package) } }
}

/// A pure target and its tests. It sees other cores only: there is no parameter through which to pass a package product.
func core(
    _ wing: String, _ name: String, needs cores: [String] = [], testing: [String] = [],
    settings: [SwiftSetting] = strict
) -> [Target] {
    [
        .target(
            name: name, dependencies: ours(cores) + collections, path: "Sources/\(wing)/\(name)",
            swiftSettings: settings),
        .testTarget(
            name: "\(name)Tests", dependencies: ours([name] + cores + testing) + citing, path: "Tests/\(name)Tests",
            swiftSettings: strict + notOptimised),
    ]
}

/// A target that does I/O, and its tests. `testing` names what only the tests need.
func shell(
    _ wing: String, _ name: String, needs targets: [String] = [], uses packages: [String] = [],
    testing: [String] = [], testingUses: [String] = [], resources: [Resource]? = nil,
    excludes: [String] = [], settings: [SwiftSetting] = strict
) -> [Target] {
    [
        .target(
            name: name, dependencies: ours(targets) + packaged(packages), path: "Sources/\(wing)/\(name)",
            exclude: excludes, resources: resources, swiftSettings: settings),
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
// HTTP/2 without sockets and clocks, under both sides (docs/inside/decisions/0011-own-http2-framing.md).
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
targets.append(.target(name: "EmbeddedFiles", path: "Sources/Server/EmbeddedFiles"))
targets += shell("Server", "Console", needs: ["EmbeddedFiles"], excludes: ["Pages"])
targets += core("Server", "StoreModel", needs: ["TidingsModel", "APNsModel"])
let ofStore = ["TidingsModel", "APNsModel", "StoreModel"]
targets += core("Server", "StoreMachine", needs: ofStore)
targets += core("Server", "ServerCore", needs: ofStore, testing: ["StoreMachine"])
targets += shell("Server", "MessageStore", needs: ofStore + ["StoreMachine"], uses: ["GRDB", "GRDBSQLite", "Logging"])
targets += shell(
    "Server", "TidingsServer",
    needs: [
        "TidingsModel", "TidingsWire", "StoreModel", "StoreMachine", "ServerCore", "MessageStore", "APNsModel",
        "APNsClientCore", "APNsClient", "HTTPUpgrades", "Console", "EmbeddedFiles",
    ],
    uses: [
        "Configuration", "Crypto", "CryptoExtras", "Hummingbird", "HTTPTypes", "Logging", "Metrics",
        "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOWebSocket",
        "ServiceLifecycle", "SwiftProtobuf", "UnixSignals", "Yams",
    ], testing: onLinux ? ["TidingsClient", "URLSessionWebSocket"] : [], testingUses: ["NIOEmbedded"],
    excludes: ["API/openapi.yaml"])

// Phone
targets += core("Phone", "PhoneCore", needs: ["TidingsModel"])
targets += shell(
    "Phone", "VirtualPhone", needs: ["TidingsModel", "APNsModel", "PhoneCore"],
    uses: ["NIOCore", "NIOPosix"], testing: ["APNsSimulator", "APNsClient"] + (onLinux ? ["ScreenApp"] : []),
    testingUses: ["Logging"], settings: equipment)
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
    let (ofFacades, ofUI) = (
        ["TidingsModel", "PhoneCore", "VirtualPhone"], ["UserNotifications", "UIKit", "_Testing_UIKit"]
    )
    let small = [
        "AudioToolbox", "BackgroundTasks", "CallKit", "Intents", "KeychainServices", "PushKit", "UserNotificationsUI",
    ]
    for name in small {
        let more = ["Intents": ["UserNotifications"], "UserNotificationsUI": ofUI][name] ?? []
        targets += shell("Phone", name, needs: ofFacades + more, settings: facade).prefix(1)
    }
    let ofTests = small + ofFacades + ofUI + ["ChatApp", "ChatNotificationContent"]
    targets.append(
        .testTarget(
            name: "FacadeTests", dependencies: ours(ofTests) + citing, path: "Tests/FacadeTests",
            swiftSettings: facade + notOptimised))
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
targets += core("World", "SimulatedServer", needs: ofStore + ["StoreMachine", "ServerCore"])

// World
targets += core(
    "World", "World",
    needs: ofStore + [
        "StoreMachine", "APNsCore", "APNsClientCore", "ServerCore", "PhoneCore", "ClientCore", "SimulatedPhone",
    ])

// Scenarios: what a phone should do, written as a file (docs/testing/scenarios.md)
targets += core(
    "World", "ScenarioCore",
    needs: ofStore + [
        "ServerCore", "PhoneCore", "ClientCore", "SimulatedPhone", "SimulatedServer",
    ], settings: equipment)
targets += shell(
    "World", "Scenarios", needs: ["TidingsModel", "PhoneCore", "ClientCore", "ScenarioCore"], uses: ["Yams"],
    settings: equipment)

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
                "NIOPosix", "NIOWebSocket", "ServiceLifecycle",
            ]),
        path: "Sources/Tool/tidings", swiftSettings: strict + onFacades),
    .testTarget(
        name: "TidingsToolTests",
        dependencies: ours(["TidingsModel", "APNsModel", "PhoneCore", "tidings"]) + packaged(["ArgumentParser"]),
        path: "Tests/TidingsToolTests", swiftSettings: strict + notOptimised),
    // The rules of the house: imports, purity, sizes, pages.
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

// What is named, with what it needs, and nothing else: the short loop of dev/core (docs/inside/decisions/0024-short-loop.md).
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
