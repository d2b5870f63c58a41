import Testing
import TidingsModel

/// One content of each type, and how it travels.
private let travelling: [(MessageContent, ObjectName, String)] = [
    (.text("hi"), "RC:TxtMsg", #"{"content":"hi"}"#),
    (
        .image(.init(url: "https://a/b.jpg", thumbnail: "AA==")), "RC:ImgMsg",
        #"{"content":"AA==","imageUri":"https://a/b.jpg"}"#
    ),
    (.image(.init(url: "https://a/b.gif", isAnimated: true)), "RC:GIFMsg", #"{"remoteUrl":"https://a/b.gif"}"#),
    (
        .file(.init(url: "https://a/b.pdf", name: "b.pdf", bytes: 5, type: "pdf")), "RC:FileMsg",
        #"{"name":"b.pdf","size":5,"type":"pdf","fileUrl":"https://a/b.pdf"}"#
    ),
    (
        .voice(.init(url: "https://a/b.aac", seconds: 3)), "RC:HQVCMsg",
        #"{"remoteUrl":"https://a/b.aac","duration":3}"#
    ),
    (
        .video(.init(url: "https://a/b.mp4", seconds: 9, bytes: 7, name: "b.mp4", thumbnail: "AA==")), "RC:SightMsg",
        #"{"sightUrl":"https://a/b.mp4","content":"AA==","duration":9,"size":7,"name":"b.mp4"}"#
    ),
    (
        .location(.init(latitude: 52.5, longitude: -13.25, name: "Bridge", thumbnail: "AA==")), "RC:LBSMsg",
        #"{"content":"AA==","latitude":52.5,"longitude":-13.25,"poi":"Bridge"}"#
    ),
    (
        .link(.init(url: "http://a", title: "A", summary: "about", imageURL: "https://a/b.png")), "RC:ImgTextMsg",
        #"{"title":"A","content":"about","imageUri":"https://a/b.png","url":"http://a"}"#
    ),
    (.command(.init(name: "refresh", data: "all")), "RC:CmdMsg", #"{"name":"refresh","data":"all"}"#),
    (.custom("app:Poll", "[1]"), "app:Poll", "[1]"),
]

@Suite struct `What a message says` {
    @Test func `travels as JSON under the object name of its type, and comes back the same`() {
        for (content, name, json) in travelling {
            #expect(content.objectName == name)
            #expect(content.json == json)
            #expect(MessageContent(objectName: name, content: json) == content)
        }
    }

    @Test func `is read with members this build does not know, and with numbers written as texts`() {
        let file = #"{"name":"b","size":"5","fileUrl":"https://a/b","user":{"id":"x"},"extra":""}"#
        #expect(
            MessageContent(objectName: .file, content: file) == .file(.init(url: "https://a/b", name: "b", bytes: 5)))
        let link = #"{"title":"A","content":"","imageUri":"","url":"https://a"}"#
        #expect(MessageContent(objectName: .link, content: link) == .link(.init(url: "https://a", title: "A")))
        let place = #"{"latitude":52,"longitude":13.4}"#
        #expect(
            MessageContent(objectName: .location, content: place)
                == .location(.init(latitude: 52, longitude: 13.4)))
    }

    @Test(arguments: [
        (ObjectName.text, "hi"), (.text, "{}"), (.text, #"{"content":""}"#), (.text, #"{"content":1}"#), (.text, ""),
        (.image, #"{"imageUri":"file:///etc/passwd"}"#), (.image, #"{"imageUri":7}"#), (.image, "[]"),
        (.file, #"{"name":"b","size":-1,"fileUrl":"https://a/b"}"#),
        (.voice, #"{"remoteUrl":"https://a","duration":0}"#),
        (.location, #"{"latitude":91,"longitude":0}"#), (.location, #"{"latitude":1e999,"longitude":0}"#),
        (.command, #"{"data":"x"}"#), ("RC:CardMsg", "{}"),
    ])
    func `is custom content if it is not what its object name promises`(name: ObjectName, content: String) {
        #expect(MessageContent(objectName: name, content: content) == .custom(name, content))
    }

    @Test(arguments: [
        (MessageContent.text(""), "content.text", "must not be empty"),
        (
            .image(.init(url: "ftp://a/b")), "content.url", "must be an https or http URL with a host"
        ),
        (.image(.init(url: "https:///b")), "content.url", "must be an https or http URL with a host"),
        (
            .voice(.init(url: "https://a/ü", seconds: 1)), "content.url",
            "must be written in ASCII without spaces; percent-encode everything else"
        ),
        (.voice(.init(url: "https://a", seconds: 0)), "content.seconds", "must be 1 or more, got 0"),
        (.video(.init(url: "https://a", seconds: 1, bytes: -1)), "content.bytes", "must be 0 or more, got -1"),
        (.file(.init(url: "https://a", name: "", bytes: 0)), "content.name", "must not be empty"),
        (
            .location(.init(latitude: -90.5, longitude: 0)), "content.latitude",
            "must be -90 to 90 degrees, got -90.5"
        ),
        (
            .location(.init(latitude: 0, longitude: .nan)), "content.longitude",
            "must be -180 to 180 degrees, got nan"
        ),
        (.link(.init(url: "https://a", title: "")), "content.title", "must not be empty"),
        (
            .link(.init(url: "https://a", title: "A", imageURL: "b")), "content.imageURL",
            "must be an https or http URL with a host"
        ),
        (.command(.init(name: "")), "content.name", "must not be empty"),
        (.custom("app Poll", "1"), "object_name", "must not contain spaces or control characters"),
        (.custom("app:Poll", ""), "content", "must not be empty"),
    ])
    func `is refused by field and rule`(content: MessageContent, field: String, rule: String) {
        #expect(throws: InvalidField(field: field, rule: rule)) { try content.validate() }
    }

    @Test func `counts, stays and rings, unless it is a command`() {
        for (content, _, _) in travelling {
            #expect(content.defaultFlags == (content.objectName == .command ? [] : .normal))
        }
    }

    @Test func `has an image to show if it is one or has one`() {
        let images = travelling.map { $0.0.imageURL }
        #expect(
            images == [
                nil, "https://a/b.jpg", "https://a/b.gif", nil, nil, nil, nil, "https://a/b.png", nil, nil,
            ])
    }
}

@Suite struct `A URL from another phone` {
    @Test(arguments: ["https://a", "HTTPS://user@a.example:8443/b?c#d", "http://[::1]/b"])
    func `names a host on the web`(text: String) throws {
        try WebAddress.check(text, field: "url")
    }

    @Test(arguments: [
        "", "a", "https:", "https://", "https://?a", "https://:80/", "javascript:alert(1)", "data:,x", "https://a b",
        "https://a\n", "//a/b",
    ])
    func `is refused if it names none`(text: String) {
        #expect(throws: InvalidField.self) { try WebAddress.check(text, field: "url") }
    }

    @Test func `has at most 2,048 bytes`() throws {
        try WebAddress.check("https://a/" + String(repeating: "b", count: 2_038), field: "url")
        #expect(throws: InvalidField(field: "url", rule: "must be at most 2048 bytes, got 2049")) {
            try WebAddress.check("https://a/" + String(repeating: "b", count: 2_039), field: "url")
        }
    }

    @Test func `is secure if its connection is encrypted`() {
        #expect(WebAddress.isSecure("https://a/b"))
        #expect(WebAddress.isSecure("HtTpS://a/b"))
        #expect(!WebAddress.isSecure("http://a/b"))
        #expect(!WebAddress.isSecure("https:///b"))
        #expect(!WebAddress.isSecure("https"))
    }
}
