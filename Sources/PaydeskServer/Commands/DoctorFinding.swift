import Domain
import ProviderKit

/// A thing that `paydesk doctor` looked at.
struct DoctorFinding: Encodable {
    let check: String
    let good: Bool
    let detail: String
    /// Good enough to sell, but somebody should look at it.
    let warning: Bool

    init(_ check: String, good: Bool, _ detail: String) {
        self.check = check
        self.good = good
        self.detail = detail
        warning = false
    }

    /// Good enough to sell, but somebody should look at it.
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

    /// For a person who reads the terminal.
    var line: String { "\(!good ? "FAIL" : warning ? "warn" : "ok  ") \(check): \(detail)".shownOnOneLine }
}
