import TidingsModel

/// Hands out what concerns work in the background (ios-delivery.md §8, §12, §13).
extension PhoneCore {
    mutating func backgroundReported(_ event: ProcessEvent, _ index: Int, _ turn: inout Turn) {
        switch event {
        case .minimumFetchIntervalSet(let interval):
            self.apps[index].background.fetchInterval = interval.map { max(0, $0) }
        case .refreshTaskRegistered(let identifier): self.registerRefreshHandler(identifier, index, &turn)
        case .refreshTaskCompleted(let identifier, let success):
            self.completeRefreshTask(identifier, success: success, index, &turn)
        case .refreshTaskCancelled(let identifier): self.cancelRefreshTask(identifier, index, &turn)
        case .voipRegistrationChanged(let isOn): self.changeVoIPRegistration(isOn: isOn, index, &turn)
        case .incomingCallReported: self.callReported(index)
        case .callEnded: self.apps[index].run?.background.hasCall = false
        case .activityStarted(let activity, let pushType, let contentState):
            self.startActivity(activity, pushType: pushType, contentState: contentState, index, &turn)
        case .activityContentChanged(let activity, let contentState):
            self.changeActivity(activity, contentState: contentState, index, &turn)
        case .activityEnded(let activity): self.changeActivity(activity, contentState: nil, index, &turn)
        case .pushToStartRequested: self.requestPushToStart(index, &turn)
        default: break
        }
    }
}
