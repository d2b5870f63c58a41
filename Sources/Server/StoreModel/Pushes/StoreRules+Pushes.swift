package import TidingsModel

// Pushes to an audience, and what an app calls its people.
extension StoreRules {
    /// Jobs of an app that are unfinished.
    package static let pushJobsMax = 1_000
    /// Messages of one step.
    package static let pushStepMax = 1_000
    /// So many people one step looks at for each message it may send.
    package static let pushLookFactor = 16
    package static let pushRatesAllowed = 1...1_000_000
    package static let pushPageMax = 100
    /// People that one command counts at most.
    package static let pushCountMax = 16_000
    package static let pushRecipientLookMax = 1_000

    /// Returns the fault of a new job, whatever the store holds.
    package static func fault(in job: PushJob) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            try InvalidField.check(
                job.account.type.isService, "account.kind",
                "must be CS, SYS, MC, MP or PH, got \(job.account.type.rawValue)")
            _ = try UserID.validated(job.account.target, field: "account.id")
            try job.audience.validate()
            try job.localTime?.validate()
            try InvalidField.check(
                job.lateMilliseconds, in: 0...PushJob.lateMax, "late_ms", unit: " milliseconds")
            if let rate = job.ratePerSecond {
                try InvalidField.check(rate, in: Self.pushRatesAllowed, "rate_per_second")
            }
            if let lifetime = job.lifetimeMilliseconds {
                try InvalidField.check(lifetime, in: 1...MessageDraft.lifetimeMax, "lifetime_ms", unit: " milliseconds")
            }
        }
    }

    /// - Parameter isDeclared: there is such an account.
    package static func refusal(_ job: PushJob, isDeclared: Bool, unfinished: Int) -> ServerFrame.Problem? {
        if job.account.type.needsAccount, !isDeclared {
            return .init(
                code: .notAllowed, field: "account",
                rule: "must be an account of kind \(job.account.type.rawValue) that the app's backend has declared")
        }
        guard unfinished >= Self.pushJobsMax else { return nil }
        return .init(
            code: .rateLimited, field: "push",
            rule: "must wait: the app has \(Self.pushJobsMax) pushes that are not finished",
            retryAfterMilliseconds: 1_000)
    }

    /// A job of an account that was taken back since, as it is from now on: what it would send is refused as that account's messages are. nil
    /// for another one.
    package static func stop(_ job: PushJob, isDeclared: Bool, at: Int64) -> PushJob? {
        guard job.state == .running, job.account.type.needsAccount, !isDeclared else { return nil }
        var stopped = job
        stopped.state = .cancelled
        stopped.changedAt = at
        return stopped
    }

    package static func unknownPush(_ id: PushJobID) -> ServerFrame.Problem {
        .init(code: .unknownMessage, field: "push", rule: "must name a push of this app, got \(id)")
    }

    package static func fault(inStep ids: [MessageID], of job: PushJob) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            try InvalidField.check(ids.count, in: 1...Self.pushStepMax, "ids")
            try InvalidField.check(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }, "ids", "must ascend")
            try InvalidField.check(
                job.state == .running || job.state == .recalling, "push",
                "must be running, or recalling what it has sent: it is \(job.state.rawValue)")
        }
    }

    /// The job after the change; itself if nothing changes.
    package static func job(
        _ job: PushJob, after change: PushJobChange, at: Int64
    ) -> Result<PushJob, ServerFrame.Problem> {
        func refused(_ rule: String) -> Result<PushJob, ServerFrame.Problem> {
            .failure(.init(code: .notAllowed, field: "push", rule: "\(rule), it is \(job.state.rawValue)"))
        }
        var after = job
        switch (change, job.state) {
        case (.start, .scheduled) where job.isLate(at: at):
            after.missPass(at: at)
            return .success(after)
        case (.start, .scheduled): after.state = .running
        case (.start, .running): return .success(job)
        case (.start, .done), (.start, .cancelled), (.start, .missed), (.start, .recalling), (.start, .recalled):
            return refused("must be scheduled to start")
        case (.cancel, .scheduled), (.cancel, .running): after.state = .cancelled
        case (.cancel, .done), (.cancel, .cancelled), (.cancel, .missed), (.cancel, .recalling), (.cancel, .recalled):
            return .success(job)
        case (.recall, .recalling), (.recall, .recalled): return .success(job)
        // Between two passes of a local time it has sent something.
        case (.recall, .scheduled) where job.steps == 0: after.state = .cancelled
        case (.recall, .running) where job.steps == 0: after.state = .cancelled
        case (.recall, .done) where job.steps == 0, (.recall, .cancelled) where job.steps == 0,
            (.recall, .missed) where job.steps == 0:
            return .success(job)
        case (.recall, .scheduled), (.recall, .running), (.recall, .done), (.recall, .cancelled), (.recall, .missed):
            guard case .message = job.body else {
                return .failure(
                    .init(
                        code: .notAllowed, field: "push", rule: "must be one with a message: a custom one shows nothing"
                    ))
            }
            after.state = .recalling
            after.cursor = 0
        }
        after.changedAt = at
        return .success(after)
    }

    package static func fault(in change: LabelChange) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            switch change {
            case .aliases(let aliases):
                try InvalidField.check(Set(aliases).count, atMost: PersonLabels.aliasesMax, "aliases")
                for alias in aliases { try PersonLabels.check(alias.rawValue, "aliases") }
            case .tags(let tags):
                try InvalidField.check(Set(tags).count, atMost: PersonLabels.tagsMax, "tags")
                for tag in tags { try PersonLabels.check(tag, "tags") }
            }
        }
    }

    package static func fault(inCounting audience: PushAudience, limit: Int) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            try audience.validate()
            try InvalidField.check(limit, in: 1...Self.pushCountMax, "limit")
        }
    }

    package static func fault(inPushPage limit: Int) -> ServerFrame.Problem? {
        (1...Self.pushPageMax).contains(limit)
            ? nil : .init(code: .invalidField, field: "limit", rule: "must be 1 to \(Self.pushPageMax), got \(limit)")
    }
}

