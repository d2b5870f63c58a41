import PhoneCore

// The keys of steps and expectations.
extension ScenarioSection {
    static let stepFormat =
        """
        # steps | one step; a step has exactly one key, or is a line of a phone's script such as lock, kill or airplane on
        push | mapping | a push arrives | own code too
        activityPush | mapping | a push to a Live Activity arrives, or one that starts it
        broadcast | mapping | a broadcast is sent to the Live Activities on a channel
        local | mapping | the app adds a local notification
        message | mapping | somebody sends a message (SDK; own code with `server`) | own code too
        custom | mapping | somebody sends a custom message (SDK)
        read | conversation | the person reads a conversation in the app (SDK)
        readElsewhere | conversation | the person reads a conversation on another device, which is gone again at once (SDK)
        signOut | yes | the person signs out in the app (SDK)
        signIn | text | somebody signs in there, after a sign-out the server has heard of (SDK)
        tap | notification | the person taps a notification, by its id | own code too
        dismiss | notification | the person clears a notification | own code too
        swipeBanner | notification | the person swipes a banner away | own code too
        openSettings | notification or app | the person opens the app's own settings, from it or from Settings | own code too
        keep | notification | the person chooses Keep on a provisional notification (iOS 12)
        turnOff | notification | the person chooses Turn Off on a provisional notification (iOS 12)
        action | mapping | the person chooses an action | own code too
        panel | view or close | the person answers the alert panel (iOS 3–9) | own code too
        call | answer or decline | the person answers the first call that rings, or declines it; decline also ends one that was answered | own code too
        dismissActivity | activity | the person takes a Live Activity off the lock screen
        person | \(ScenarioReader.words(ofStep: "person")) | the person does something with the phone | own code too
        system | \(ScenarioReader.words(ofStep: "system")) | the system does something by itself | own code too
        install | update or again | a new version of the app, or the app removed and installed again | own code too
        prompt | allow or deny | the person answers the permission prompt | own code too
        set | mapping | the person turns switches | own code too
        focus | off, on, timeSensitive, allowsApp | a Focus: on lets nothing through, or only what it names | own code too
        mute | on or off | the ring/silent switch; on is silent | own code too
        alertStyle | \(AlertStyle.words.joined(separator: ", ")) | the person chooses how alerts appear | own code too
        summaryTimes | list of times such as 08:00 | when the scheduled summary is delivered; an empty list turns it off | own code too
        enterRegion | region | the phone comes into a region a local notification waits for
        leaveRegion | region | the phone leaves it
        airplaneMode | on or off | the person turns airplane mode | own code too
        lowPowerMode | on or off | the person turns Low Power Mode | own code too
        backgroundRefresh | on, off, restricted | Background App Refresh of the whole phone; restricted: forbidden, and the person cannot change it | own code too
        requestAuthorization | list of \(AuthorizationWords.list) | the app asks
        setBadgeCount | number | the app calls setBadgeCount
        applicationIconBadgeNumber | number | the app sets applicationIconBadgeNumber
        removeDelivered | list of notifications or all | the app removes delivered notifications
        removePending | list of notifications or all | the app removes scheduled notifications
        register | yes or no | the app registers for remote notifications, or unregisters
        setsDelegate | yes or no | the app sets the UN delegate, or sets it to nil
        beginBackgroundTask | number | the app begins a background task
        endBackgroundTask | number | the app ends a background task
        beginExpiringActivity | number | the app calls performExpiringActivity
        endExpiringActivity | number | its block returns
        takeLock | text | the app locks a file or database of the app group, by a name
        releaseLock | text | it releases the lock
        startActivity | mapping | the app requests a Live Activity
        updateActivity | mapping | the app changes a Live Activity
        endActivity | activity | the app ends a Live Activity
        requestPushToStart | yes | the app reads pushToStartTokenUpdates
        minimumFetchInterval | time | the app calls setMinimumBackgroundFetchInterval
        submitRefreshTask | time | the app submits a BGAppRefreshTask that may begin after so long
        shows | text | the app says what it shows
        crash | yes | the app crashes
        wait | time | time passes, deadlines and timers on the way | own code too
        clear | trace | the trace so far is forgotten
        expect | mapping | the checks | own code too
        press | text | the person taps a view, by its words, what VoiceOver says of it or its identifier | own code
        enter | mapping | the person types into a field | own code
        submit | text | the person presses the return key in a field | own code
        hold | text | the person presses a view long, which opens a menu | own code
        scroll | up, down or mapping | the person scrolls by half a screen | own code
        swipe | mapping | the person swipes on a view, which shows what a row has at its side | own code
        input | anything | a value for the app's own interface | own code

        # enter | what is typed
        text | text, needed | what the field says then
        into | text | the field; the one in front if left out
        submit | yes or no | whether the return key is pressed then; no if left out

        # scroll | which way, where and how far, where a word is not enough
        direction | up or down | which way; down if left out
        in | text | the table; the one in front if left out
        until | text | scrolls until this is written on the screen, 50 times at most

        # swipe | a short swipe
        on | text, needed | the view
        direction | left, right, up or down, needed | which way

        # push | a push: headers, keys of `aps`, custom data
        id | text | names it in this file; not sent; push-1, push-2, … if left out
        headers | mapping | apns-push-type (alert, background or voip), apns-priority (1, 5 or 10), apns-collapse-id, apns-expiration (0 or a time from now)
        alert | text or mapping | aps.alert
        badge | number | aps.badge
        sound | text or mapping | aps.sound
        thread-id | text | aps.thread-id
        category | text | aps.category
        content-available | 1 or 0 | aps.content-available; 0 is as without it
        mutable-content | 1 | aps.mutable-content
        target-content-id | text | aps.target-content-id
        interruption-level | passive, active, time-sensitive, critical | aps.interruption-level
        relevance-score | number from 0 to 1 | aps.relevance-score
        filter-criteria | text | aps.filter-criteria
        data | mapping | custom data beside aps
        size | number | the payload's bytes: the custom key `filler` makes it so large

        # alert | `aps.alert`, where a text is not enough
        title | text | the title
        subtitle | text | the subtitle
        body | text | the body
        launch-image | text | the image of the launch
        action-loc-key | text | what the alert's button says (iOS 3–9)
        title-loc-key | text | key of the title in the app's strings
        title-loc-args | list of texts | its arguments
        subtitle-loc-key | text | key of the subtitle
        subtitle-loc-args | list of texts | its arguments
        loc-key | text | key of the body
        loc-args | list of texts | its arguments
        summary-arg | text | what the group's summary says of it (iOS 12)
        summary-arg-count | number | how many it counts there

        # sound | `aps.sound`, where a name is not enough
        critical | 1 | whether it is a critical alert
        name | text, needed | the file, or default
        volume | number from 0 to 1 | how loud

        # local | a local notification the app adds
        id | text, needed | the request identifier
        title | text | the title
        body | text | the body
        sound | yes or no | whether the default sound plays; yes if left out
        badge | number | the badge
        category | text | the category
        thread | text | the thread identifier
        data | mapping | the userInfo
        in | time | presented after so long; at once if left out
        region | text | presented when the phone crosses the border of this region
        on | enter, leave or both | which way, with `region`; both if left out
        repeats | yes or no | whether it repeats; `in` is 1 min at least then

        # startActivity | a Live Activity the app requests
        id | text, needed | names it in this file
        content-state | mapping, needed | what it shows
        token | yes or no | whether it can be changed by push; yes if left out
        channel | text | the broadcast channel it listens to, instead of a token (iOS 18)

        # updateActivity | a new content of a Live Activity, by the app
        id | activity, needed | which
        content-state | mapping, needed | what it shows now

        # activityPush | a push to a Live Activity, or one that starts it
        event | start, update or end, needed | aps.event
        id | activity, needed | which; with `start`, the name it gets in this file
        \(Self.activityContentKeys)
        attributes-type | text | aps.attributes-type, needed to start one
        attributes | mapping | aps.attributes, needed to start one
        input-push-channel | text | aps.input-push-channel: the channel it listens to (iOS 18)

        # broadcast | a push to every Live Activity that listens to a channel (iOS 18)
        event | start, update or end, needed | aps.event
        channel | text, needed | the channel's id
        \(Self.activityContentKeys)

        # action step | an action the person chooses on a notification
        id | text, needed | the action's identifier
        on | notification, needed | the notification's id
        text | text | what is typed into a text-input action

        # message | a message somebody sends to the person, through the server
        id | text, needed | names it in this file | own code too
        from | text | who sends it; bob if left out | own code too
        for | text | for somebody who was signed in here before: a push with that person's recipient tag, and nothing else
        in | conversation | `PR`, `GRP:team`, `CS:help`, …; PR, one-to-one with the sender, if left out
        to | text | who gets it; needed, and `in` is not | own code
        text | text | what it says; the id if left out, nothing with another `type` | own code too
        type | text | its type, such as RC:ImgMsg for an image; RC:TxtMsg if left out
        image | text | the URL of its image, with type RC:ImgMsg
        lifetime | time | how long it is good for; without end if left out
        push | mapping | the options of its notification, as `push` of the HTTP API
        command | yes or no | a command message: not kept, not counted
        notifies | yes or no | no: the sender asked for no notification
        recalls | message | the recall of an earlier message, by its id
        edits | message | an edit of an earlier message, by its id, which then says `text`
        mentions | all or list of people | whom it mentions; nobody if left out; not one-to-one
        contentMentions | all or list of people | whom its content alone mentions, in `mentionedInfo`
        answers | text | whose message it answers, with type RC:ReferenceMsg
        catchUp | yes or no | the app's connection breaks before it: the app finds it in the log when it has connected again
        namesAfter | time or never | when the app's info providers answer for it; at once if left out

        # custom | a custom message to the app
        id | text, needed | names it in this file
        title | text | the title
        content | text | the content
        extras | mapping | the extras

        # set | switches in Settings
        notifications | on or off | Allow Notifications
        alert | on or off | banners
        sound | on or off | sounds
        badge | on or off | badges
        notificationCenter | on or off | Notification Center
        lockScreen | on or off | lock screen
        backgroundRefresh | on or off | Background App Refresh
        criticalAlert | on or off | Critical Alerts
        timeSensitive | on or off | Time Sensitive Notifications
        scheduledDelivery | on or off | delivery in the scheduled summary

        # quirks | the measured oddities of ios-delivery.md §14
        \(QuirkWords.table)

        # expect | what must have happened since the last `expect` or `clear`, and what must be so now
        callbacks | list of calls | every call into app and extension, in order
        shown | nothing, list of banner, panel, list, sound, badge, or list of such by notification | what the person saw or heard: one notification, or several in order
        reasons | list of \(ExpectKey.reasons.words) | why each notification was presented as it was, those with nothing to see or hear included
        wakes | list of \(ExpectKey.wakes.words) | what became of the wakes silent pushes asked for
        undelivered | list of \(UndeliveredReason.allCases.map(\.rawValue).joined(separator: ", ")), each `of` an id | pushes that never reached the phone, and why
        results | list of \(ExpectKey.results.words) | what fetch completion handlers were called with
        started | list of \(ExpectKey.started.words) | which processes were started
        ended | list of \(ExpectKey.ended.words) | why processes ended
        faults | list of texts | what was done against the rules, each by a part of its text; without this key there must be none | own code too
        activityChanges | list of \(ActivityUpdate.Change.allCases.map(\.rawValue).joined(separator: ", ")), each `of` an id | what became of Live Activities, in order
        state | \(ExpectKey.state.words) | the app's state now | own code too
        badge | number | the number on the icon now | own code too
        list | list of ids | Notification Center now, newest first | own code too
        banners | list of ids | the banners on the screen now, newest first | own code too
        panel | list of ids | the alert panel on the screen now, or none (iOS 3–9) | own code too
        summary | list of ids | what waits for the scheduled summary now, newest first
        activities | list of ids, or of id: content-state | the Live Activities on the lock screen now, in the order they were started
        calls | list of texts | the calls on the screen now by their callers, with ` answered` behind those that were | own code too
        prompt | yes or no | whether the permission prompt is on the screen | own code too
        lock | \(ExpectKey.lock.words) | whether the phone is locked now | own code too
        inForeground | yes or no | whether the app is on the screen now | own code too
        prewarmed | yes or no | whether the app has a process that was started in advance and not launched
        screen | text; mapping with own code | what the app says it shows, empty for nothing; with own code what stands on the screen | own code too
        says | list of texts | what the app itself says of its screen now, as `name: value` | own code
        within | time | how long the rest may take to become so; `stepTime` if left out | own code
        texts | list of texts | what the entries of the list say, newest first: title, subtitle and body with bars between | own code too
        options | list of texts | how the entries of the list come, newest first: sound, level, category, thread, relevance and the app's own members with bars between, without what is as usual
        people | list of texts | whose messages the entries of the list are that are communication notifications, newest first: sender, group and how many get it, mention, reply and portrait with bars between
        server | list of texts | what the SDK told its server since: run states, settled messages, hang-ups
        opened | list of conversations | the conversations the SDK opened since
        customMessages | list of ids | the custom messages the app received since, by id
        settled | list of texts | how the SDK settled messages since, as `id: disposition`
        told | list of texts | what the SDK told the app since: arrivals, responses, and its own rings before iOS 10
        way | list of texts | the steps by which the screens of opened notifications are reached since
        attached | list of texts | what the SDK's extension put beside the text of pushes since, as `id: image` and `id: from …`
        donations | list of texts | what the SDK has told the system of messages for its suggestions, oldest first, as `from …` and `to …`
        runState | \(ExpectKey.runState.words) | the SDK's run state now
        anyOf | list of two or more expectations | of which at least one holds, beside the other keys

        # screen | what must stand on the screen, and what must not; each text is the whole of what is written on a view or VoiceOver says of it
        shows | list of texts | these are there
        contains | list of texts | texts with these parts are there
        lacks | list of texts | these are not there

        # value | the value of a key of `expect`, where it is not one alone; exactly one key
        anyOf | list of two or more values | one of these is there
        anywhere | list as without it | these are there, in any order and with others before, between and after
        """

    private static let activityContentKeys =
        """
        content-state | mapping | aps.content-state
        age | time | aps.timestamp: how long before now it was written; 0 s if left out
        stale-date | time | aps.stale-date, from now
        dismissal-date | time | aps.dismissal-date, from now
        alert | text or mapping | aps.alert: the phone lights up or shows a banner
        sound | text or mapping | what it plays, with `alert`
        """
}

/// Data written as text: one row a line, its cells with bars between.
enum Table {
    /// The rows, each with its cells without the spaces around them.
    static func rows(of text: String) -> [[String]] {
        text.split(separator: "\n").map { line in line.split(separator: "|").map { Self.trimmed($0) } }
    }

    static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
