import GRDB
import StoreMachine

struct Statements {
    let begin, commit, rollback: SQLStatement
    let insertRow, updateRow, rowAt, firstRow: SQLStatement
    let loadStore, setEpoch, setDerived: SQLStatement
    let personByKey, personByNumber, lastPersonNumber, allPeople, peopleAfter: SQLStatement
    let insertPerson, updatePerson: SQLStatement
    let updateSettings, updateAccount, updateProfile: SQLStatement
    let lastChunk, chunkAt, chunksFrom, putChunk: SQLStatement
    let conversationState, allConversationStates, putConversationState: SQLStatement
    let sentMessage, sentMessages, insertSentMessage: SQLStatement
    let devices, deviceStatuses, putDevice, deleteDevice, devicesWithToken: SQLStatement
    let openLegs, putOpenLeg, deleteOpenLeg: SQLStatement
    let conversationByKey, conversationByNumber, lastConversationNumber, allConversations, putConversation: SQLStatement
    let conversationsAfter: SQLStatement
    let newestConversations: SQLStatement
    let membership, insertMembership: SQLStatement
    let indexOf, insertIndex, idsBefore: SQLStatement
    let revision, putRevision: SQLStatement
    let deleted, allDeleted, insertDeleted: SQLStatement
    let receipt, insertReceipt: SQLStatement
    let customMessage, insertCustomMessage: SQLStatement
    let roomMessages, insertRoomMessage, pruneRoom: SQLStatement
    let allObjectNames, deleteObjectNames, insertObjectName: SQLStatement
    let allAccounts, insertAccount, deleteAccount: SQLStatement
    let follower, followersAfter, followerCounts, allFollowers, insertFollower, deleteFollower: SQLStatement
    let allApps, putApp, allOperators, putOperator, deleteOperator, allKeyUses, putKeyUse, deleteKeyUse: SQLStatement
    let lastAudit, audit, auditOfApp, auditByActor, auditOfAppByActor, putAudit, pruneAudit: SQLStatement
    let keptAnswer, keptAnswers, putKeptAnswer, forgetKeptAnswer, allKeptAnswers, keptCounts: SQLStatement
    let allStorage, putStorage: SQLStatement
    let mediaUses, insertMediaUse: SQLStatement
    let push, putPush, pushesBefore, allPushes, unfinishedPushes, pushStep, insertPushStep: SQLStatement
    let pushEnd, insertPushEnd, pushReached, insertPushReached, pushesReached, personFacts: SQLStatement
    let alias, allAliases, putAlias, deleteAlias, updateLabels: SQLStatement
    let pending, pendingPerson: SQLStatement
    let openings, insertOpening, forgetOpenings: SQLStatement
    let allSetAside, insertSetAside: SQLStatement

