import Domain
import FoundationEssentials
import ProviderKit
import Store

extension ConfiguredAccount {
    /// Returns the contract type that this account makes for a client that accepts these.
    func contractType(among accepts: Set<ContractType>) -> ContractType? {
        provider.orderedContractTypes.first(where: accepts.contains)
    }

    /// Returns the fault of a payer for the contract that this account would make.
    func fault(of payer: WalletPayer?, accepts: Set<ContractType>) -> WalletPayerFault? {
        guard let type = contractType(among: accepts), let binding = provider as? any WalletBinding else { return nil }
        let ids = binding.appIDs(of: type)
        guard !ids.isEmpty else { return nil }
        let isOwn = payer?.appID.map(ids.contains) ?? (ids.count == 1)
        guard isOwn else { return payer?.appID == nil ? .unnamedApp : .otherApp }
        return binding.needsOpenID(type) && payer?.openID == nil ? .noOpenID : nil
    }

    /// Returns the part of a payer that the contract of this account needs; nil where it needs none.
    func needed(of payer: WalletPayer?, accepts: Set<ContractType>) -> WalletPayer? {
        guard let type = contractType(among: accepts), let binding = provider as? any WalletBinding else { return nil }
        let ids = binding.appIDs(of: type)
        guard let appID = payer?.appID ?? ids.first, ids.contains(appID) else { return nil }
        return WalletPayer(appID: appID, openID: binding.needsOpenID(type) ? payer?.openID : nil)
    }
}

/// The fault of a payer for a wallet's contract.
enum WalletPayerFault: Sendable, Equatable {
    /// The account has several app ids for the type, and none is named.
    case unnamedApp
    /// The named app id is not one of the account's for the type.
    case otherApp
    case noOpenID

    var error: GatewayError {
        switch self {
        case .unnamedApp: .invalidRequest(field: "app_id", reason: "the account has several app ids for this contract")
        case .otherApp: .invalidRequest(field: "app_id", reason: "is not an app id of the account for this contract")
        case .noOpenID: .invalidRequest(field: "payer.wechat_openid", reason: "is missing")
        }
    }
}

extension CandidateAccounts {
    /// Leaves the accounts out that cannot make their contract for this payer.
    ///
    /// An app id chooses among the accounts; of those that have it, the first decides whether an openid is missing.
    ///
    /// - Throws: `invalidRequest` naming `app_id` or `payer.wechat_openid`.
    func fitting(
        _ payer: WalletPayer?, accepts: Set<ContractType>
    ) throws(GatewayError) -> CandidateAccounts {
        let faults = accounts.map { $0.fault(of: payer, accepts: accepts) }
        guard let first = faults.first else { return self }
        let decisive = faults.first { $0 != .otherApp } ?? first
        if let decisive { throw decisive.error }
        var fitting = self
        fitting.accounts = zip(accounts, faults).compactMap { $1 == nil ? $0 : nil }
        return fitting
    }
}

/// Payers' openids in their sealed, stored form.
enum PayerOpenID {
    static func place(payment: String) -> String { "payments.wechat_openid/\(payment)" }
    static func place(session: String) -> String { "sessions.wechat_openid/\(session)" }

    static func seal(_ openID: String, at place: String, by keyRing: KeyRing) throws -> Data {
        try keyRing.seal(Data(openID.utf8), context: place)
    }

    /// - Returns: nil where the key ring lacks the key.
    static func open(_ sealed: Data, at place: String, by keyRing: KeyRing) -> String? {
        (try? keyRing.open(sealed, context: place)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension PaymentRecord {
    /// Returns the payer as the payment's wallet knows them; nil where it needs none.
    func walletPayer(by keyRing: KeyRing) -> WalletPayer? {
        guard let appID else { return nil }
        let place = PayerOpenID.place(payment: payment.id.rawValue)
        return WalletPayer(appID: appID, openID: openID.flatMap { PayerOpenID.open($0, at: place, by: keyRing) })
    }
}
