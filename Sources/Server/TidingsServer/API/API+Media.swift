import HTTPTypes
import Hummingbird
import NIOCore
import ServerCore
import StoreModel
import TidingsModel

/// Files: uploads by tus 1.0 (https://tus.io/protocols/resumable-upload) with its extensions creation, termination and checksum, downloads
/// with ranges (RFC 9110 §14). What is decided stands in `MediaRules`.
extension API {
    /// For phones, on their port.
    func addMedia(to router: Router<Context>) {
        let group = router.group("v1/media")
        group.on("uploads", method: .options) { request, _ in try self.uploadOptions(request) }
        group.post("uploads") { request, context in
            try await self.tus(request, context) {
                let owner = try await self.uploader(request, context)
                return try await self.createUpload(request, owner, try self.uploadKey(request))
            }
        }
        self.addUpload(to: group) { try await self.uploader($0, $1) }
        group.post("uploads/{id}") { try await self.override($0, $1) }
        group.get("{id}") { try await self.download($0, $1) }
        group.head("{id}") { try await self.download($0, $1) }
        group.delete("{id}") { try await self.deleteOwn($0, $1) }
    }

    /// One upload, the same for whoever is its owner.
    func addUpload(
        to group: RouterGroup<Context>,
        owner: @escaping @Sendable (Request, Context) async throws -> MediaShelf.Owner
    ) {
        group.head("uploads/{id}") { request, context in
            try await self.tus(request, context) {
                try self.uploadState(context, try await owner(request, context))
            }
        }
        group.patch("uploads/{id}") { request, context in
            try await self.tus(request, context) {
                try await self.appendToUpload(request, context, try await owner(request, context))
            }
        }
        group.delete("uploads/{id}") { request, context in
            try await self.tus(request, context) {
                try await self.terminateUpload(context, try await owner(request, context))
            }
        }
    }

    /// For clients behind something that lets no other methods through.
    private func override(_ request: Request, _ context: Context) async throws -> Response {
        try await self.tus(request, context) {
            let owner = try await self.uploader(request, context)
            switch request.headers[Tus.methodOverride] {
            case "PATCH"?: return try await self.appendToUpload(request, context, owner)
            case "DELETE"?: return try await self.terminateUpload(context, owner)
            case "HEAD"?: return try self.uploadState(context, owner)
            default:
                throw APIProblem(
                    .methodNotAllowed, field: "method", rule: "must be PATCH, DELETE or HEAD",
                    headers: [.allow: "DELETE, HEAD, PATCH"])
            }
        }
    }

    // MARK: - Who asks

    func shelf() throws -> MediaShelf {
        guard let shelf = self.media else {
            throw APIProblem(.mediaOff, field: "media.path", rule: "is not set: this server keeps no media")
        }
        return shelf
    }

    /// The person of a user token, as long as the core thinks it good.
    private func user(
        _ request: Request, _ context: Context, query: [String] = []
    ) throws -> (user: UserKey, issuedAt: Int64?) {
        let unauthorized = Self.unauthorized("must be \"Bearer TOKEN\" with a user token")
        guard let text = Self.bearer(request) else { throw unauthorized }
        switch self.tokens.verdict(on: text, device: nil, wallMilliseconds: Clocks.now().wall) {
        case .valid(let token, _):
            guard self.apps.app(token.user.app)?.record.isSuspended == false else { throw unauthorized }
            try context.count(for: token.user)
            try Self.checkQuery(request, query)
            return (token.user, token.issuedAt)
        case .keyPending:
            throw APIProblem(
                .told(.unavailable), field: "Authorization",
                rule: "holds a token signed with a key that is being looked for; try again",
                headers: [.retryAfter: "1"])
        case .invalid, .expired, .wrongApp, .notYetValid, .wrongAudience: throw unauthorized
        }
    }

    private func uploader(_ request: Request, _ context: Context) async throws -> MediaShelf.Owner {
        let (user, issuedAt) = try self.user(request, context)
        _ = try await self.mediaResult(of: .media(user, tokenIssuedAt: issuedAt, .account))
        return MediaShelf.Owner(user.app, user.user)
    }

    /// A token that the core does not think good any more is refused like any other that is not.
    private func mediaResult(of command: APICommand) async throws -> APIResult {
        let result = await self.core(command)
        guard case .refused(let problem) = result else { return result }
        switch problem.code {
        case .invalidToken, .tokenRevoked, .disabled:
            throw Self.unauthorized("must hold a token that was not revoked, of a person who is not banned")
        case .notAllowed: throw Self.unauthorized("must hold the token of somebody who has signed in")
        default: throw APIProblem(problem)  // tidy: the others are told as they are
        }
    }

    // MARK: - Uploading

