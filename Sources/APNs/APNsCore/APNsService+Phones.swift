import APNsModel
import TidingsModel

// What phones say.
extension APNsService {
    func phone(of courier: CourierID, into effects: inout [Effect]) -> PhoneID? {
        if let phone = self.phoneOfCourier[courier] { return phone }
        effects.append(.reject(courier, InvalidField(field: "type", rule: "must be hello first")))
        return nil
    }

    mutating func connect(_ phone: PhoneID, _ courier: CourierID, at now: Now, into effects: inout [Effect]) {
        guard self.phoneOfCourier[courier] == nil else {
            return effects.append(.reject(courier, InvalidField(field: "type", rule: "must be hello only once")))
        }
        if let older = self.couriers[phone]?.courierID {
            self.phoneOfCourier[older] = nil
            effects.append(.closeCourier(older))
        }
        self.phoneOfCourier[courier] = phone
        effects.append(.welcome(courier))
        self.forward(.connected(courier), to: phone, at: now, into: &effects)
        for name in self.channels.channels(of: phone) { self.bringStored(name, to: phone, at: now, into: &effects) }
    }

    mutating func register(
        _ courier: CourierID, id: Int64, topic: String, _ environment: PushEnvironment, activity: String?,
        drawn: PushToken, at now: Now, into effects: inout [Effect]
    ) {
        guard let phone = self.phone(of: courier, into: &effects) else { return }
        guard APNsFormat.isTopic(topic.utf8) else {
            let fault = InvalidField(field: "topic", rule: "must be a bundle identifier")
            return effects.append(.reject(courier, fault))
        }
        let target = DeviceTopic(phone: phone, topic: topic, environment: environment, activity: activity)
        guard let (device, isNew) = self.registry.register(target, drawn: drawn, wall: now.wall) else {
            let fault = InvalidField(field: "token", rule: "was drawn twice; ask again")
            return effects.append(.reject(courier, fault))
        }
        if isNew { effects.append(.save(device.record)) }
        effects.append(
            .confirmRegistration(
                courier, id: id, topic: topic, environment, activity: activity, device.token))
    }

    mutating func ended(_ device: RegisteredDevice, at now: Now, into effects: inout [Effect]) {
        effects.append(.save(device.record))
        self.forward(.tokenRetired(device.token), to: device.target.phone, at: now, into: &effects)
    }

    mutating func acknowledge(_ courier: CourierID, delivery: Int64, at now: Now, into effects: inout [Effect]) {
        guard let phone = self.phone(of: courier, into: &effects) else { return }
        if let inFlight = self.couriers[phone]?.inFlight, inFlight.delivery == delivery,
            let name = inFlight.push.channelName, let sequence = inFlight.push.channel?.sequence
        {
            let subscriber = ChannelStore.Subscriber(phone: phone, channel: name)
            self.channels[name]?.metrics.delivered += 1
            if self.channels.acknowledge(subscriber, sequence: sequence) {
                effects.append(.save(self.channels.record(subscriber)))
            }
        }
        self.forward(.acknowledged(delivery: delivery), to: phone, at: now, into: &effects)
    }

    mutating func subscribe(
        _ courier: CourierID, to name: ChannelName, isOn: Bool, at now: Now, into effects: inout [Effect]
    ) {
        guard let phone = self.phone(of: courier, into: &effects) else { return }
        let subscriber = ChannelStore.Subscriber(phone: phone, channel: name)
        guard isOn else {
            guard self.channels.unsubscribe(subscriber) else { return }
            return effects.append(.forget(.subscription, key: ChannelStore.key(subscriber)))
        }
        guard self.channels[name] != nil else {
            return effects.append(
                .reject(courier, InvalidField(field: "channel", rule: "must be a channel of the app")))
        }
        guard self.channels.subscribe(subscriber) else { return }
        effects.append(.save(self.channels.record(subscriber)))
        self.bringStored(name, to: phone, at: now, into: &effects)
    }

    func isNews(_ message: AcceptedPush, to phone: PhoneID, of name: ChannelName) -> Bool {
        (message.channel?.sequence ?? 0) > self.channels.seen(ChannelStore.Subscriber(phone: phone, channel: name))
    }

    private mutating func bringStored(
        _ name: ChannelName, to phone: PhoneID, at now: Now, into effects: inout [Effect]
    ) {
        guard let message = self.channels[name]?.message(self.configuration, at: now),
            self.isNews(message, to: phone, of: name)
        else { return }
        self.forward(.accepted(message.addressed(to: phone)), to: phone, at: now, into: &effects)
    }
}

extension AcceptedPush {
    var channelName: ChannelName? {
        self.channel.map { origin in
            ChannelName(
                bundleID: String(self.target.topic.dropLast(APNsPushType.liveactivity.topicSuffix.count)),
                environment: self.target.environment, id: origin.id)
        }
    }

    func addressed(to phone: PhoneID) -> AcceptedPush {
        var push = self
        push.target.phone = phone
        return push
    }
}
