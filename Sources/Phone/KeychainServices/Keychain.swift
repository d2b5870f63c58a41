import Foundation
import VirtualPhone

// Keychain services of Apple's module `Security`, as far as generic passwords go. The module has another name, for packages that
// are built beside this one ask `canImport(Security)` on Linux too, and would then find types missing (swift-certificates does).
// There is no Core Foundation on Linux: its names are Swift's types here, so that the same lines compile in both places.

/// A status code; 0 is success.
public typealias OSStatus = Int32
/// Apple's strings.
public typealias CFString = String
/// Apple's dictionaries.
public typealias CFDictionary = [String: Any]
/// Anything of Core Foundation's.
public typealias CFTypeRef = Any

/// No error.
public let errSecSuccess: OSStatus = 0
/// A parameter is missing or none of those that are understood here.
public let errSecParam: OSStatus = -50
/// There is no keychain: the process runs on no phone, or on one without a folder.
public let errSecNotAvailable: OSStatus = -25_291
/// The item is there already.
public let errSecDuplicateItem: OSStatus = -25_299
/// There is no such item.
public let errSecItemNotFound: OSStatus = -25_300
/// The item is there, and cannot be read while the phone is locked, or before its first unlock.
public let errSecInteractionNotAllowed: OSStatus = -25_308
/// The access group is not one of the process.
public let errSecMissingEntitlement: OSStatus = -34_018

/// The item's class.
public let kSecClass: CFString = "class"
/// A password with a service and an account: the only class here.
public let kSecClassGenericPassword: CFString = "genp"
/// The service it is for.
public let kSecAttrService: CFString = "svce"
/// The account it is for.
public let kSecAttrAccount: CFString = "acct"
/// The group of processes that share it; without one the process's own.
public let kSecAttrAccessGroup: CFString = "agrp"
/// When it can be read; `kSecAttrAccessibleWhenUnlocked` by default.
public let kSecAttrAccessible: CFString = "pdmn"
/// While the phone is unlocked.
public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// The same, and in no backup that another device could restore.
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// From the first unlock after a restart on.
public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// The same, and in no backup that another device could restore.
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// The password itself, as `Data`.
public let kSecValueData: CFString = "v_Data"
/// The key for a search that returns the data.
public let kSecReturnData: CFString = "r_Data"
/// The key for a search that returns the attributes.
public let kSecReturnAttributes: CFString = "r_Attributes"
/// How many items a search returns; one by default.
public let kSecMatchLimit: CFString = "m_Limit"
/// One.
public let kSecMatchLimitOne: CFString = "m_LimitOne"
/// All of them.
public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// The keychain of iOS also on a Mac: the only one here.
public let kSecUseDataProtectionKeychain: CFString = "nleg"

/// Adds an item.
///
/// - Returns: `errSecDuplicateItem` if its group has one for the service and account; `errSecMissingEntitlement` for a group that
///   is not one of the process; `errSecParam`, `errSecInteractionNotAllowed`, `errSecNotAvailable`.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    perform(attributes) { keychain, question in
        let item = PhoneKeychain.Item(
            accessGroup: question.groups[0], service: question.service ?? "", account: question.account ?? "",
            accessible: question.accessible ?? kSecAttrAccessibleWhenUnlocked, data: question.data ?? [])
        let isNew = try keychain.update { items in
            guard !items.contains(where: { $0.key == item.key }) else { return false }
            items.append(item)
            return true
        }
        guard isNew else { return errSecDuplicateItem }
        result?.pointee = question.answer(item)
        return errSecSuccess
    }
}

/// Looks items up.
///
/// - Parameters:
///   - query: what is looked for, and what of it is wanted.
///   - result: `Data`, or a dictionary of the attributes; with `kSecMatchLimitAll` an array of them.
/// - Returns: `errSecItemNotFound`; `errSecInteractionNotAllowed` if what was found cannot be read now; `errSecParam`,
///   `errSecMissingEntitlement`, `errSecNotAvailable`.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    perform(query) { keychain, question in
        let found = try keychain.items().filter { question.matches($0) }
        guard !found.isEmpty else { return errSecItemNotFound }
        let readable = found.filter { !$0.needsUnlocked || question.isUnlocked }
        guard let first = readable.first else { return errSecInteractionNotAllowed }
        if question.wantsAll {
            result?.pointee = readable.compactMap { question.answer($0) }
        } else {
            result?.pointee = question.answer(first)
        }
        return errSecSuccess
    }
}

