import StoreMachine
import StoreModel
import TidingsModel

// Few push credentials and moments, so that they replace each other, expire and are gone back to.
extension CommandGenerator {
    mutating func credentialChange() -> PushCredentialChange {
        switch self.number(0..<20) {
        case 0..<5: .add(self.credential())
        case 5..<9:
            .activate(
                id: self.credentialID(), inPlaceOf: self.chance(50) ? self.credentialID() : nil,
                unproven: self.chance(70))
        case 9: .retire(id: self.credentialID())
        case 10, 11: .rollBack(id: self.credentialID())
        case 12, 13: .remove(id: self.credentialID())
        case 14..<17:
            .noteProof(
                id: self.credentialID(),
                PushCredentialRecord.Proof(
                    self.pick(PushEnvironment.allCases), isGood: self.chance(60),
                    reason: self.pick([nil, "InvalidProviderToken"]), at: self.clock))
        default:
            .noteAccepted(
                id: self.credentialID(), topic: self.pick(["com.example.a", "com.example.b"]),
                self.pick(PushEnvironment.allCases))
        }
    }

    private mutating func credentialID() -> String { self.chance(97) ? "p\(self.number(1..<5))" : "a b" }

    private mutating func sealed() -> SealedBytes {
        SealedBytes(
            keyID: self.pick(["m1", "m2"]),
            bytes: Array(repeating: UInt8(self.number(0..<3)), count: self.number(1..<4)))
    }

    mutating func credential() -> PushCredentialRecord {
        let id = self.credentialID()
        let isKey = self.chance(50)
        return PushCredentialRecord(
            id: id, kind: isKey ? .tokenKey : .certificate, sealed: self.sealed(),
            fingerprint: Hexadecimal.text(
                UInt64(self.chance(90) ? Int(id.utf8.last ?? 0) : self.number(0..<9)), digits: 64),
            keyID: isKey ? "ABC123DEFG" : nil, teamID: self.chance(95) ? "DEF123GHIJ" : nil,
            subject: isKey ? nil : "com.example.a", topics: isKey ? [] : ["com.example.a"],
            environments: self.pick([[.sandbox], [.production, .sandbox], PushEnvironment.allCases]),
            createdAt: self.clock, expiresAt: isKey ? nil : self.clock + Int64(self.number(-500..<20_000)),
            state: self.pick([.uploaded, .active]))
    }

    mutating func resealed() -> [Resealed] {
        (0..<self.number(1..<3)).map { _ in
            Resealed(
                self.chance(50)
                    ? .pushCredential(id: self.credentialID())
                    : self.chance(20) ? .installationSecret : .tokenSecret(id: "s\(self.number(1..<6))"),
                before: self.sealed(), after: self.sealed())
        }
    }
}
