import Testing

@Suite struct `The rule about where things are` {
    private static let badge = Source(
        path: "Sources/SDK/ClientCore/Badge.swift", text: "/// gone\nstruct Badge { func pushed() { self.count() } }")
    private static let routes = Source(path: "Sources/Server/Console/Pages/routes.js", text: "open(people)")

    private func findings(_ text: String) -> [String] {
        let page = Source(path: "docs/changing.md", text: text)
        return PlaceRules.findings(page: page) { path in
            [Self.badge, Self.routes].filter { $0.path == path || $0.path.hasPrefix("\(path)/") }
        }.map(\.description)
    }

    @Test func `finds a name that no file of its row declares`() {
        let link = "[Badge.swift](../Sources/SDK/ClientCore/Badge.swift)"
        #expect(self.findings("| badge | `Badge` holds it | \(link) (`pushed`) |") == [])
        // It is called there, and declared elsewhere.
        #expect(
            self.findings("| badge | it is counted | \(link) (`count`) |")
                == ["docs/changing.md:1: no file of the row declares count"])
        #expect(
            self.findings("| a | b | \(link) |\n| badge | `Badge` holds it | |")
                == ["docs/changing.md:2: no file of the row declares Badge"])
    }

    @Test func `takes files of a linked folder by their names`() {
        let link = "[Pages](../Sources/Server/Console/Pages)"
        #expect(self.findings("| page | `routes.js` names it | \(link) |") == [])
        #expect(
            self.findings("| page | `router.js` names it | \(link) |")
                == ["docs/changing.md:1: no file of the row declares router.js"])
    }

    @Test func `finds a name that no file of its section has`() {
        let steps =
            "## A number\n\n1. [Badge.swift](../Sources/SDK/ClientCore/Badge.swift): the case.\n2. Then `pushed(_:)`, and `count`."
        #expect(self.findings(steps) == [])
        #expect(
            self.findings("\(steps)\n\n## Another\n\n`count`") == [
                "docs/changing.md:8: no file its section links has count"
            ])
        for name in ["coun", "gone"] {
            #expect(
                self.findings("\(steps) `\(name)`") == ["docs/changing.md:4: no file its section links has \(name)"])
        }
    }

    @Test func `looks at no command, no link and nothing that is shown`() {
        #expect(
            PlaceRules.names(in: "`make test`, `RC:TxtMsg`, `--keys`, [`token_dead`](errors.md), `Type.name(_:)`") == [
                "name"
            ])
        #expect(self.findings("```sh\n`gone`\n```") == [])
    }
}
