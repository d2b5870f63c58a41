import StoreModel
import TidingsModel

// What people and accounts are called.
extension StoreMachine {
    func profile(of user: UserID, in app: AppID) throws -> UserProfile {
        UserProfile(user, try self.find(UserKey(app: app, user: user))?.profile ?? Profile())
    }

    func setProfiles(_ profiles: [UserProfile], of app: AppID, isOwn: Bool) throws -> StoreResult {
        if let fault = try StoreRules.fault(in: profiles, isOwn: isOwn, accountNames: self.accountNames(in: app)) {
            return .refused(fault)
        }
        // Unreadable rows must be noticed before anything is written.
        for profile in profiles { _ = try self.profile(of: profile.id, in: app) }
        for profile in profiles where try self.profile(of: profile.id, in: app).profile != profile.profile {
            _ = try self.write(.profile(UserKey(app: app, user: profile.id), profile.profile))
        }
        return .done
    }

    /// Sorted by account.
    func accountNames(in app: AppID) throws -> [String] {
        try self.accounts(of: app).compactMap(\.profile.name)
    }
}
