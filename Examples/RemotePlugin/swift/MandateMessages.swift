/// The words of the protocol about mandates.
struct MandateRequest: Decodable {
    let subscription_id: String
    let terms: String
}

struct MandateIDs: Decodable {
    let reference: String
}

struct OpenSetupCall: Decodable {
    let setup_id: String
    let subscription_id: String
    let terms: String
    let notify_url: String
}

struct SetupCall: Decodable {
    let setup_id: String
    let subscription_id: String
}

struct ChargeCall: Decodable {
    let payment_id: String
    let order_id: String
    let subscription_id: String
    let period_index: Int64
    let amount: Money
    let mandate: MandateIDs
}

struct MandateCall: Decodable {
    let subscription_id: String
    let mandate: MandateIDs
}

struct ChargesCall: Decodable {
    let subscription_id: String
    let since: Int64
    let after: String?
}

struct Mandate: Encodable {
    let reference: String
    var label: String?
    /// The same for the same account, so that nobody has two trials with it.
    var fingerprint: String?
}

struct SaidSetup: Encodable {
    let setup_id: String
    let status: String
    var reference: String?
    var mandate: Mandate?
}

struct OpenedSetup: Encodable {
    let setup: SaidSetup
    let contract: Contract
}

struct SetupAnswer: Encodable {
    let setup: SaidSetup
}

struct MandateAnswer: Encodable {
    let mandate: Mandate
}

/// A charge in a list of them.
struct ListedCharge: Encodable {
    let payment_id: String
    let order_id: String
    let subscription_id: String
    let period_index: Int64
    let amount: Money
    let reference: String
    let at: Int64
}

struct Charges: Encodable {
    let charges: [ListedCharge]
    /// Absent on the last page.
    let next: String?
}

struct MandateNotice: Encodable {
    let subscription_id: String
    let status: String
}
