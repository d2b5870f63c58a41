import APNsCore
import APNsModel
import Crypto
import Foundation
import TidingsModel

extension SimulatorEngine {
    // MARK: Faults

    func setFaults(_ text: FaultText) {
        self.faultsText = text.json
        self.change(.faultsChanged(text.plan))
    }

    var faults: JSONValue {
        [
            "plan": self.faultsText,
            "counts": .array(
                self.core.faultCounts.map { ["matched": .int($0.matched), "taken": .int($0.taken)] }),
            "outage": .bool(self.core.isOut),
        ]
    }

    // MARK: Devices, metrics, channels

    func register(phones count: Int, topic: String, _ environment: PushEnvironment) -> [PushToken] {
        var made: Set<PhoneID> = []
        for _ in 0..<count {
            let courier = APNsService.CourierID(self.number())
            let phone = PhoneID("local-\(courier.rawValue)")
            made.insert(phone)
            self.change(.phoneConnected(phone, courier))
            let drawn = self.random.deviceToken()
            self.change(.registrationRequested(courier, id: 1, topic: topic, environment, drawn: drawn))
            self.change(.courierClosed(courier))
        }
        return self.core.devices.filter { made.contains($0.target.phone) }.map(\.token)
    }

    /// For apps on phones that need not connect, in the order of the phones.
    ///
    /// - Throws: `InvalidField` naming the member and the rule.
    func registerDevices(_ body: [UInt8]) throws(InvalidField) -> JSONValue {
        let wish = try JSONFields(control: body, only: ["phones", "topic", "environment"])
        let names: [String] = try wish.get("phones")
        try InvalidField.check(
            1...Self.registeredMax ~= names.count, "phones", "must have 1 to \(Self.registeredMax) phones")
        var phones: [PhoneID] = []
        for (index, name) in names.enumerated() {
            phones.append(try PhoneID.validated(name, field: "phones[\(index)]"))
        }
        let topic: String = try wish.get("topic")
        try InvalidField.check(APNsFormat.isTopic(topic.utf8), "topic", "must be a bundle identifier")
        let environment: PushEnvironment = try wish.given("environment") ?? .sandbox
        var tokens: [JSONValue] = []
        for phone in phones {
            let target = DeviceTopic(phone: phone, topic: topic, environment: environment)
            self.applyEvent(.deviceRegistered(target, drawn: self.random.deviceToken()))
            guard let token = self.core.token(of: target) else {
                throw InvalidField(field: "token", rule: "was drawn twice; ask again")
            }
            tokens.append(.string(token.rawValue))
        }
        self.commit()
        return ["tokens": .array(tokens)]
    }

    private static var registeredMax: Int { 10_000 }

    /// False if it is unknown or has ended already.
    func retire(_ token: PushToken, _ end: TokenEnd) -> Bool {
        guard self.core.devices.contains(where: { $0.token == token && $0.retiredAt == nil }) else { return false }
        self.change(.tokenRetired(token, end))
        return true
    }

    func devices(where matches: (RegisteredDevice) -> Bool) -> JSONValue {
        self.core.devices.filter(matches).objects { device in
            let stored = self.core.stored(for: device.target.phone).count { $0.token == device.token }
            return JSONMembers(of: device)
                + ["connected": self.core.isConnected(device.target.phone), "stored": stored]
        }
    }

    /// Nil while it is not counted.
    var tally: JSONValue? { self.core.tally?.json }

    /// - Throws: `InvalidField` naming the member and the rule.
    func setTally(_ body: [UInt8]) throws(InvalidField) {
        let wish = try JSONFields(control: body, only: ["enabled"])
        self.change(.tallyChanged(isOn: try wish.given("enabled") ?? true))
    }

    var metrics: JSONValue {
        self.core.metrics.objects { key, counts in
            JSONMembers(of: counts.json) + ["topic": key.topic, "environment": key.environment]
        }
    }

    func channels(of bundleID: String) -> JSONValue {
        .array(
            PushEnvironment.allCases.flatMap { environment in
                self.core.channels(of: bundleID, environment).map { channel in
                    [
                        "channel_id": .string(channel.id.rawValue), "environment": .string(environment.rawValue),
                        "message_storage_policy": .int(channel.policy.rawValue), "metrics": channel.metrics.json,
                    ]
                }
            })
    }

    // MARK: Keys and certificates

    /// - Throws: `InvalidField` naming the member and the rule.
    func addKey(_ body: [UInt8]) throws(InvalidField) -> JSONValue {
        let wish = try JSONFields(control: body, only: ["team_id", "environments", "topics", "related_key_id"])
        let keyID = StateFolder.newKeyID()
        let key = ProviderKey(
            keyID: keyID, teamID: try wish.given("team_id") ?? self.core.configuration.keys.first?.teamID ?? "",
            environments: try wish.environments(), topics: try wish.given("topics"),
            relatedKeyID: try wish.given("related_key_id"))
        try self.core.check(key)
        let made = try self.folder.makeKey(keyID)
        self.setKey(keyID, made.publicKey)
        self.change(.keyAdded(key))
        return [
            "key_id": .string(keyID), "team_id": .string(key.teamID), "p8": .string(made.pemRepresentation + "\n"),
            "p8_path": .string(self.folder.keyPath(keyID)),
        ]
    }

    func revokeKey(_ keyID: String) {
        self.setKey(keyID, nil)
        self.change(.keyRevoked(keyID: keyID))
    }

    /// - Throws: `InvalidField` naming the member and the rule.
    func issueCertificate(_ body: [UInt8], now: Date) throws(InvalidField) -> JSONValue {
        let wish = try JSONFields(
            control: body, only: ["bundle_id", "topics", "environments", "variant", "password"])
        let bundleID: String = try wish.get("bundle_id")
        try InvalidField.check(APNsFormat.isBundleID(bundleID), "bundle_id", "must be a bundle identifier")
        let variant: CertificateVariant = try wish.given("variant") ?? .good
        let day: TimeInterval = 86_400
        let client = LocalAuthority.Client(
            bundleID: bundleID, teamID: self.core.configuration.keys.first?.teamID,
            topics: try wish.given("topics") ?? [], environments: try wish.environments(),
            validFrom: now.addingTimeInterval(-2 * day),
            validTo: now.addingTimeInterval(variant == .expired ? -day : 365 * day))
        let password: String = try wish.given("password") ?? ""
        do {
            let authority = variant == .unknownIssuer ? try LocalAuthority(now: now) : self.authority
            let made = try authority.client(client)
            let file = PKCS12File(
                certificate: made.der, key: made.keyDER, name: LocalAuthority.commonName(bundleID), password: password)
            let p12 = Data(try file.serialized()).base64EncodedString()
            guard let facts = ClientCertificateFacts(der: made.der, self.authority) else {
                throw InvalidField(field: "bundle_id", rule: "must fit into a certificate")
            }
            if variant == .revoked { self.change(.certificateRevoked(fingerprint: facts.fingerprint)) }
            return [
                "fingerprint": .string(facts.fingerprint), "certificate_pem": .string(made.pair.certificate + "\n"),
                "key_pem": .string(made.pair.key + "\n"), "p12_base64": .string(p12),
                "expires_ms": .int(facts.expiresAt),
            ]
        } catch let fault as InvalidField {
            throw fault
        } catch {
            throw InvalidField(field: "bundle_id", rule: "must fit into a certificate: \(error)")
        }
    }
}

enum CertificateVariant: String, CaseIterable, Codable {
    case good, expired, revoked
    case unknownIssuer = "unknown_issuer"
}
