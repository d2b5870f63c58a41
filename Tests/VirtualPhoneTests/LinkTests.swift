import Testing
import TidingsModel

@testable import PhoneCore
@testable import VirtualPhone

@Suite struct `The link between a phone and its processes` {
    static let content = NotificationContent(
        title: "Alice", subtitle: "s", body: "hi \u{1F600}", badge: 3,
        sound: .critical(name: "a.caf", volume: 0.5),
        userInfo: JSONObject([("rc", ["cType": "PR", "n": 2, "flag": true])]), categoryIdentifier: "c",
        threadIdentifier: "t", targetContentIdentifier: "w", interruptionLevel: .timeSensitive, relevanceScore: 0.25,
        launchImageName: "l", summaryArgument: "Alice", summaryArgumentCount: 2,
        attachments: [NotificationAttachment(identifier: "a", url: "file:///a.png")], filterCriteria: "work",
        communication: CommunicationDetails(
            sender: "Alice", portrait: "p", group: "Team", groupPortrait: "g", conversation: "GRP:team",
            recipientCount: 3, mentionsPerson: true, isReply: true))
    static let request = NotificationRequest(
        identifier: "m1", content: content, trigger: .timeInterval(milliseconds: 1_500, repeats: false))
    static let notification = DeliveredNotification(
        request: NotificationRequest(identifier: "p1", content: NotificationContent(body: "b"), trigger: .push), date: 7
    )
    static let response = UserResponse(notification: notification, actionIdentifier: "reply", userText: "yes")
    static let payload = JSONObject([("aps", ["alert": "x"])])

    static let callbacks: [Callback] = [
        .willFinishLaunching(LaunchOptions()), .didFinishLaunching(LaunchOptions(remoteNotification: payload)),
        .didFinishLaunching(LaunchOptions(localNotification: request)), .applicationWillEnterForeground,
        .applicationDidBecomeActive, .applicationWillResignActive, .applicationDidEnterBackground,
        .applicationWillTerminate, .applicationDidReceiveMemoryWarning, .sceneConfiguration(nil),
        .sceneConfiguration(response), .sceneWillConnect(nil),
        .sceneWillConnect(response), .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
        .sceneDidEnterBackground, .sceneDidDisconnect, .receiveRemote(payload), .receiveRemoteFetch(payload),
        .receiveLocal(request), .handleActionRemote(identifier: "a", payload, text: nil),
        .handleActionLocal(identifier: "a", request, text: "typed"), .willPresent(notification),
        .receiveResponse(response), .registeredForRemoteNotifications(PushToken("ab")),
        .failedToRegisterForRemoteNotifications(reason: "offline"), .backgroundTaskExpired(4),
        .serviceExtensionReceive(request), .serviceExtensionTimeWillExpire(identifier: "r", call: 3),
        .openSettings(nil),
        .expiringActivityExpired(5),
        .openSettings(notification), .registeredUserNotificationSettings([.alert]), .performFetch,
        .refreshTaskLaunched(identifier: "r"), .refreshTaskExpired(identifier: "r"),
        .backgroundRefreshStatusChanged(.denied), .voipTokenUpdated(PushToken("cd")), .voipPushReceived(payload),
        .protectedDataDidBecomeAvailable, .protectedDataWillBecomeUnavailable,
        .voipTokenInvalidated, .callAnswered("1"), .callDeclined("1"),
        .activityTokenUpdated(activity: "a", PushToken("ef")),
        .pushToStartTokenUpdated(PushToken("01")),
        .activityUpdated(ActivityUpdate(activity: "a", change: .ended, contentState: ["score": 2])),
        .receiveLocal(request(.push)), .receiveLocal(request(nil)),
        .receiveLocal(
            request(.calendar(CalendarComponents(year: 2026, hour: 9, minute: 30, weekday: 2), repeats: true))),
        .receiveLocal(
            request(.location(NotificationRegion(identifier: "home", notifiesOnExit: false), repeats: false))),
        .receiveLocal(request(.fireDate(1_700_000_000_000, repeatInterval: .quarter))),
        .receiveLocal(request(.fireDate(1, repeatInterval: nil))),
    ]