extension PersonLabels {
    package static func check(_ label: String, _ field: String) throws(InvalidField) {
        _ = try UserID.validated(label, field: field)
    }
}

extension PushAudience {
    /// The most people of all its parts together.
    package static let usersMax = 1_000
    package static let partsMax = 100
    package static let depthMax = 8

    /// Throws `InvalidField` naming `audience`.
    package func validate() throws(InvalidField) {
        var (users, parts) = (0, 0)
        try self.check(depth: 1, users: &users, parts: &parts)
    }

    private func check(depth: Int, users: inout Int, parts: inout Int) throws(InvalidField) {
        let field = "audience"
        let tooMany = "must name at most \(Self.usersMax) users and devices"
        parts += 1
        try InvalidField.check(depth <= Self.depthMax, field, "must be nested at most \(Self.depthMax) deep")
        try InvalidField.check(parts <= Self.partsMax, field, "must have at most \(Self.partsMax) parts")
        switch self {
        case .everybody: break
        case .users(let named):
            users += named.count
            try InvalidField.check(!named.isEmpty, field, "must name users where it has any")
            try InvalidField.check(users <= Self.usersMax, field, tooMany)
            for user in named { _ = try UserID.validated(user.rawValue, field: "\(field).users") }
        case .devices(let named):
            users += named.count
            try InvalidField.check(!named.isEmpty, field, "must name devices where it has any")
            try InvalidField.check(users <= Self.usersMax, field, tooMany)
            for one in named {
                _ = try UserID.validated(one.user.rawValue, field: "\(field).devices.user")
                _ = try DeviceID.validated(one.device.rawValue, field: "\(field).devices.device")
            }
        case .alias(let alias): try PersonLabels.check(alias.rawValue, "\(field).alias")
        case .tag(let tag): try PersonLabels.check(tag, "\(field).tag")
        case .not(let part): try part.check(depth: depth + 1, users: &users, parts: &parts)
        case .all(let inner), .any(let inner):
            try InvalidField.check(!inner.isEmpty, field, "must not have an empty all or any")
            for part in inner { try part.check(depth: depth + 1, users: &users, parts: &parts) }
        }
    }
}