/// Changes the items a search finds.
///
/// - Returns: as `SecItemCopyMatching`.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    guard let change = KeychainQuestion(attributesToUpdate, isChange: true) else { return errSecParam }
    return perform(query) { keychain, question in
        try keychain.update { items in
            let found = items.indices.filter { question.matches(items[$0]) }
            guard !found.isEmpty else { return errSecItemNotFound }
            guard question.isUnlocked || !found.contains(where: { items[$0].needsUnlocked }) else {
                return errSecInteractionNotAllowed
            }
            for index in found { change.apply(to: &items[index]) }
            return errSecSuccess
        }
    }
}

/// Deletes the items a search finds.
///
/// - Returns: as `SecItemCopyMatching`; what cannot be read now can be deleted, once the phone was unlocked.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    perform(query) { keychain, question in
        try keychain.update { items in
            let before = items.count
            items.removeAll { question.matches($0) }
            return items.count < before ? errSecSuccess : errSecItemNotFound
        }
    }
}

private func perform(
    _ dictionary: CFDictionary, _ work: (PhoneKeychain, KeychainQuestion) throws -> OSStatus
) -> OSStatus {
    guard var question = KeychainQuestion(dictionary, isChange: false) else { return errSecParam }
    guard let process = PhoneProcess.currentIfAny, let path = process.facts.keychain else { return errSecNotAvailable }
    let groups = process.facts.keychainGroups
    if let wanted = question.groups.first {
        guard groups.contains(wanted) else { return errSecMissingEntitlement }
    } else {
        question.groups = groups
    }
    if case .protectedData(let isAvailable) = process.queryNow(.protectedDataAvailable) {
        question.isUnlocked = isAvailable
    }
    // Only a keychain that is closed throws.
    return (try? work(PhoneKeychain(path: path), question)) ?? errSecInteractionNotAllowed
}

private struct KeychainQuestion {
    /// The group that was named; otherwise those of the process, its own first.
    var groups: [String] = []
    var service: String?
    var account: String?
    var accessible: String?
    var data: [UInt8]?
    var wantsData = false
    var wantsAttributes = false
    var wantsAll = false
    var isUnlocked = false

    /// nil for what is not understood: a wrong reading would find the wrong items. A change names no class.
    init?(_ dictionary: CFDictionary, isChange: Bool) {
        guard isChange || dictionary[kSecClass] as? String == kSecClassGenericPassword else { return nil }
        for (key, value) in dictionary {
            switch key {
            case kSecClass: if isChange { return nil }
            case kSecAttrService: self.service = value as? String
            case kSecAttrAccount: self.account = value as? String
            case kSecAttrAccessible: self.accessible = value as? String
            case kSecValueData: self.data = (value as? Data).map { Array($0) }
            case kSecAttrAccessGroup: self.groups = (value as? String).map { [$0] } ?? []
            case kSecReturnData: self.wantsData = value as? Bool ?? false
            case kSecReturnAttributes: self.wantsAttributes = value as? Bool ?? false
            case kSecMatchLimit: self.wantsAll = value as? String == kSecMatchLimitAll
            case kSecUseDataProtectionKeychain: break
            default: return nil
            }
        }
    }

    func matches(_ item: PhoneKeychain.Item) -> Bool {
        self.groups.contains(item.accessGroup) && self.service ?? item.service == item.service
            && self.account ?? item.account == item.account && self.accessible ?? item.accessible == item.accessible
    }

    func apply(to item: inout PhoneKeychain.Item) {
        if let service { item.service = service }
        if let account { item.account = account }
        if let accessible { item.accessible = accessible }
        if let data { item.data = data }
        if let group = self.groups.first { item.accessGroup = group }
    }

    func answer(_ item: PhoneKeychain.Item) -> CFTypeRef? {
        guard self.wantsAttributes else { return self.wantsData ? Data(item.data) : nil }
        var attributes: [String: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: item.service, kSecAttrAccount: item.account,
            kSecAttrAccessGroup: item.accessGroup, kSecAttrAccessible: item.accessible,
        ]
        if self.wantsData { attributes[kSecValueData] = Data(item.data) }
        return attributes
    }
}
