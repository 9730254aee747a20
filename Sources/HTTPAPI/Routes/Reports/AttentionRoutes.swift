import Domain
import Gateway
import HTTPTypes

/// The result of one check of the doctor.
package struct DoctorItem: Encodable, Sendable, Equatable {
    let check: String
    let good: Bool
    /// True where selling works, but somebody should look at it.
    let warning: Bool
    let detail: String

    package init(check: String, good: Bool, warning: Bool, detail: String) {
        self.check = check
        self.good = good
        self.warning = warning
        self.detail = detail
    }

    /// True for a certificate that has ended or will end soon.
    fileprivate var isAboutCertificate: Bool {
        (!good || warning) && (check == "tls" || check.contains("certificate"))
    }

    /// True for purchases of unknown products, which are counted by themselves.
    fileprivate var isAboutProducts: Bool { check.hasPrefix("product") }
}

/// Routes of what waits for a person, and of the doctor.
struct AttentionRoutes {
    let gateway: Gateway
    /// Examines this server, with calls to the accounts' services where the parameter is true.
    let doctor: @Sendable (_ reaches: Bool) async throws -> [DoctorItem]
    /// The examinations that call the accounts' services.
    let limiter: RateLimiter

    var routes: [Route] {
        [
            Route(
                "listAttention", .get, "/v1/admin/attention", .key([.admin, .adminRead]), .operationsForAdmins,
                "What waits for a person", note: "A kind of which nothing waits is absent.",
                answers: .page(.attention), handle: list),
            Route(
                "examine", .get, "/v1/admin/doctor", .key([.admin, .adminRead]), .operationsForAdmins,
                "What `paydesk doctor` finds",
                note: "Without calls over the network unless `reach` is true, which may be once a minute.",
                query: [
                    .query("reach", .words("true", "false"), "Whether to try the accounts' services.")
                ],
                answers: .page(.finding), handle: examine),
        ]
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        var items = try await gateway.attention.list()
        let findings = try await findings(reaches: false).filter { (!$0.good || $0.warning) && !$0.isAboutProducts }
        let certificates = findings.filter(\.isAboutCertificate)
        for (kind, found) in [
            (AttentionItem.Kind.certificateEnds, certificates), (.doctor, findings.filter { !$0.isAboutCertificate }),
        ] where !found.isEmpty {
            let isBad = found.contains { !$0.good }
            items.append(
                AttentionItem(
                    kind, isBad ? .bad : .warn, count: Int64(found.count),
                    link: kind == .doctor ? "#/home" : "#/accounts"))
        }
        return try .json(Listing(items: items))
    }

    private func examine(_ call: Call) async throws(GatewayError) -> Answer {
        let reaches = try call.flag("reach") ?? false
        if reaches, let wait = limiter.take("doctor") { throw .rateLimited(retryAfter: max(1, wait)) }
        return try .json(Listing(items: try await findings(reaches: reaches)))
    }

    private func findings(reaches: Bool) async throws(GatewayError) -> [DoctorItem] {
        do { return try await doctor(reaches) } catch let error as GatewayError { throw error } catch {
            throw .internalError
        }
    }
}

extension Call {
    /// Returns a query parameter that must be `true` or `false`.
    func flag(_ name: String) throws(GatewayError) -> Bool? {
        switch query[name] {
        case nil: return nil
        case "true": return true
        case "false": return false
        default: throw .invalidRequest(field: name, reason: .words(["true", "false"]))
        }
    }
}

extension Shape {
    fileprivate static let attention = named(
        "AttentionItem",
        .object([
            "kind": .words(AttentionItem.Kind.self), "count": .integer, "oldest_at": .time.orNull,
            "severity": .words(AttentionItem.Severity.self),
            "link": .string.noted("An address in the console.").shown(##""#/orders?dispute=open""##),
        ]))

    fileprivate static let finding = named(
        "DoctorFinding",
        .object([
            "check": .string, "good": .boolean,
            "warning": .boolean.noted("Selling works, but somebody should look at it."), "detail": .string,
        ]))
}
