import Foundation
import KeychainServices
import PhoneCore
import Testing
import TidingsModel

@testable import VirtualPhone

/// A phone that is there for one question: whether it is unlocked.
private struct UnlockedPhone: PhoneLink {
    func send(_ message: ProcessMessage) {}
    func answer(to query: Query, number: QueryNumber) -> QueryAnswer? { .protectedData(isAvailable: true) }
}

@MainActor @Suite final class `The keychain of a phone` {
    private let folder = NSTemporaryDirectory() + "/keychain-" + UUID().uuidString

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    private nonisolated static func item(_ account: String, group: String? = nil) -> CFDictionary {
        var item: CFDictionary = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "tests", kSecAttrAccount: account,
        ]
        if let group { item[kSecAttrAccessGroup] = group }
        return item
    }

    private nonisolated static func add(
        _ account: String, _ text: String, group: String? = nil,
        accessible: String = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
    ) -> OSStatus {
        SecItemAdd(
            Self.item(account, group: group).merging(
                [kSecValueData: Data(text.utf8), kSecAttrAccessible: accessible]) { $1 }, nil)
    }

    /// What a search finds: the text, or the status.
    private nonisolated static func find(_ account: String, group: String? = nil) -> String {
        var found: CFTypeRef?
        let status = SecItemCopyMatching(
            Self.item(account, group: group).merging([kSecReturnData: true]) { $1 }, &found)
        guard status == errSecSuccess, let data = found as? Data else { return "\(status)" }
        return String(decoding: data, as: UTF8.self)
    }

    private let app = InstalledApp(
        bundleID: "com.example.chat", lifecycle: .application, methods: [], appGroup: "group.chat")

    private func phone() async -> VirtualPhone {
        let phone = VirtualPhone(osVersion: 17, folder: self.folder)
        phone.install(self.app, code: ProcessCode { process in process.setHandler { _, reply in reply() } })
        await phone.launch()
        return phone
    }

    private func extensionFinds(_ account: String) -> String {
        let facts = PhoneProcessFacts(
            role: .notificationService, bundleID: "com.example.chat", osVersion: "17", phoneID: "phone", home: "/",
            groups: ["group.chat": "/"], keychain: self.folder + "/protected/keychain.json")
        return withPhoneProcess(PhoneProcess(facts: facts, link: UnlockedPhone())) { Self.find(account) }
    }

    @Test func `keeps an item until it is deleted, one for each account`() async {
        let phone = await self.phone()
        await phone.inApp {
            #expect(Self.find("a") == "\(errSecItemNotFound)")
            #expect(Self.add("a", "one") == errSecSuccess)
            #expect(Self.add("a", "two") == errSecDuplicateItem)
            #expect(Self.add("b", "three") == errSecSuccess)
            #expect(SecItemUpdate(Self.item("a"), [kSecValueData: Data("four".utf8)]) == errSecSuccess)
            #expect(SecItemUpdate(Self.item("c"), [kSecValueData: Data()]) == errSecItemNotFound)
            #expect([Self.find("a"), Self.find("b")] == ["four", "three"])
            var all: CFTypeRef?
            let everything: CFDictionary = [
                kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
            ]
            #expect(SecItemCopyMatching(everything, &all) == errSecSuccess)
            #expect(
                (all as? [CFTypeRef])?.compactMap { ($0 as? CFDictionary)?[kSecAttrAccount] as? String } == ["a", "b"])
            #expect(SecItemDelete(Self.item("a")) == errSecSuccess)
            #expect(SecItemDelete(Self.item("a")) == errSecItemNotFound)
            #expect([Self.find("a"), Self.find("b")] == ["\(errSecItemNotFound)", "three"])
        }
    }

    @Test func `refuses what it does not understand rather than finding something else`() async {
        let phone = await self.phone()
        await phone.inApp {
            #expect(SecItemAdd(["class": "inet", kSecAttrAccount: "a"], nil) == errSecParam)
            #expect(SecItemDelete([kSecAttrAccount: "a"]) == errSecParam)
            #expect(SecItemCopyMatching(Self.item("a").merging(["labl": "x"]) { $1 }, nil) == errSecParam)
            #expect(Self.add("a", "one", group: "group.other") == errSecMissingEntitlement)
        }
        #expect(Self.find("a") == "\(errSecNotAvailable)", "there is no keychain outside a phone")
    }

    @Test func `shares an item with the extension in their group only`() async {
        let phone = await self.phone()
        await phone.inApp {
            #expect(Self.add("own", "mine") == errSecSuccess)
            #expect(Self.add("shared", "ours", group: "group.chat") == errSecSuccess)
            #expect(Self.find("shared") == "ours")
            #expect(Self.find("shared", group: "com.example.chat") == "\(errSecItemNotFound)")
        }
        #expect([self.extensionFinds("shared"), self.extensionFinds("own")] == ["ours", "\(errSecItemNotFound)"])
    }

    @Test func `opens with the first unlock, and what is for an unlocked phone only while it is unlocked`() async {
        let phone = await self.phone()
        await phone.inApp {
            #expect(Self.add("always", "a") == errSecSuccess)
            #expect(Self.add("unlocked", "u", accessible: kSecAttrAccessibleWhenUnlocked) == errSecSuccess)
        }
        await phone.lock()
        await phone.inApp {
            #expect([Self.find("always"), Self.find("unlocked")] == ["a", "\(errSecInteractionNotAllowed)"])
            #expect(
                SecItemUpdate(Self.item("unlocked"), [kSecValueData: Data()]) == errSecInteractionNotAllowed)
        }
        await phone.unlock()
        await phone.inApp { #expect(Self.find("unlocked") == "u") }
    }

    @Test func `outlives its app, and on a new device only what a backup may bring`() async {
        let phone = await self.phone()
        await phone.inApp {
            #expect(Self.add("device", "d") == errSecSuccess)
            #expect(Self.add("any", "a", accessible: kSecAttrAccessibleAfterFirstUnlock) == errSecSuccess)
        }
        await phone.reinstall(self.app)
        await phone.launch()
        await phone.inApp { #expect([Self.find("device"), Self.find("any")] == ["d", "a"]) }
        await phone.restoreFromBackup()
        await phone.unlock()
        await phone.launch()
        await phone.inApp { #expect([Self.find("device"), Self.find("any")] == ["\(errSecItemNotFound)", "a"]) }
    }

    @Test func `is closed between a restart and the first unlock`() async throws {
        let phone = await self.phone()
        await phone.inApp { #expect(Self.add("shared", "a", group: "group.chat") == errSecSuccess) }
        await phone.restart()
        #expect(self.extensionFinds("shared") == "\(errSecInteractionNotAllowed)")
        await phone.unlock()
        #expect(self.extensionFinds("shared") == "a")
    }
}
