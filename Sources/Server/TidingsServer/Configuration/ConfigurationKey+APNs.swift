extension ConfigurationKey {
    static let apns: [ConfigurationKey] = [
        .init(
            "apns.sandbox_host",
            "another server than Apple's for pushes to development builds, for example the local APNs",
            .optional(\.apns.sandbox.host)),
        .init("apns.sandbox_port", "its port; 2197 is Apple's other one", .integer(\.apns.sandbox.port, 1...65_535)),
        .init(
            "apns.sandbox_management_host",
            "another server than Apple's for broadcast channels of development builds, for example the local APNs",
            .optional(\.apns.sandbox.managementHost)),
        .init(
            "apns.sandbox_management_port", "its port; 0: Apple's",
            .integer(\.apns.sandbox.managementPort, 0...65_535)),
        .init(
            "apns.production_host", "another server than Apple's for pushes to App Store and TestFlight builds",
            .optional(\.apns.production.host)),
        .init(
            "apns.production_port", "its port; 2197 is Apple's other one", .integer(\.apns.production.port, 1...65_535)),
        .init(
            "apns.production_management_host",
            "another server than Apple's for broadcast channels of App Store and TestFlight builds",
            .optional(\.apns.production.managementHost)),
        .init(
            "apns.production_management_port", "its port; 0: Apple's",
            .integer(\.apns.production.managementPort, 0...65_535)),
        .init(
            "apns.trust_roots_path", "PEM file with the authorities to trust instead of the system's",
            .optional(\.apns.trustRootsPath)),
        .init(
            "apns.proxy", "HTTP proxy on the way, HOST:PORT or USER:PASSWORD@HOST:PORT", .optional(\.apns.proxy)),
    ]
}
