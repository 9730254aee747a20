package import Domain

/// Apple's App Store Server API over the rows of the box.
///
/// Apple's shapes, errors and tokens, so that Apple's own clients work when their base URL is replaced. Source: Apple, App
/// Store Server API.
package struct ServerAPI: Sendable {
    /// The clocks of a call.
    package struct Clocks: Sendable {
        /// The real time, for tokens and the rate limit.
        package let real: TimeSource
        /// The business time, for what is signed and read.
        package let business: @Sendable () -> Int64

        /// - Parameter business: milliseconds since 1970.
        package init(real: TimeSource, business: @escaping @Sendable () -> Int64) {
            self.real = real
            self.business = business
        }
    }

    let signing: BoxSigning
    let reader: any ServerAPIReader
    let acts: any ServerAPIActs
    let clocks: Clocks
    /// The reports of external purchases; nil where they are not taken.
    let externalReports: (any ExternalReportBook)?
    private let limit = RequestLimit()

    package init(
        _ signing: BoxSigning, reader: any ServerAPIReader, acts: any ServerAPIActs, clocks: Clocks,
        externalReports: (any ExternalReportBook)? = nil
    ) {
        self.signing = signing
        self.reader = reader
        self.acts = acts
        self.clocks = clocks
        self.externalReports = externalReports
    }

    var app: BoxApp { signing.app }
    var signer: BoxSigner { signing.payloads }
    var receipts: ReceiptCheck { signing.check }

    /// Answers a request whose path `ServerAPIRequest.isServerAPI` takes.
    ///
    /// - Throws: errors of the reader and of the acts other than `BoxError`.
    package func answer(_ request: ServerAPIRequest) async throws -> ServerAPIAnswer {
        let endpoint: ServerAPIEndpoint
        switch ServerAPIEndpoint.find(request) {
        case .found(let found): endpoint = found
        case .otherMethod(let allowed): return .text(405, "Method Not Allowed\n", headers: ["Allow": allowed])
        case .none: return .text(404, "Not Found\n")
        }
        if endpoint != .verifyReceipt, !signing.tokens.accepts(request.authorization, at: clocks.real.now) {
            return .text(401, "Unauthenticated\n")
        }
        if let free = limit.refusal(perSecond: try await reader.callsPerSecond(), now: clocks.real.milliseconds()) {
            return AppleError.rateLimitExceeded.answer(headers: ["Retry-After": String(free)])
        }
        do {
            return try await answer(request, at: endpoint)
        } catch let error as AppleError {
            return error.answer()
        }
    }

    private func answer(_ request: ServerAPIRequest, at endpoint: ServerAPIEndpoint) async throws -> ServerAPIAnswer {
        switch endpoint {
        case .transaction(let id): try await transactionInfo(id)
        case .history(let id): try await history(of: id, request)
        case .refunds(let id): try await refunds(of: id, request)
        case .statuses(let id): try await statuses(of: id, request)
        case .order(let id): try await order(id)
        case .extend(let id): try await extend(id, request)
        case .consumption(let id): try await consumption(of: id, request)
        case .requestTest: try await requestTest()
        case .testStatus(let token): try await testStatus(token)
        case .notifications: try await notifications(request)
        case .verifyReceipt: try await verifyReceipt(request)
        case .sendExternalReport: try await sendExternalReport(request)
        case .externalReport(let id): try await findExternalReport(id)
        }
    }

    /// The transaction with an id in the path.
    ///
    /// - Throws: `invalidTransactionID` for text that is no id of Apple's, `unknown` for one that the box does not know.
    func known(
        _ id: String, else unknown: AppleError = .transactionIDNotFound, malformed: AppleError = .invalidTransactionID
    ) async throws -> BoxTransaction {
        guard id.isDigits(1...64) else { throw malformed }
        guard let row = try await reader.transaction(id) else { throw unknown }
        return row
    }
}

/// The calls of Apple's server API that the box answers, with the ids in their paths.
enum ServerAPIEndpoint: Equatable {
    case transaction(String), history(String), refunds(String), statuses(String), order(String), extend(String)
    case consumption(String), requestTest, testStatus(String), notifications, verifyReceipt
    case sendExternalReport, externalReport(String)

    enum Found: Equatable {
        case found(ServerAPIEndpoint)
        /// The path is Apple's, its methods are these.
        case otherMethod(String)
        case none
    }

    static func find(_ request: ServerAPIRequest) -> Found {
        guard let (method, endpoint) = route(request.path.split(separator: "/").map(String.init)) else { return .none }
        // Apple states another method in verifyReceipt's own words (21000).
        return method == request.method || endpoint == .verifyReceipt ? .found(endpoint) : .otherMethod(method)
    }

    private static func route(_ path: [String]) -> (method: String, ServerAPIEndpoint)? {
        if path == ["verifyReceipt"] { return ("POST", .verifyReceipt) }
        if path == ["externalPurchase", "v1", "reports"] { return ("PUT", .sendExternalReport) }
        if path.count == 4, path.starts(with: ["externalPurchase", "v1", "reports"]) {
            return ("GET", .externalReport(path[3]))
        }
        guard path.first == "inApps", path.count >= 4, let last = path.last else { return nil }
        return switch path.dropFirst().dropLast().joined(separator: "/") {
        case "v1/transactions": ("GET", .transaction(last))
        case "v2/history": ("GET", .history(last))
        case "v2/refund/lookup": ("GET", .refunds(last))
        case "v1/subscriptions": ("GET", .statuses(last))
        case "v1/lookup": ("GET", .order(last))
        case "v1/subscriptions/extend": ("PUT", .extend(last))
        case "v2/transactions/consumption": ("PUT", .consumption(last))
        case "v1/notifications/test": ("GET", .testStatus(last))
        case "v1/notifications" where last == "test": ("POST", .requestTest)
        case "v1/notifications" where last == "history": ("POST", .notifications)
        default: nil
        }
    }
}
