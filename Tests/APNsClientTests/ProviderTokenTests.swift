import Crypto
import Testing
import TidingsModel

@testable import APNsClient

@Suite struct `The provider tokens of a process` {
    private static let pem = P256.Signing.PrivateKey().pemRepresentation

    private static func key(
        _ pem: String = Self.pem, keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ"
    ) throws -> APNsClient.TokenCredential {
        try APNsClient.TokenCredential(privateKeyPEM: pem, keyID: keyID, teamID: teamID)
    }

    private static func at(_ minutes: Int64) -> Now {
        Now(monotonic: minutes * 60_000, wall: 1_700_000_000_000 + minutes * 60_000)
    }

    @Test func `are one for each key and team, whoever asks`() throws {
        let tokens = ProviderTokens()
        let first = try tokens.token(of: Self.key(), inPlaceOf: nil, at: Self.at(0))
        #expect(first.at == Self.at(0))
        #expect(try tokens.token(of: Self.key(), inPlaceOf: nil, at: Self.at(44)) == first)
        let others = [
            try Self.key(keyID: "OTHERKEY01"), try Self.key(teamID: "OTHERTEAM1"),
            try Self.key(P256.Signing.PrivateKey().pemRepresentation),
        ]
        for other in others {
            #expect(try tokens.token(of: other, inPlaceOf: nil, at: Self.at(1)).at == Self.at(1))
        }
        #expect(try tokens.token(of: Self.key(), inPlaceOf: nil, at: Self.at(1)) == first)
    }

    @Test func `are renewed by the first client that needs it, for all`() throws {
        let tokens = ProviderTokens()
        let first = try tokens.token(of: Self.key(), inPlaceOf: nil, at: Self.at(0))
        let second = try tokens.token(of: Self.key(), inPlaceOf: first.authorization, at: Self.at(45))
        #expect(second.at == Self.at(45) && second.authorization != first.authorization)
        #expect(try tokens.token(of: Self.key(), inPlaceOf: first.authorization, at: Self.at(46)) == second)
        // One that asks for the first time at that age gets no old one, either.
        #expect(try tokens.token(of: Self.key(), inPlaceOf: nil, at: Self.at(90)).at == Self.at(90))
    }

    @Test func `are not of the future, whatever a clock says`() throws {
        let tokens = ProviderTokens()
        _ = try tokens.token(of: Self.key(), inPlaceOf: nil, at: Self.at(10))
        #expect(try tokens.token(of: Self.key(), inPlaceOf: nil, at: Self.at(5)).at == Self.at(5))
    }

    @Test func `go out the same from every client of a key`() async throws {
        try await Wire.run(
            { _ in .accepted },
            { wire in
                let clients = try (0..<3).map { _ in
                    try wire.client { $0.credential = .token(try Self.key()) }
                }
                for client in clients { try await client.send(Wire.request()) }
                let other = try wire.client()
                try await other.send(Wire.request())
                let tokens = wire.server.requests.map { $0.header("authorization") }
                #expect(tokens.count == 4 && Set(tokens.prefix(3)).count == 1)
                #expect(tokens[3] != nil && tokens[3] != tokens[0])
                for client in clients + [other] { await client.shutdown() }
            })
    }
}