    static func request(_ trigger: NotificationTrigger?) -> NotificationRequest {
        NotificationRequest(identifier: "t", content: NotificationContent(body: "b"), trigger: trigger)
    }

    @Test func `carries every callback unchanged`() throws {
        for callback in Self.callbacks {
            let message = HostMessage.call(9, callback, .inactive)
            let line = try JSONValue(parsing: message.json.serialized)
            #expect(try HostMessage(json: line) == message)
        }
    }

    @Test func `carries every answer unchanged`() throws {
        let answers: [QueryAnswer] = [
            .granted(true), .settings(NotificationSettings(authorizationStatus: .provisional, badge: true)), .added,
            .done,
            .refused(.noContent), .pending([Self.request]), .delivered([Self.notification]),
            .categories([
                NotificationCategory(
                    identifier: "c",
                    actions: [NotificationAction(identifier: "a", title: "A", options: .foreground, takesText: true)],
                    reportsDismissal: true),
                NotificationCategory(
                    identifier: "d", options: [.hiddenPreviewsShowTitle], hiddenPreviewsBodyPlaceholder: "hidden",
                    categorySummaryFormat: "%u more", intentIdentifiers: ["INSendMessageIntent"]),
            ]), .badge(4), .backgroundTime(nil), .backgroundTime(29_000), .backgroundRefreshStatus(.restricted),
            .registered(true),
            .taskRefused(.notPermitted), .refreshTasks([RefreshTaskRequest(identifier: "r", earliestBegin: 5)]),
            .lowPowerMode(true), .protectedData(isAvailable: false), .refused(.attachmentCorrupt),
            .settings(
                NotificationSettings(
                    authorizationStatus: .ephemeral, alertStyle: .alert, showPreviews: .never, criticalAlert: true,
                    announcement: true, timeSensitive: false, scheduledDelivery: true, directMessages: false,
                    providesAppNotificationSettings: true)),
        ]
        let messages =
            answers.map { HostMessage.answer(3, $0) } + [
                .state(.background), .input(["send": "x"]), .exit, .touch(7, view: "Send", .tap),
                .touch(8, view: nil, .enter("你好\n")),
            ]
        for message in messages {
            #expect(try HostMessage(json: try JSONValue(parsing: message.json.serialized)) == message)
        }
    }

