import Domain
import ProviderKit

extension Check {
    /// The choice among the contract types of an account, and the payers of wallets.
    static let choosing = [
        Check("a client gets a contract type that it accepts") { stage in
            let provider = try stage.provider()
            let types = provider.orderedContractTypes
            try stage.expect(
                types.count == Set(types).count && Set(types) == provider.contractTypes,
                "\(types) are not the account's contract types, each once")
            guard types.count > 1 else { throw CheckStop.notApplicable("the account has one contract type") }
            for type in types {
                let opened = try await stage.open(provider, try stage.attempt().accepting([type], for: provider))
                try stage.expect(
                    opened.instruction.type == type, "\(type) alone was accepted, not \(opened.instruction.type)")
            }
        },
        Check("a payer of another app, or without a needed openid, is refused before anything is asked") { stage in
            let provider = try stage.provider()
            guard let binding = provider as? any WalletBinding else {
                throw CheckStop.notApplicable("its contracts are of no app")
            }
            let types = binding.orderedContractTypes.filter { !binding.appIDs(of: $0).isEmpty }
            guard !types.isEmpty else { throw CheckStop.notApplicable("this account's contracts are of no app") }
            for type in types {
                let good = try stage.attempt().accepting([type], for: provider)
                var wrong = [WalletPayer(appID: "wxforeign0of0nobody", openID: good.payer?.openID)]
                if binding.needsOpenID(type) { wrong.append(WalletPayer(appID: good.payer?.appID)) }
                for payer in wrong {
                    let asked = stage.transport.requests.count
                    try await stage.expectRefusal("opening \(type)") { try await provider.open(good.with(payer)) }
                    try stage.expect(stage.transport.requests.count == asked, "it asked for \(type) all the same")
                }
            }
        },
    ]
}

extension PaymentProvider {
    /// The payer whom the account's contract for a client of these types needs; nil where it needs none.
    func rehearsedPayer(among types: Set<ContractType>) -> WalletPayer? {
        guard let binding = self as? any WalletBinding, let type = orderedContractTypes.first(where: types.contains),
            let app = binding.appIDs(of: type).first
        else { return nil }
        return WalletPayer(appID: app, openID: binding.needsOpenID(type) ? "oConformance0of0the0kit" : nil)
    }
}

extension PaymentAttempt {
    /// The same attempt by a client that accepts these types, with the payer that the first of them needs.
    fileprivate func accepting(_ types: Set<ContractType>, for provider: any PaymentProvider) -> PaymentAttempt {
        copy(accepts: types, payer: provider.rehearsedPayer(among: types))
    }

    fileprivate func with(_ payer: WalletPayer) -> PaymentAttempt { copy(accepts: accepts, payer: payer) }

    private func copy(accepts: Set<ContractType>, payer: WalletPayer?) -> PaymentAttempt {
        PaymentAttempt(
            payment: payment, order: order, amount: amount, title: title, platform: platform, returnURL: returnURL,
            expiresAt: expiresAt, appleProductIDs: appleProductIDs, appAccountToken: appAccountToken, accepts: accepts,
            payerAddress: payerAddress, mandate: mandate, payer: payer)
    }
}
