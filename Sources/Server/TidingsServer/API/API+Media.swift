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
    static let mediaRoutes: [Route] = [
        .open(.options, "v1/media/uploads", API.uploadOptions),
        .upload(.post, "v1/media/uploads", by: API.uploader, API.createUpload),
        .upload(.head, "v1/media/uploads/{id}", by: API.uploader, API.uploadState),
        .upload(.patch, "v1/media/uploads/{id}", by: API.uploader, API.appendToUpload),
        .upload(.delete, "v1/media/uploads/{id}", by: API.uploader, API.terminateUpload),
        .upload(.post, "v1/media/uploads/{id}", by: API.uploader, API.override),
        .open(.get, "v1/media/{id}", API.download),
        .open(.head, "v1/media/{id}", API.download),
        .open(.delete, "v1/media/{id}", API.deleteOwn),
    ]

    /// For clients behind something that lets no other methods through.
    private func override(_ request: Request, _ context: Context, _ owner: MediaShelf.Owner) async throws -> Response {
        switch request.headers[Tus.methodOverride] {
        case "PATCH"?: return try await self.appendToUpload(request, context, owner)
        case "DELETE"?: return try await self.terminateUpload(request, context, owner)
        case "HEAD"?: return try self.uploadState(request, context, owner)
        default:
            throw APIProblem(
                .methodNotAllowed, field: "method", rule: "must be PATCH, DELETE or HEAD",
                headers: [.allow: "DELETE, HEAD, PATCH"])
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

    private func uploadOptions(_ request: Request, _ context: Context) throws -> Response {
        let shelf = try self.shelf()
        var headers = Tus.versions
        headers[Tus.extensions] = "creation,termination,checksum"
        headers[Tus.maxSize] = "\(shelf.limits.bytesMax)"
        headers[Tus.checksumAlgorithm] = MediaChecksum.Algorithm.allCases.map(\.rawValue).joined(separator: ",")
        return Response(status: .noContent, headers: headers)
    }

    /// Every answer names the version, and no other is spoken.
    func tus(_ request: Request, _ context: Context, _ answer: () async throws -> Response) async throws -> Response {
        do {
            guard request.headers[Tus.resumable] == Tus.version else {
                throw APIProblem(
                    .tusVersion, field: "Tus-Resumable", rule: "must be \(Tus.version)", headers: Tus.versions)
            }
            var response = try await Self.toldAsProblems(answer)
            response.headers[Tus.resumable] = Tus.version
            return response
        } catch {
            let invalid = (error as? InvalidField).map { APIProblem($0) }
            guard var problem = invalid ?? (error as? APIProblem) else { throw error }
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

    func createUpload(_ request: Request, _ context: Context, _ owner: MediaShelf.Owner) async throws -> Response {
        // What the backend came with; nil for a person, whose keys are their own.
        let apiKey = context.note.caller?.idempotencyName
        let key = try Self.idempotencyKey(of: request).map { MediaRecord.Request(apiKey: apiKey, key: $0) }
        let shelf = try self.shelf()
        try Self.refuseBody(request)
        guard let length = request.headers[Tus.length].flatMap({ Int64(digits: $0) }), length > 0 else {
            throw InvalidField(field: "Upload-Length", rule: "must be the file's length in bytes, 1 or more")
        }
        let metadata = try Tus.metadata(of: request)
        guard let type = metadata["filetype"] else {
            throw InvalidField(field: "Upload-Metadata", rule: "must have filetype, the file's media type in Base64")
        }
        if MediaKind(mediaType: type) == nil { try MediaRules.checkKind(nil, shelf.limits) }
        let kind = try MediaKind(mediaType: type).orBug()
        let record = MediaRecord(
            id: Self.newMediaID(), app: owner.app, owner: owner.user, kind: kind,
            name: metadata["filename"].flatMap { MediaName.cleaned($0, kind) }, bytes: length,
            createdAt: Clocks.now().wall, request: key)
        switch try await shelf.create(record) {
        case .new(let record): return Self.created(record, request)
        case .underWay: throw APIProblem.keyInUse
        case .earlier(let earlier):
            guard earlier.bytes == record.bytes, earlier.kind == record.kind, earlier.name == record.name
            else { throw APIProblem.keyReused }
            return Self.created(earlier, request)
        }
    }

    private static func newMediaID() -> MediaID {
        MediaID(Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) }))
    }

    private static func created(_ record: MediaRecord, _ request: Request) -> Response {
        var response = Response.json(["media_id": record.id, "reference": record.id.reference], status: .created)
        response.headers[.location] = "\(request.uri.path)/\(record.id)"
        return response
    }

    func uploadState(_ request: Request, _ context: Context, _ owner: MediaShelf.Owner) throws -> Response {
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

    func appendToUpload(_ request: Request, _ context: Context, _ owner: MediaShelf.Owner) async throws -> Response {
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

    func terminateUpload(_ request: Request, _ context: Context, _ owner: MediaShelf.Owner) async throws -> Response {
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
            try await self.terminateUpload(request, context, try await self.uploader(request, context))
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
            guard let message else { throw InvalidField(field: "message", rule: "must name the message that names it") }
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
