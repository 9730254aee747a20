import Domain
import HTTPAPI
import ProviderKit

/// The result of one check of `paydesk doctor`.
struct DoctorFinding: Encodable {
    let check: String
    let good: Bool
    let detail: String
    /// True where selling works, but the operator should look at the finding.
    let warning: Bool

    init(_ check: String, good: Bool, _ detail: String) {
        self.check = check
        self.good = good
        self.detail = detail
        warning = false
    }

    /// Makes a finding that does not prevent selling, but that the operator should look at.
    init(warning check: String, _ detail: String) {
        self.check = check
        good = true
        self.detail = detail
        warning = true
    }

    init(_ account: AccountID, _ diagnosis: Diagnosis) {
        check = "account \(account.rawValue), \(diagnosis.subject)"
        good = diagnosis.level != .fault
        detail = diagnosis.words
        warning = diagnosis.level == .notice
    }

    /// The finding as a line for the terminal.
    var line: String { "\(!good ? "FAIL" : warning ? "warn" : "ok  ") \(check): \(detail)".shownOnOneLine }
}

extension DoctorItem {
    init(_ finding: DoctorFinding) {
        self.init(check: finding.check, good: finding.good, warning: finding.warning, detail: finding.detail)
    }
}