    private func uploadOptions(_ request: Request) throws -> Response {
        let shelf = try self.shelf()
        var headers = Tus.versions
        headers[Tus.extensions] = "creation,termination,checksum"
        headers[Tus.maxSize] = "\(shelf.limits.bytesMax)"
        headers[Tus.checksumAlgorithm] = MediaChecksum.Algorithm.allCases.map(\.rawValue).joined(separator: ",")
        return Response(status: .noContent, headers: headers)
    }

    /// Every answer names the version, and no other is spoken.
    func tus(
        _ request: Request, _ context: Context, _ answer: () async throws -> Response
    ) async throws -> Response {
        do {
            guard request.headers[Tus.resumable] == Tus.version else {
                throw APIProblem(
                    .tusVersion, field: "Tus-Resumable", rule: "must be \(Tus.version)", headers: Tus.versions)
            }
            var response = try await Self.toldAsProblems(answer)
            response.headers[Tus.resumable] = Tus.version
            return response
        } catch var problem as APIProblem {
            problem.headers[Tus.resumable] = Tus.version
            throw problem
        } catch let invalid as InvalidField {
            var problem = APIProblem(invalid)
            problem.headers[Tus.resumable] = Tus.version
            throw problem
        }
    }

    static func toldAsProblems<Value>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let fault as MediaFault {
            throw APIProblem(fault)
        } catch let failure as MediaFailure {
            throw APIProblem(failure)
        } catch is MediaChecksum.Mismatch {
            throw APIProblem(
                .checksumMismatch, field: "Upload-Checksum", rule: "must be the body's: none of it was kept")
        }
    }

    /// - Parameter key: the request's idempotency key.
    func createUpload(
        _ request: Request, _ owner: MediaShelf.Owner, _ key: MediaRecord.Request?
    ) async throws -> Response {
        let shelf = try self.shelf()
        guard let length = request.headers[Tus.length].flatMap({ Int64(digits: $0) }), length > 0 else {
            throw InvalidField(field: "Upload-Length", rule: "must be the file's length in bytes, 1 or more")
        }
        let metadata = try Tus.metadata(of: request)
        guard let type = metadata["filetype"] else {
            throw InvalidField(field: "Upload-Metadata", rule: "must have filetype, the file's media type in Base64")
        }
        let kind = MediaKind(mediaType: type)
        guard let kind else { try MediaRules.checkKind(nil, shelf.limits); throw APIProblem.bug }
        let record = MediaRecord(
            id: Self.newMediaID(), app: owner.app, owner: owner.user, kind: kind,
            name: metadata["filename"].flatMap { MediaName.cleaned($0, kind) }, bytes: length,
            createdAt: Clocks.now().wall, request: key)
        switch try await shelf.create(record) {
        case .new(let record): return Self.created(record, request)
        case .underWay:
            throw APIProblem(
                .keyInUse, field: Once.header, rule: "must wait: its first request is not answered yet",
                headers: [.retryAfter: "1"])
        case .earlier(let earlier):
            guard earlier.bytes == record.bytes, earlier.kind == record.kind, earlier.name == record.name else {
                throw APIProblem(
                    .keyReused, field: Once.header, rule: "must be new: it was another request's in the last 24 hours")
            }
            return Self.created(earlier, request)
        }
    }

    /// - Parameter apiKey: what the backend came with; nil for a person, whose keys are their own.
    func uploadKey(_ request: Request, apiKey: String? = nil) throws(InvalidField) -> MediaRecord.Request? {
        try Self.idempotencyKey(of: request).map { MediaRecord.Request(apiKey: apiKey, key: $0) }
    }

    private static func newMediaID() -> MediaID {
        MediaID(Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) }))
    }

    private static func created(_ record: MediaRecord, _ request: Request) -> Response {
        var response = Response.json(
            ["media_id": .string(record.id.rawValue), "reference": .string(record.id.reference)], status: .created)
        response.headers[.location] = "\(request.uri.path)/\(record.id)"
        return response
    }

    private func uploadState(_ context: Context, _ owner: MediaShelf.Owner) throws -> Response {
        let record = try self.own(context, owner)
        var headers: HTTPFields = [.cacheControl: "no-store"]
        headers[Tus.offset] = "\(record.offset)"
        headers[Tus.length] = "\(record.bytes)"
        headers[Tus.uploadMetadata] = Tus.metadata(of: record)
        return Response(status: .ok, headers: headers)
    }

    func own(_ context: Context, _ owner: MediaShelf.Owner) throws -> MediaRecord {
        guard let record = try self.shelf().record(try self.mediaID(context), of: owner.app), record.owner == owner.user
        else { throw APIProblem(MediaRules.unknown) }
        return record
    }

    private func appendToUpload(
        _ request: Request, _ context: Context, _ owner: MediaShelf.Owner
    ) async throws -> Response {
        let shelf = try self.shelf()
        let id = try self.mediaID(context)
        guard request.headers[.contentType] == Tus.contentType else {
            throw APIProblem(.wrongContentType, field: "Content-Type", rule: "must be \(Tus.contentType)")
        }
        guard let offset = request.headers[Tus.offset].flatMap({ Int64(digits: $0) }) else {
            throw InvalidField(field: "Upload-Offset", rule: "must be a whole number, 0 or more")
        }
        let record = try await shelf.append(
            request.body, to: id, of: owner, at: offset, length: Self.contentLength(of: request),
            checksum: try Tus.checksum(of: request)
        ) { Clocks.now().wall }
        var headers: HTTPFields = [:]
        headers[Tus.offset] = "\(record.offset)"
        return Response(status: .noContent, headers: headers)
    }

    private func terminateUpload(_ context: Context, _ owner: MediaShelf.Owner) async throws -> Response {
        try await self.shelf().remove(try self.mediaID(context), of: owner.app, .deleted) { $0.owner == owner.user }
        return Response(status: .noContent)
    }

    // MARK: - Reading

    func mediaID(_ context: Context) throws -> MediaID {
        do throws(InvalidField) {
            return try MediaID.validated(try Self.parameter("id", context), field: "id")
        } catch {
            // What cannot be an id is one that nobody has.
            throw APIProblem(MediaRules.unknown)
        }
    }

    private func deleteOwn(_ request: Request, _ context: Context) async throws -> Response {
        try await Self.toldAsProblems {
            try await self.terminateUpload(context, try await self.uploader(request, context))
        }
    }

    /// With a user token or an extension token, and with the message that names it, unless it is one's own.
    private func download(_ request: Request, _ context: Context) async throws -> Response {
        let query = ["message"]
        let now = Clocks.now().wall
        let message = try request.member("message").map { try self.messageID($0, "message") }
        let person: UserKey
        let result: APIResult
        let extensionToken = Self.bearer(request).flatMap {
            self.tokens.checked(extensionToken: $0, wallMilliseconds: now)
        }
        if let extensionToken {
            person = extensionToken.device.user
            try context.count(for: person)
            try Self.checkQuery(request, query)
            guard let message else {
                throw InvalidField(field: "message", rule: "must name the message that names it")
            }
            result = try await self.mediaResult(
                of: .fromExtension(
                    extensionToken.device, tokenIssuedAt: extensionToken.issuedAt,
                    userTokenIssuedAt: extensionToken.userTokenIssuedAt, .media(try self.mediaID(context), in: message))
            )
        } else {
            let (user, issuedAt) = try self.user(request, context, query: query)
            person = user
            let question = try message.map { MediaQuestion.read(try self.mediaID(context), in: $0) } ?? .account
            result = try await self.mediaResult(of: .media(user, tokenIssuedAt: issuedAt, question))
        }
        var use: MediaUse?
        if case .mediaUse(let found) = result { use = found }
        // An extension is no uploader: it reads what its message names, and nothing else.
        if extensionToken != nil, use == nil { throw APIProblem(MediaRules.unknown) }
        return try await self.served(request, context, app: person.app, .person(person.user, use), at: now)
    }

    func served(
        _ request: Request, _ context: Context, app: AppID, _ reader: MediaRules.Reader, at now: Int64
    ) async throws -> Response {
        try await Self.toldAsProblems {
            let shelf = try self.shelf()
            guard let record = shelf.record(try self.mediaID(context), of: app) else { throw MediaRules.unknown }
            try MediaRules.checkReading(record, by: reader, shelf.limits, at: now)
            return try await MediaFileResponse(record, request).response(
                from: shelf, on: context.channel.eventLoop)
        }
    }
}

extension APIProblem {
    init(_ fault: MediaFault) {
        let code: Code =
            switch fault.code {
            case .unknown: .own(.unknownMedia)
            case .notApproved: .own(.mediaNotApproved)
            case .rejected: .own(.mediaRejected)
            case .tooLarge: .own(.mediaTooLarge)
            case .kindRefused: .own(.mediaTypeRefused)
            case .quotaExceeded: .own(.mediaQuotaExceeded)
            case .tooManyUploads: .own(.tooManyUploads)
            case .wrongOffset: .own(.wrongOffset)
            case .busy: .own(.mediaBusy)
            case .storageFull: .told(.storageFull)
            case .badRange: .own(.rangeNotSatisfiable)
            }
        self.init(code, field: fault.field, rule: fault.rule)
    }

    /// Where is for the server's log alone.
    init(_ failure: MediaFailure) {
        if failure.isFull {
            self.init(.told(.storageFull), rule: "the disk of the media is full; try again later")
        } else {
            self.init(
                .storageUnwritable, rule: "the disk of the media does not work; try again later",
                headers: [.retryAfter: "10"])
        }
    }
}