    @Test func `carries every word of a process unchanged`() throws {
        let queries: [Query] = [
            .requestAuthorization([.alert, .badge]), .settings, .add(Self.request), .pendingRequests,
            .deliveredNotifications, .categories, .setBadgeCount(2), .badgeCount, .backgroundTimeRemaining,
            .backgroundRefreshStatus, .submitRefreshTask(RefreshTaskRequest(identifier: "r")), .pendingRefreshTasks,
            .lowPowerMode, .protectedDataAvailable, .remoteRegistration,
        ]
        let results: [CallbackResult] = [
            .returned, .fetch(.failed), .presentation([.banner, .list]), .content(Self.content),
        ]
        let events: [ProcessEvent] =
            [
                .started, .exited(crashed: true), .delegateChanged(isSet: true), .remoteRegistrationRequested,
                .remoteRegistrationEnded, .backgroundTaskBegan(1), .backgroundTaskEnded(1), .iconBadgeNumberSet(0),
                .expiringActivityBegan(2), .expiringActivityEnded(2),
                .categoriesSet([]), .pendingRemoved(identifiers: nil), .deliveredRemoved(identifiers: ["a", "b"]),
                .screenChanged("Chat"), .remoteTypesRequested([.badge]),
                .userNotificationSettingsRegistered([.alert], [NotificationCategory(identifier: "c")]),
                .localNotificationScheduled(Self.request), .localNotificationCancelled(identifier: nil),
                .localNotificationCancelled(identifier: "m1"), .minimumFetchIntervalSet(nil),
                .minimumFetchIntervalSet(0), .refreshTaskRegistered(identifier: "r"),
                .refreshTaskCompleted(identifier: "r", success: true), .refreshTaskCancelled(identifier: nil),
                .voipRegistrationChanged(isOn: true),
                .incomingCallReported(IncomingCall(identifier: "1", caller: "Ann", hasVideo: true)),
                .callEnded(identifier: "1"),
                .activityStarted(activity: "a", pushType: .token, contentState: ["score": 1]),
                .activityStarted(activity: "a", pushType: .channel("c"), contentState: .null),
                .activityStarted(activity: "a", pushType: nil, contentState: .null),
                .activityContentChanged(activity: "a", contentState: .null), .activityEnded(activity: "a"),
                .pushToStartRequested, .appGroupLockTaken("db"), .appGroupLockReleased("db"),
                .memoryUseChanged(bytes: 1_000), .systemSoundPlayed(SystemSound(number: 1_312, isAlert: true)),
                .messageDonated(
                    DonatedMessage(
                        identifier: "m", group: "GRP:team", isOutgoing: true, conversation: "GRP:team", sender: "Bob",
                        recipients: ["Ann"], groupName: "Team", content: "hi")),
                .messageDonated(DonatedMessage(isOutgoing: false)),
                .donationsDeleted(identifiers: ["m"], group: nil), .donationsDeleted(identifiers: nil, group: "PR:bob"),
            ] + queries.map { .query(5, $0) } + results.map { .callbackCompleted(6, $0) }
        let messages: [ProcessMessage] =
            [
                .hello(ProcessHello(token: "t", methods: .modern, lifecycle: .scenes)),
                .hello(ProcessHello(token: "t")), .screen(["A", "B"]), .log(level: "info", text: "\u{0}\n"),
                .fault("f"), .views([]),
                .views([
                    ViewNode(.window, children: [ViewNode(.button, text: "Send", label: "Send", actions: [.tap])])
                ]),
            ] + TouchAnswer.allCases.map { .touched(7, $0) } + [] + events.map { .event($0) }
        for message in messages {
            #expect(try ProcessMessage(json: try JSONValue(parsing: message.json.serialized)) == message)
        }
    }

    @Test func `names what is wrong with a line`() {
        func fault(_ json: JSONValue) -> InvalidField? {
            do throws(InvalidField) {
                _ = try ProcessMessage(json: json)
                return nil
            } catch {
                return error
            }
        }
        #expect(fault([]) == InvalidField(field: "value", rule: "must be an object, got an array"))
        #expect(
            fault(["type": "dance"]) == InvalidField(field: "type", rule: "is not a message of a process: dance"))
        #expect(
            fault(["type": "log", "level": 1, "text": ""])
                == InvalidField(field: "level", rule: "must be a string, got a number"))
        #expect(
            fault(["type": "event", "event": ["event": "background_task_began", "task": -1]])
                == InvalidField(
                    field: "event.task", rule: "must be a whole number from 0 to 18446744073709551615, got -1"))
    }

    @Test(
        arguments: [
            (
                ["type": "time_interval", "milliseconds": 253_402_300_800_000, "repeats": false],
                "milliseconds must be at most"
            ),
            (["type": "fire_date", "date": -253_402_300_800_000, "interval": "day"], "date must be within"),
        ] as [(JSONValue, String)])
    func `refuses a trigger no clock can count to`(json: JSONValue, rule: String) throws {
        var request = try #require(Self.request(.push).json.objectValue)
        request["trigger"] = json
        let fault = try #require(throws: InvalidField.self) { try NotificationRequest(json: .object(request)) }
        #expect(fault.field == "trigger")
        #expect(fault.rule.hasPrefix("has a number out of range: \(rule)"))
    }

    @Test func `cuts a stream into lines wherever it was split`() {
        let stream = Array("one\ntwo\n\nthree\n".utf8)
        for cut in 0...stream.count {
            var buffer = LineBuffer()
            let lines = buffer.append(stream[..<cut]) + buffer.append(stream[cut...])
            #expect(lines.map { String(decoding: $0, as: UTF8.self) } == ["one", "two", "", "three"])
            #expect(buffer.pendingBytes == 0)
        }
    }
}
