/// The reason for which a provider refused to charge a mandate.
public enum ChargeRefusal: String, Sendable, Codable, CaseIterable {
    /// A later try may succeed: no funds, a limit.
    case soft
    /// No try with this mandate can succeed: a lost card, a closed account.
    case hard
    /// The payer has to confirm.
    case actionRequired = "action_required"
}
