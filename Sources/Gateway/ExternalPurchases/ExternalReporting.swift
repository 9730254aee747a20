import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

/// Reports to Apple what became of tokens of external purchases, each fact once.
///
/// Every report is stored with its identifier before its first call. A run that finds a stored report asks Apple for it
/// first, because an earlier run may have sent it.
struct ExternalReporting: Sendable {
    let settlements: SettlementRunner
    let logger: Logger

    private enum Next {
        case goOn, tryLater
        case end(JobOutcome)
    }

    /// Makes and sends the reports of a token until nothing is left, or the outcome of one is not known.
    func report(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let token = ID<ExternalToken>(job.subject) else { return .done }
        while true {
            let step = try await settlements.run(job.audit) { settlement in try settlement.external.step(token) }
            let next: Next
            switch step {
            case .done: return .done
            case .later(let seconds): return .again(after: seconds)
            case .send(let token, let report):
                next = try await record(try await send(report, of: token), of: report, token, job)
            case .ask(let token, let report):
                var answer = try await find(report, of: token)
                if answer == .notThere { answer = try await send(report, of: token) }
                next = try await record(answer, of: report, token, job)
            }
            switch next {
            case .goOn: continue
            case .tryLater: return .pending
            case .end(let outcome): return outcome
            }
        }
    }

    private func send(
        _ report: ExternalReportRecord, of token: ExternalToken
    ) async throws(GatewayError) -> ExternalReportAnswer {
        try JobLease.requireRunning()
        guard let provider = reporting(token.account) else { return .noKey }
        return await settlements.providers.measured(token.account) {
            await provider.send(Data(report.body.utf8), of: token.token.bundleID, in: token.token.environment)
        }
    }

    private func find(
        _ report: ExternalReportRecord, of token: ExternalToken
    ) async throws(GatewayError) -> ExternalReportAnswer {
        try JobLease.requireRunning()
        guard let provider = reporting(token.account) else { return .noKey }
        return await settlements.providers.measured(token.account) {
            await provider.find(
                report: report.requestIdentifier, of: token.token.bundleID, in: token.token.environment)
        }
    }

    private func reporting(_ account: AccountID) -> (any ExternalPurchaseReporting)? {
        settlements.providers.registry[account]?.provider as? any ExternalPurchaseReporting
    }

    private func record(
        _ answer: ExternalReportAnswer, of report: ExternalReportRecord, _ token: ExternalToken, _ job: ClaimedJob
    ) async throws(GatewayError) -> Next {
        switch answer {
        case .accepted:
            try await move(report, to: .accepted, answer: nil, token, job)
            return .goOn
        case .refused(let faults):
            logger.error(
                "Apple refused a report of an external purchase",
                metadata: ["token": "\(token.id)", "report": "\(report.requestIdentifier)"])
            try await move(report, to: .refused, answer: faults, token, job)
            return .goOn
        case .unknown(let trouble):
            try await move(report, to: .unknown, answer: trouble, token, job)
            return .tryLater
        case .notSent(let trouble):
            try await move(report, to: report.state, answer: trouble, token, job)
            return .tryLater
        case .notThere, .noKey: return .tryLater
        case .unauthorized:
            logger.error(
                "Apple refuses the key; the account sends no reports until it is mended",
                metadata: ["account": "\(token.account)"])
            try await hold(token, reason: "Apple answers 401", until: nil, job)
            return .goOn
        case .rateLimited(let milliseconds):
            let real = settlements.time.real.milliseconds()
            // A whole second more, because jobs begin with a second and Apple names a millisecond.
            let seconds = max(1, (milliseconds - real + 999) / 1_000 + 1)
            try await hold(
                token, reason: "Apple answers 429", until: settlements.time.now.adding(seconds: seconds), job)
            return .end(.again(after: seconds))
        }
    }

    private func move(
        _ report: ExternalReportRecord, to state: ExternalReport.State, answer: String?, _ token: ExternalToken,
        _ job: ClaimedJob
    ) async throws(GatewayError) {
        let words = answer?.stored(2_000)
        try await settlements.run(job.audit) { settlement in
            try settlement.tx.externalPurchases.move(report.id, to: state, answer: words)
            guard state == .accepted || state == .refused else { return }
            try settlement.log.audit(
                subject: token.id.rawValue, "external_report.\(state.rawValue)", before: report.state.rawValue,
                after: "\(report.status.rawValue) \(report.requestIdentifier)", about: token.user)
        }
    }

    private func hold(
        _ token: ExternalToken, reason: String, until: Timestamp?, _ job: ClaimedJob
    ) async throws(GatewayError) {
        try await settlements.run(job.audit) { settlement in
            try settlement.tx.externalPurchases.hold(
                ExternalHold(account: token.account, reason: reason, since: settlement.now, until: until))
        }
    }
}
