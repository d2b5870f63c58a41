import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `What somebody is called` {
    private static func bench(_ isOwn: Bool) -> ServerBench {
        var settings = ServerBench.plain
        if isOwn { settings.appsWithOwnProfiles = [ServerBench.app] }
        return ServerBench(settings: settings)
    }

    @Test func `is chosen by the app's backend alone, unless the app says otherwise`() {
        var bench = Self.bench(false)
        let bob = bench.connect("bob").session
        let team = ConversationID.group("team")
        #expect(
            bench.ask(bob, 1, .setProfile(Profile(name: "Bob"))) == [
                "s1 ← answer 1 refused(not_allowed: profile must be chosen by the app's backend)"
            ])
        #expect(
            bench.ask(bob, 2, .change(team, .setNickname("bob", "B")))
                == [
                    "s1 ← answer 2 refused(not_allowed: nickname must be chosen by the app's backend)"
                ])
        // The backend may, also in somebody's name.
        let asked = APICommand.request(ServerBench.app, actor: "bob", .change(team, .setNickname("bob", "B")))
        #expect(bench.run(.api(APIRequestID(1), asked)).first?.hasPrefix("store") == true)
    }

    @Test func `is chosen by the person where the app lets them, and kept once it is stored`() {
        var bench = Self.bench(true)
        let bob = bench.connect("bob").session
        #expect(
            bench.ask(bob, 1, .setProfile(Profile(name: "Bob"))) == [
                "store profiles bob=Bob own", "s1 ← answer 1 done(0)",
            ])
        let answer = ClientAnswer.profiles([UserProfile("bob", Profile(name: "Bob")), UserProfile("alice", Profile())])
        #expect(
            bench.ask(bob, 2, .profiles(["bob", "alice"])) == [
                "store profiles? [bob, alice]", "s1 ← answer 2 \(answer)",
            ])
        #expect(
            bench.ask(bob, 3, .setProfile(Profile(name: "a\nb"))) == [
                "s1 ← answer 3 refused(invalid_field: name must have no control characters or line breaks)"
            ])
        #expect(
            bench.ask(bob, 4, .profiles([])) == [
                "s1 ← answer 4 refused(invalid_field: users must be 1 to 100, got 0)"
            ])
    }

    @Test func `is told of an account of another app where the server's operator offers it`() {
        var settings = ServerBench.plain
        let own = UserID("\(ServerBench.app)/desk")
        settings.offeredAccounts = [
            "club/news": UserKey(app: "club", user: "news"), own: UserKey(app: ServerBench.app, user: "desk"),
        ]
        var bench = ServerBench(settings: settings)
        let bob = bench.connect("bob").session
        let profiles = [UserProfile("news", Profile(name: "News")), UserProfile("x", Profile(name: "X"))]
        for place in ["news", "x"].map({ ConversationID(type: .publicService, target: $0) }) {
            bench.run(.api(APIRequestID(1), .putAccount("club", ServiceAccount(place))))
        }
        bench.run(.api(APIRequestID(2), .setProfiles("club", profiles)))
        let answer = ClientAnswer.profiles([
            UserProfile("club/news", Profile(name: "News")), UserProfile("club/x", Profile()),
            UserProfile("news", Profile()), UserProfile(own, Profile()),
        ])
        #expect(
            bench.ask(bob, 1, .profiles(["club/news", "club/x", "news", own])) == [
                "store profiles? [club/news, club/x, news, \(own)] offered [club/news]", "s1 ← answer 1 \(answer)",
            ])
    }

    @Test func `is set by the API`() {
        var bench = Self.bench(false)
        let profiles = [UserProfile("ann", Profile(name: "Ann")), UserProfile("bob", Profile(name: "Bob"))]
        bench.run(.api(APIRequestID(1), .setProfiles(ServerBench.app, profiles)))
        bench.run(.api(APIRequestID(3), .setProfiles(ServerBench.app, [])))
        #expect(bench.replies.first == .done)
        let told = bench.read(.readProfiles(ServerBench.app, ["bob", "zoe"]))
        #expect(told == .profiles([profiles[1], UserProfile("zoe", Profile())]))
        guard case .refused(let problem) = bench.replies.last else { return #expect(Bool(false), "\(bench.replies)") }
        #expect(problem.field == "profiles")
    }
}
