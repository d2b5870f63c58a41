import PhoneCore
import TidingsModel

/// One key of the format: what may be written there. The reader takes exactly these; `tidings scenario --explain` lists them.
package struct ScenarioKey: Hashable, Sendable {
    package var name: String
    package var type: String
    package var summary: String
    package var cases: Cases

    /// Which cases have it, by what runs in them.
    package enum Cases: String, Hashable, Sendable {
        case simulated
        case ownCode = "own code"
        case all = "own code too"
    }

    var isNeeded: Bool { self.type.hasSuffix(", needed") }
}

package enum ScenarioSection: String, Hashable, Sendable, CaseIterable {
    case file, scenarioCase = "case", variations = "for", column, phone, app, categories, action, backgroundTask,
        answers
    case answer, extensionChange = "serviceExtension", bestAttempt, sdk, storedBadge = "badge", ledger, providers,
        words, foreground, navigation, row = "table", server, steps
    case enter, scroll, swipe, screen
    case push, alert, sound, local
    case startActivity, updateActivity, activityPush, broadcast, notificationAction = "action step"
    case message, customMessage = "custom", settings = "set", quirks, expect, expectedValue = "value"

    package var keys: [ScenarioKey] { self.format.rows }
    package var summary: String { self.format.summary }

    subscript(name: String) -> ScenarioKey? { self.keys.first { $0.name == name } }

    private var format: (rows: [ScenarioKey], summary: String) { Self.formats[self.rawValue] ?? ([], "") }

    /// By raw value.
    private static let formats: [String: (rows: [ScenarioKey], summary: String)] = {
        var formats: [String: (rows: [ScenarioKey], summary: String)] = [:]
        var section = ""
        for row in Table.rows(of: Self.setupFormat + "\n" + Self.stepFormat) {
            if row[0].hasPrefix("# ") {
                section = String(row[0].dropFirst(2))
                formats[section] = ([], row[1])
            } else {
                let cases = row.count > 3 ? ScenarioKey.Cases(rawValue: row[3]) : nil
                formats[section]?.rows.append(
                    ScenarioKey(name: row[0], type: row[1], summary: row[2], cases: cases ?? .simulated))
            }
        }
        return formats
    }()

    /// The keys of a file, its phone and its app: for each section its name and its meaning, then one key a line with its name,
    /// its type, its meaning and, where a case with an app's own code has not all of them, its cases.
    private static let setupFormat =
        """
        # file | the whole file
        title | text, needed | what the file is about
        source | text | where the expectations come from
        requirement | up to 3 of S0.1–S4.13 | the requirements these cases hold
        define | anything | a place for YAML anchors; not looked at
        phone | mapping | the phone of every case
        app | path or mapping | the app of every case; a path is that of its `executable`
        server | yes or mapping | the server of every case, with `app.executable`
        stepTime | time | how long a step waits for the screen, with `app.executable`; 10 s if left out
        caseTime | time | how long a case may take, with `app.executable`; 2 min if left out
        cases | list, needed | the cases

        # case | one case under `cases`
        case | text, needed | its name, unique in the file | own code too
        requirement | up to 3 of S0.1–S4.13 | the requirements this case holds, besides the file's | own code too
        phone | mapping | laid over the file's phone | own code too
        app | path or mapping | laid over the file's app | own code too
        server | yes or mapping | laid over the file's server | own code
        stepTime | time | instead of the file's | own code
        caseTime | time | instead of the file's | own code
        for | mapping | variations | own code too
        start | state or code | where the app is when the trace begins: \(StartState.allCases.map { "\($0.rawValue) (\($0.code))" }.joined(separator: ", ")); not running if left out
        before | list of steps | what happens with the app in the foreground before that, outside the trace
        steps | list of steps | what happens and what is expected | own code too
        columns | mapping | instead of steps: what happens, by a name for each column of the matrix
        matrix | mapping | with columns: for each start state what is expected in each column

        # for | one case for each combination of the values
        ios | list of versions | one case for each version
        start | list of states | one case for each state
        lifecycle | list of application, scenes | one case for each life-cycle

        # column | one column of a `matrix`
        before | list of steps | as `before` of a case
        steps | list of steps, needed | what happens; the cell of the matrix is expected afterwards

        # phone | the phone; a case's own is laid over the file's
        ios | version such as 17 or 9.3 | what it runs; 17 if left out | own code too
        focus | off, on, timeSensitive, allowsApp | a Focus, as the step of this name | own code too
        notifications | allowed, denied, notDetermined, provisional | what the person answered; allowed if left out | own code too
        settings | mapping | switches of the app in Settings, turned after the answer
        lowPowerMode | on or off | Low Power Mode | own code too
        airplaneMode | on or off | no network | own code too
        backgroundRefresh | on, off, restricted | Background App Refresh of the whole phone, as the step of this name | own code too
        mute | on or off | the ring/silent switch; on is silent | own code too
        alertStyle | \(AlertStyle.words.joined(separator: ", ")) | how the app's alerts appear | own code too
        summaryTimes | list of times such as 08:00 | when the scheduled summary is delivered | own code too
        clock | time such as 07:30 | what the phone's clock says when the trace begins
        locked | yes or no | locked when the trace begins | own code too
        wakesPerHour | number | the budget of silent pushes per hour; 3 if left out | own code too
        wakesPerDay | number | the budget of silent pushes per day; 40 if left out | own code too
        pendingLimit | number | scheduled notifications per app; 64 if left out | own code too
        backgroundTime | time | background task time; the version's own if left out | own code too
        extensionMemory | size such as 24 MB | what an extension may use; 24 MB if left out
        payloadLimit | number | the largest payload in bytes; the era's own if left out | own code too
        quirks | mapping | the measured oddities of ios-delivery.md §14 | own code too

        # app | the app; a case's own is laid over the file's
        executable | path | the app's own code runs: from the file's folder, or beside the tool | own code
        extension | path | the executable of its notification service extension, with `executable`; none if left out | own code
        bundle | text | its bundle identifier, with `executable`; com.example.chat if left out | own code
        appGroup | text | the app group of both, with `executable`; group.com.example.chat if left out | own code
        environment | mapping of name to text | variables of its processes, with `executable`; none if left out | own code
        lifecycle | application or scenes | who is told about the life-cycle; scenes if left out | own code too
        implements | list of delegate methods | \(MethodWords.words.joined(separator: ", ")); Fetch, willPresent and didReceive if left out | own code too
        setsDelegate | didFinishLaunching, didBecomeActive, never | when it sets the UNUserNotificationCenter delegate; didFinishLaunching if left out
        registers | yes, no or everyLaunch | whether it calls registerForRemoteNotifications: yes at its first launch alone; yes if left out
        backgroundModes | list of remote-notification, fetch, voip | remote-notification if left out; with voip it registers with PushKit at launch | own code too
        serviceExtension | none, unchanged or mapping | unchanged if left out
        entitlements | list of \(Entitlement.words.joined(separator: ", ")) | none if left out | own code too
        strings | mapping of key to text | its Localizable.strings; none if left out | own code too
        refreshTask | yes or no; text with `executable` | whether it declares and registers a BGAppRefreshTask, which it completes; no if left out; with `executable` the identifier it declares | own code too
        categories | list | what it registers at launch
        backgroundTask | mapping | the task it begins when it enters the background; none if left out
        answers | mapping | how it answers calls
        sdk | mapping | the SDK behind the app

        # categories | one notification category under `app.categories`
        id | text, needed | the identifier
        actions | list | the actions offered
        customDismissAction | yes or no | whether a dismissal is reported

        # action | one action of a category
        id | text, needed | the identifier
        title | text | what the button says; the identifier if left out
        options | list of foreground, authenticationRequired, destructive | UNNotificationActionOptions
        textInput | yes or no | whether it asks for text

        # backgroundTask | what the app does about its background time
        endsAfter | time or never | when it ends the task by itself; never if left out
        endsOnExpiration | yes or no | whether it ends it in the expiration handler; yes if left out

        # answers | how the app answers the calls of iOS; what is not named returns at once
        willPresent | list of banner, list, sound, badge, alert; never; or answer | the options
        didReceive | returns, never or answer | when its handler is called
        didReceiveRemoteNotificationFetch | newData, noData, failed, never or answer | the UIBackgroundFetchResult
        performFetch | newData, noData, failed, never or answer | the UIBackgroundFetchResult
        didReceiveIncomingPush | reportsCall, returns, never or answer | a VoIP push: reports an incoming call first, or does not; reportsCall if left out
        serviceExtension | returns, never, crashes, exits or answer | when the content handler is called; or the process dies or leaves without a call
        didFinishLaunching | returns, never or answer | when it returns
        didEnterBackground | returns, never or answer | when it returns

        # answer | one answer, where a word is not enough
        result | as the short form | the answer
        after | time | how long it takes; at once if left out
        twice | yes or no | whether the handler is called a second time
        of | mapping of notification to short form or answer | how it answers for these notifications instead

        # serviceExtension | what the notification service extension makes of a push
        \(Self.contentKeys)
        memory | size such as 24 MB | how much memory it uses for a push
        bestAttempt | changed or mapping | what it delivers when its time expires: what it would have in time, or another content; nothing if left out
        removes | mapping of notification to list of notifications | what it takes out of the list when this push comes

        # bestAttempt | the content the extension hands out when its time expires
        \(Self.contentKeys)

        # sdk | puts the SDK's decisions behind the app's callbacks, with a server
        person | text | who is signed in; alice if left out
        kit | yes or no | whether the app library runs, or the core library alone; yes if left out
        localNotifications | on or off | the global switch; on if left out
        showsContent | yes or no | whether a local notification says the text; yes if left out
        customCallback | none, handled, notHandled, never or answer | the custom callback: handled means the app shows the message itself; none if left out
        providers | mapping | the info providers; user and group know every name if left out
        profiles | mapping of person to text | what the server calls people; nobody if left out
        portraits | mapping of person to text | the URLs of the portraits that the server has of them; none if left out
        levels | mapping of conversation to \(NotificationLevel.allCases.map(\.rawValue).joined(separator: ", ")) | how loud a conversation may be
        language | text | the language the person has set; none if left out
        hidesContent | yes or no | whether the person has set that notifications hide what messages say; no if left out
        words | mapping | the app's own words; the built-in ones if left out
        unread | number | unread messages in the store at the start; 0 if left out
        position | number | how far the server's log and the phone's reach at the start; 0 if left out
        phonePosition | number | how far the phone's store and app group reach when the steps begin; `position` if left out
        badge | number, none or mapping | the badge stored in the app group; none: nothing is stored
        ledger | mapping of message to shown, claimed, recalled or mapping | what the ledger knows of messages that come later
        offline | yes or no | whether the server cannot be reached
        actions | yes or no | whether the app registers the kit's actions tidings.reply and tidings.mark_read; no if left out
        fetchesMissed | yes or no | whether the service extension asks the server for what it missed; yes if left out
        pushText | extension, alert or id_only | where the text of the server's pushes stands; extension if left out
        onlySender | yes or no | whether the app has declared that nobody else pushes to it; no if left out
        push | mapping | the app's options of notifications, as `push` of the HTTP API; none if left out
        managesBadge | yes or no | whether the SDK writes the number on the icon; yes if left out
        presents | list of banner, list, sound, badge; never; or answer | what the app chooses when the kit asks it in the foreground; the kit's own choice if it or `result` is left out
        foreground | mapping | what the SDK does by itself in the foreground: for messages, and before iOS 10 for pushes
        navigation | mapping | what is on the screen when a notification is opened, and which screen is put there in which way; an empty stack and no table if left out
        imageHosts | list of texts | where images of notifications may be fetched from; whatever is asked for there is an image; none if left out
        centerTakes | time | how long it takes until the notification centre does what SDK and extension ask it for; no time if left out
        communication | yes or no | whether SDK and extension make notifications those of people, from iOS 15; no if left out

        # badge | the badge stored in the app group, where a number is not enough
        server | number, needed | unread messages
        foreign | number | other senders' pushes since; -server or more, 0 if left out
        position | number | the log position `server` was counted at; 0 if left out

        # ledger | what the ledger knows of one message, where a word is not enough
        state | shown, claimed, recalled | what is known; shown if left out
        by | app or extension | by whom; app, an earlier process of it, if left out
        age | time | how long before the steps; 0 s if left out

        # providers | what the app's info providers know; a missing one is no provider
        user | text | the sender's name
        group | text | the group's name
        member | text | the sender's name in the group
        memberCount | number | how many members the group has; not known if left out

        # words | the app's own words of notifications, at the server as on the phone; what is left out is built in
        language | text | theirs, and that of people who have set none; en if left out
        kinds | mapping of message type to text | for messages without a text
        other | text | for messages without a text whose type has none
        neutral | text | the alert of a push until the extension writes the text
        hidden | text | where content is hidden
        recalled | text | where a message was recalled
        several | text | of several messages in one notification
        stripped | text | where a push is for somebody else

        # foreground | what the SDK does by itself where the system shows and plays nothing
        banner | yes or no | whether the app shows a banner of its own; yes if left out
        sound | yes or no | whether a sound is played; yes if left out
        vibration | yes or no | whether the phone vibrates; yes if left out
        messages | yes or no | whether a message rings that comes over the connection for another screen, on any iOS; no if left out
        conversation | conversation | the one on the screen, whose messages do not ring; none if left out

        # navigation | the app's screens when a notification is opened
        table | list of mappings | the app's table of screens; without a row for them conversations go from the root in the first tab, and pushes of the app's own are left to it
        tabs | list of lists of screens | each tab's stack above its root: a conversation, `detail` and a screen's name, or `other` for a screen that is none of the SDK's
        selected | number | the tab that is open, with `tabs`; 0 if left out
        stack | list of screens | the one stack of an app without a tab bar

        # table | one row of the app's table of screens
        conversations | all or a kind such as GRP | the chat screens the row is for: of one kind, or of all that have no row; this or `types`
        types | list of texts | the values of `type` in pushes of the app's own that the row is for
        screen | text | the name of the screen these open, with `types`
        policy | fromRoot or onTop | pops to the root before it pushes, or pushes on what is open; fromRoot if left out
        tab | number | the tab it chooses before that, counted from 0; if left out the first with fromRoot, the one that is open with onTop
        bottomBar | yes or no | whether the bottom bar stays under the screen; no if left out

        # server | a server and a local APNs of the case's own, of which the app hears by `${…}`; yes is one as it is
        people | mapping of user to password | who can sign in at the example's backend, which runs then; none if left out
        settings | mapping of key to value | keys of the server's configuration, such as lease.grace_milliseconds; its defaults if left out
        """

    private static let contentKeys =
        """
        title | text | the new title
        subtitle | text | the new subtitle
        body | text | the new body
        badge | number | the new badge
        sound | none | takes the sound away
        interruptionLevel | passive, active, time-sensitive, critical | the new level
        empty | yes or no | delivers a content without anything but `badge`
        """
}
