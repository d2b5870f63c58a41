import PhoneCore
import Testing
import TidingsModel

@Suite struct `A thousand random lives of a phone` {
    static let versions: [[OSVersion]] = [
        [3, 4, 5], [6, 7, 8], [9, OSVersion(9, 3), 10], [11, 12, 13], [OSVersion(13, 3), 14, 15],
        [16, 17, OSVersion(17, 2)], [18, 19, 20], [21, 22, 23], [24, 25, 26],
    ]
    /// Walks per version: 27 versions make 1,026.
    static let walks: UInt64 = 38

    static func expected(_ version: OSVersion) -> Set<String> {
        var calls: Set<String> = ["WF", "DF", "WEF", "DBA", "WRA", "DEB", "WT", "memory", "expired(1)"]
        calls.formUnion(["R0(active)", "L0(active)", "token(beef)", "noToken", "activityExpired(1)"])
        if version >= 7 {
            calls.formUnion(["RF(active)", "RF(background)", "DF(remoteNotification)", "refresh(denied)"])
        }
        if version >= 8 { calls.formUnion(["voipToken(beef)", "noVoipToken"]) }
        if version >= 7, version < 13 { calls.insert("PF") }
        if version >= 10 { calls.formUnion(["WP", "DR", "DR(read)", "NSE", "EXP"]) }
        if version >= 13 {
            calls.formUnion(["configuration", "SC", "SC(response)", "sceneWEF", "sceneDBA", "sceneWRA", "sceneDEB"])
            calls.insert("sceneDisconnect")
        }
        if version >= 14 { calls.insert("task(refresh)") }
        if version >= 17 { calls.formUnion(["activity(a,updated)", "activityToken(a,beef)"]) }
        if version >= 18 { calls.insert("startToken(beef)") }
        return calls
    }

    @Test(arguments: versions) func `break no promise`(versions: [OSVersion]) {
        var met: Set<String> = []
        for version in versions {
            let first = UInt64(version.major * 100 + version.minor) * 1_000
            for seed in first..<(first + Self.walks) {
                var walk = RandomWalk(seed: seed, version: version, keepsTrace: true)
                walk.run(steps: 500)
                #expect(walk.faults == [], "seed \(seed), iOS \(version)")
                met.formUnion(walk.met)
            }
        }
        let expected = versions.reduce(into: Set<String>()) { $0.formUnion(Self.expected($1)) }
        #expect(expected.subtracting(met) == [])
    }

    @Test func `are the same for the same seed`() {
        var first = RandomWalk(seed: 7, version: 17, keepsTrace: true)
        var second = RandomWalk(seed: 7, version: 17, keepsTrace: true)
        first.run(steps: 500)
        second.run(steps: 500)
        #expect(first.trace == second.trace)
        #expect(first.core == second.core)
    }
}