    // tidy: long because it is a list.
    init(_ database: Database) throws {
        func prepare(_ sql: String) throws -> SQLStatement { try SQLStatement(database, sql) }
        self.begin = try prepare("BEGIN IMMEDIATE")
        self.commit = try prepare("COMMIT")
        self.rollback = try prepare("ROLLBACK")
        self.insertRow = try prepare("INSERT INTO journal (position, records) VALUES (?, ?)")
        self.updateRow = try prepare("UPDATE journal SET records = ? WHERE position = ?")
        self.rowAt = try prepare(
            "SELECT position, records FROM journal WHERE position <= ? ORDER BY position DESC LIMIT 1")
        self.firstRow = try prepare("SELECT position FROM journal WHERE position >= ? ORDER BY position LIMIT 1")
        self.loadStore = try prepare(
            "SELECT epoch, watermark, indexed, last_message, identity, generation FROM store")
        self.setEpoch = try prepare("UPDATE store SET epoch = ?, identity = ?, generation = ?")
        self.setDerived = try prepare("UPDATE store SET watermark = ?, indexed = ?, last_message = ?")

        let person = """
            SELECT number, app, user, head, unread, applied, unread_all, mentions, settings, signed_in,
                ban, tokens_not_before, name, portrait, drafts, labels FROM person
            """
        self.peopleAfter = try prepare(
            """
            SELECT user, ban, signed_in, unread FROM person WHERE app = ? AND user > ? AND (head > 0 OR signed_in > 0
                OR ban IS NOT NULL OR tokens_not_before IS NOT NULL OR name IS NOT NULL OR portrait IS NOT NULL OR labels IS NOT NULL)
            ORDER BY user LIMIT ?
            """)
        self.personByKey = try prepare("\(person) WHERE app = ? AND user = ?")
        self.personByNumber = try prepare("\(person) WHERE number = ?")
        self.lastPersonNumber = try prepare("SELECT coalesce(max(number), 0) FROM person")
        self.allPeople = try prepare("SELECT app, user FROM person")
        self.insertPerson = try prepare(
            """
            INSERT INTO person (number, app, user, partition, head, unread, applied, unread_all, mentions, signed_in)
            VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, 0)
            """)
        self.updatePerson = try prepare(
            """
            UPDATE person SET head = ?, unread = ?, applied = ?, unread_all = ?, mentions = ?, signed_in = ?
            WHERE number = ?
            """)
        self.updateSettings = try prepare("UPDATE person SET settings = ?, drafts = ? WHERE number = ?")
        self.updateProfile = try prepare("UPDATE person SET name = ?, portrait = ? WHERE number = ?")
        self.updateAccount = try prepare("UPDATE person SET ban = ?, tokens_not_before = ? WHERE number = ?")

        self.lastChunk = try prepare(
            "SELECT position, entries FROM person_log WHERE person = ? ORDER BY position DESC LIMIT 1")
        self.chunkAt = try prepare(
            """
            SELECT position, entries FROM person_log WHERE person = ? AND position <= ? ORDER BY position DESC LIMIT 1
            """)
        self.chunksFrom = try prepare(
            """
            SELECT position, entries FROM person_log WHERE person = ?1 AND position < ?3 AND position >= coalesce(
                (SELECT max(position) FROM person_log WHERE person = ?1 AND position <= ?2), 0)
            ORDER BY position
            """)
        self.putChunk = try prepare(
            "INSERT OR REPLACE INTO person_log (person, position, entries) VALUES (?, ?, ?)")

        self.conversationState = try prepare(
            """
            SELECT unread, counted, read, mentions, recalled, last, wrote, listed FROM person_conversation
            WHERE person = ? AND conversation = ?
            """)
        self.allConversationStates = try prepare(
            "SELECT conversation FROM person_conversation WHERE person = ? ORDER BY conversation")
        self.newestConversations = try prepare(
            """
            SELECT conversation, listed FROM person_conversation WHERE person = ? AND listed > 0 AND listed < ?
            ORDER BY listed DESC LIMIT ?
            """)
        self.putConversationState = try prepare(
            """
            INSERT OR REPLACE INTO person_conversation (person, conversation, unread, counted, read, mentions,
                recalled, last, wrote, listed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        self.sentMessage = try prepare("SELECT message, sent_at FROM client_message WHERE person = ? AND id = ?")
        self.sentMessages = try prepare("SELECT id, message FROM client_message WHERE person = ? LIMIT ?")
        self.insertSentMessage = try prepare(
            "INSERT OR IGNORE INTO client_message (person, id, message, sent_at) VALUES (?, ?, ?, ?)")

        self.devices = try prepare(
            """
            SELECT id, platform, push, token, environment, topic, push_at, push_reason, settled, decided, since,
                signed_in_at, signed_out, push_accepted, unpushed, voip, status
                FROM device WHERE person = ? ORDER BY id
            """)
        self.putDevice = try prepare(
            "INSERT OR REPLACE INTO device VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        self.deviceStatuses = try prepare(
            "SELECT id, status FROM device WHERE person = ? AND signed_out = 0 AND status IS NOT NULL")
        self.deleteDevice = try prepare("DELETE FROM device WHERE person = ? AND id = ?")
        self.devicesWithToken = try prepare(
            """
            SELECT app, user, id FROM device JOIN person ON person.number = device.person
                WHERE token = ?1 OR voip_token = ?1
            """)
        self.openLegs = try prepare(
            """
            SELECT message, device, position, wait, apns_id, attempts, not_before, push_job, steps FROM open_leg
            WHERE person = ?
            """)
        self.putOpenLeg = try prepare("INSERT OR REPLACE INTO open_leg VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        self.deleteOpenLeg = try prepare("DELETE FROM open_leg WHERE person = ? AND message = ? AND device = ?")

        let conversation = """
            SELECT number, app, type, target, name, version, portrait, dissolved, ranks, bans, mutes, only_admins_write, invited,
                push
            FROM conversation
            """
        self.conversationByKey = try prepare("\(conversation) WHERE app = ? AND type = ? AND target = ?")
        self.conversationByNumber = try prepare("\(conversation) WHERE number = ?")
        self.conversationsAfter = try prepare(
            """
            SELECT type, target, name, portrait, dissolved, number, version FROM conversation
            WHERE app = ? AND (type, target) > (?, ?) ORDER BY type, target LIMIT ?
            """)
        self.lastConversationNumber = try prepare("SELECT coalesce(max(number), 0) FROM conversation")
        self.allConversations = try prepare("SELECT number FROM conversation")
        self.putConversation = try prepare(
            """
            INSERT OR REPLACE INTO conversation (number, app, type, target, name, version, portrait, dissolved, ranks,
                bans, mutes, only_admins_write, invited, push) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        self.membership = try prepare(
            """
            SELECT members FROM membership WHERE conversation = ? AND version <= ? ORDER BY version DESC LIMIT 1
            """)
        self.insertMembership = try prepare("INSERT OR REPLACE INTO membership VALUES (?, ?, ?)")

        self.indexOf = try prepare("SELECT position, more FROM message_index WHERE message = ? ORDER BY position")
        self.insertIndex = try prepare("INSERT OR REPLACE INTO message_index VALUES (?, ?, ?)")
        self.idsBefore = try prepare(
            """
            SELECT DISTINCT message FROM message_index WHERE message < ? AND message >= ? ORDER BY message DESC LIMIT ?
            """)
        self.revision = try prepare("SELECT recalled, edited FROM message_revision WHERE message = ?")
        self.putRevision = try prepare("INSERT OR REPLACE INTO message_revision VALUES (?, ?, ?)")
        self.deleted = try prepare("SELECT 1 FROM deleted_message WHERE person = ? AND message = ?")
        self.allDeleted = try prepare("SELECT message FROM deleted_message WHERE person = ?")
        self.insertDeleted = try prepare("INSERT OR IGNORE INTO deleted_message VALUES (?, ?)")
        self.receipt = try prepare(
            "SELECT 1 FROM receipt WHERE person = ? AND message = ? AND device = ? AND receipt = ?")
        self.insertReceipt = try prepare("INSERT OR IGNORE INTO receipt VALUES (?, ?, ?, ?)")
        self.customMessage = try prepare("SELECT message, sent_at FROM custom_message WHERE app = ? AND id = ?")
        self.insertCustomMessage = try prepare("INSERT OR IGNORE INTO custom_message VALUES (?, ?, ?, ?)")
        self.roomMessages = try prepare(
            "SELECT record FROM room_message WHERE conversation = ? AND record < ? ORDER BY record DESC")
        self.insertRoomMessage = try prepare("INSERT OR IGNORE INTO room_message VALUES (?, ?, ?)")
        self.pruneRoom = try prepare(
            """
            DELETE FROM room_message WHERE conversation = ?1 AND (message < ?3 OR record <= coalesce(
                (SELECT record FROM room_message WHERE conversation = ?1 ORDER BY record DESC LIMIT 1 OFFSET ?2), 0))
            """)
        self.allObjectNames = try prepare("SELECT app, name FROM object_name ORDER BY app, name")
        self.deleteObjectNames = try prepare("DELETE FROM object_name WHERE app = ?")
        self.insertObjectName = try prepare("INSERT INTO object_name VALUES (?, ?)")
        self.allAccounts = try prepare("SELECT app, type, id, details FROM account ORDER BY app, type, id")
        self.insertAccount = try prepare("INSERT OR REPLACE INTO account VALUES (?, ?, ?, ?)")
        self.deleteAccount = try prepare("DELETE FROM account WHERE app = ? AND type = ? AND id = ?")
        let follower = "FROM follower WHERE app = ? AND type = ? AND id = ?"
        self.follower = try prepare("SELECT 1 \(follower) AND user = ?")
        self.followersAfter = try prepare("SELECT user \(follower) AND user > ? ORDER BY user LIMIT ?")
        self.followerCounts = try prepare("SELECT app, type, id, count(*) FROM follower GROUP BY app, type, id")
        self.allFollowers = try prepare("SELECT app, type, id, user FROM follower")
        self.insertFollower = try prepare("INSERT OR IGNORE INTO follower VALUES (?, ?, ?, ?)")
        self.deleteFollower = try prepare("DELETE \(follower) AND user = ?")
        self.allApps = try prepare("SELECT record FROM app")
        self.putApp = try prepare("INSERT OR REPLACE INTO app VALUES (?, ?)")
        self.allOperators = try prepare("SELECT record FROM operator")
        self.putOperator = try prepare("INSERT OR REPLACE INTO operator VALUES (?, ?)")
        self.deleteOperator = try prepare("DELETE FROM operator WHERE name = ?")
        self.allKeyUses = try prepare("SELECT app, name, at FROM key_use")
        self.putKeyUse = try prepare("INSERT OR REPLACE INTO key_use VALUES (?, ?, ?)")
        self.deleteKeyUse = try prepare("DELETE FROM key_use WHERE app = ? AND name = ?")
        self.lastAudit = try prepare("SELECT ifnull(max(number), 0) FROM audit")
        func audit(_ more: String = "") throws -> SQLStatement {
            try prepare("SELECT record FROM audit WHERE number < ? AND number > ?\(more) ORDER BY number DESC")
        }
        self.audit = try audit()
        self.auditOfApp = try audit(" AND app = ?")
        self.auditByActor = try audit(" AND actor = ?")
        self.auditOfAppByActor = try audit(" AND app = ? AND actor = ?")
        self.putAudit = try prepare("INSERT OR REPLACE INTO audit VALUES (?, ?, ?, ?)")
        self.pruneAudit = try prepare("DELETE FROM audit WHERE number <= ?")
        self.keptAnswer = try prepare(
            """
            SELECT app, api_key, key, at, fingerprint, message, sent_at, repeated, invited FROM kept_answer
            WHERE app = ? AND api_key = ? AND key = ?
            """)
        self.putKeptAnswer = try prepare("INSERT INTO kept_answer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        self.forgetKeptAnswer = try prepare("DELETE FROM kept_answer WHERE app = ? AND api_key = ? AND key = ?")
        let kept = "SELECT app, api_key, key, at FROM kept_answer"
        self.keptAnswers = try prepare("\(kept) WHERE app = ? AND at <= ? ORDER BY at, api_key, key LIMIT ?")
        self.allKeptAnswers = try prepare("\(kept) WHERE at <= ? ORDER BY at, app, api_key, key LIMIT ?")
        self.keptCounts = try prepare("SELECT app, count(*) FROM kept_answer GROUP BY app")
        self.allStorage = try prepare("SELECT app, applied, counts FROM storage")
        self.putStorage = try prepare("INSERT OR REPLACE INTO storage VALUES (?, ?, ?)")
        self.mediaUses = try prepare(
            "SELECT message FROM media_use WHERE media = ? AND sender = ?")
        self.insertMediaUse = try prepare("INSERT OR IGNORE INTO media_use VALUES (?, ?, ?)")
        self.push = try prepare(
            "SELECT record, state, changed_at, cursor, steps, counts, applied, pass, app FROM push_job WHERE id = ?")
        self.putPush = try prepare("INSERT OR REPLACE INTO push_job VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        self.pushesBefore = try prepare("SELECT id FROM push_job WHERE app = ? AND id < ? ORDER BY id DESC LIMIT ?")
        self.allPushes = try prepare("SELECT id FROM push_job WHERE id < ? ORDER BY id DESC LIMIT ?")
        self.unfinishedPushes = try prepare(
            "SELECT app, id FROM push_job WHERE state IN ('scheduled', 'running', 'recalling')")
        self.pushStep = try prepare("SELECT record FROM push_step WHERE job = ? AND step = ?")
        self.insertPushStep = try prepare("INSERT OR REPLACE INTO push_step VALUES (?, ?, ?)")
        self.pushEnd = try prepare("SELECT 1 FROM push_end WHERE person = ? AND message = ? AND device = ?")
        self.insertPushEnd = try prepare("INSERT OR IGNORE INTO push_end VALUES (?, ?, ?)")
        self.pushReached = try prepare("SELECT 1 FROM push_reached WHERE person = ? AND job = ?")
        self.pushesReached = try prepare("SELECT job FROM push_reached WHERE person = ?")
        self.insertPushReached = try prepare("INSERT OR IGNORE INTO push_reached VALUES (?, ?)")
        self.personFacts = try prepare("SELECT app, user, signed_in, labels FROM person WHERE number = ?")
        self.alias = try prepare("SELECT user FROM alias WHERE app = ? AND alias = ?")
        self.allAliases = try prepare("SELECT app, alias, user FROM alias")
        self.putAlias = try prepare("INSERT OR REPLACE INTO alias VALUES (?, ?, ?)")
        self.deleteAlias = try prepare("DELETE FROM alias WHERE app = ? AND alias = ?")
        self.updateLabels = try prepare("UPDATE person SET labels = ? WHERE number = ?")
        self.pending = try prepare(
            """
            SELECT person.app, person.user FROM device JOIN person ON person.number = device.person
                WHERE signed_out = 0 AND max(settled, decided) < head
            UNION SELECT person.app, person.user FROM open_leg JOIN person ON person.number = open_leg.person
            """)
        self.pendingPerson = try prepare(
            """
            SELECT app, user FROM person WHERE number = ?1 AND (
                EXISTS (SELECT 1 FROM device WHERE person = ?1 AND signed_out = 0 AND max(settled, decided) < head)
                OR EXISTS (SELECT 1 FROM open_leg WHERE person = ?1))
            """)
        self.openings = try prepare("SELECT number, position FROM opening ORDER BY epoch")
        self.insertOpening = try prepare("INSERT INTO opening VALUES (?, ?, ?)")
        self.forgetOpenings = try prepare("DELETE FROM opening WHERE epoch <= ?")
        self.allSetAside = try prepare("SELECT number, app, user FROM set_aside ORDER BY number")
        self.insertSetAside = try prepare("INSERT OR REPLACE INTO set_aside VALUES (?, ?, ?)")
    }
}
