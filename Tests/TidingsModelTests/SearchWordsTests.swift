import Foundation
import Testing
import TidingsModel

@Suite struct `Words for a search` {
    @Test(arguments: [
        ("Café at Noon", "Café at Noon"), ("明天北京", "明 天 北 京"), ("iPhone手机12", "iPhone 手 机 12"),
        ("a-b_c", "a b c"), ("안녕 カナ", "안 녕 カ ナ"), ("… !? 😀", ""), ("", ""),
    ]) func `stand apart, and each character by itself`(text: String, words: String) {
        #expect(SearchWords.indexed(nfkc: text) == words)
    }

    @Test(arguments: [
        ("noon", "\"noon\"*"), ("北京", "\"北 京\""), ("北京 九点", "\"北 京\" \"九 点\""), ("iphone手机", "\"iphone\"* \"手 机\""),
        ("NEAR(a OR \"b\")*", "\"NEAR\"* \"a\"* \"OR\"* \"b\"*"),
    ]) func `are asked for by their beginning, and characters as they stand together`(text: String, query: String) {
        #expect(SearchWords.question(nfkc: text) == query)
    }

    @Test(arguments: ["", " ", "。", "*\"-^:", "😀"]) func `are none in a text of signs alone`(text: String) {
        #expect(SearchWords.question(nfkc: text) == nil)
    }

    @Test func `are the same in full-width letters, as Foundation maps them`() {
        let wide = "ＡＢＣ".precomposedStringWithCompatibilityMapping
        #expect(SearchWords.indexed(nfkc: wide) == "ABC")
    }
}
