package import Domain
import Foundation

/// The requirements of a checkout on an account.
package struct SelectionNeed: Sendable {
    package var sku: String
    package var kind: SKU.Kind
    /// True where a subscription's single periods are for sale.
    package var sellsOnePeriod: Bool
    /// True where Paydesk renews the subscription, so that the account has to charge mandates.
    package var isManaged = false
    /// The one that renews the subscription of an order, which stays as it began; nil while that is open.
    package var renewer: Renewer?
    /// The only account that may be selected; nil for any.
    package var account: AccountID?
    package var hasAppleProducts: Bool
    package var quantity: Int64
    package var amount: Money
    package var platform: Platform
    package var accepts: Set<ContractType>
    /// The id of an account or a kind that the client requires.
    package var provider: String?
    /// The user, who determines the order of accounts with equal priority: it is always the same for one user.
    package var user: String
    /// The environment that an account must have; nil for any.
    package var environment: Environment?
    /// True where Apple leaves the sale of the SKU to others: it is physical, or sold outside of the App Store.
    package var mayLeaveStore = false

    /// The one that renews a subscription.
    package enum Renewer: Sendable {
        case store, paydesk
    }

    package init(
        sku: String, kind: SKU.Kind, sellsOnePeriod: Bool, hasAppleProducts: Bool, quantity: Int64, amount: Money,
        platform: Platform, accepts: Set<ContractType>, provider: String? = nil, user: String
    ) {
        self.sku = sku
        self.kind = kind
        self.sellsOnePeriod = sellsOnePeriod
        self.hasAppleProducts = hasAppleProducts
        self.quantity = quantity
        self.amount = amount
        self.platform = platform
        self.accepts = accepts
        self.provider = provider
        self.user = user
    }
}

extension SelectionNeed {
    /// Returns whether platform and SKU leave a contract type.
    package func leaves(_ type: ContractType) -> Bool {
        type.fits(platform) && (mayLeaveStore || !type.isApplesOwn(on: platform))
    }
}

/// The reason why an account cannot take a payment, in the order of the checks.
///
/// Clients see it as `details.reason` of `no_provider_available` (`docs/api.md` section 2); `ErrorWords` has its texts.
package enum SelectionRefusal: String, Sendable, CaseIterable {
    /// The client requires another account.
    case provider
    case disabled, platform
    /// The account is in its test mode and the token of an external purchase is not, or the other way round.
    case environment
    case currency
    /// The account's routing excludes this SKU, or it cannot sell such goods or such a quantity.
    case sku
    /// The amount is outside of the routing's bounds, or the provider can never charge it exactly.
    case amount
    /// The account sells no subscriptions, and the SKU's single periods are not for sale; or the order's subscription is
    /// renewed by the other side, a store or Paydesk.
    case notRecurring = "not_recurring"
    /// The client accepts none of its contract types.
    case accept
    /// The wallet's account has no processor that can charge its token.
    case unavailable
    /// The storefront is not one in which is sold outside of the App Store, or not yet.
    case storefront
    /// The SKU has no category of tax.
    case taxCategory = "tax_category"
    /// The storefront has no rate for the SKU's category of tax.
    case taxRate = "tax_rate"
}

/// Selects the accounts that can take a payment, best first: a pure function of configuration, overrides and need.
package enum Selection {
    /// The largest quantity of a consumable that Apple sells at once.
    package static let appleQuantityLimit: Int64 = 10

    /// - Parameter unhealthy: accounts that are left out while others can take the payment; where none can, all are
    ///   returned, because an estimate must not refuse a sale.
    package static func candidates(
        _ accounts: [ConfiguredAccount], for need: SelectionNeed, avoiding unhealthy: Set<AccountID> = []
    ) -> [ConfiguredAccount] {
        let able = accounts.filter { isAble($0, need, among: accounts) }
        let healthy = able.filter { !unhealthy.contains($0.id) }
        return (healthy.isEmpty ? able : healthy).sorted { first, second in
            let left = (first.routing.priority, share(first, need.user))
            let right = (second.routing.priority, share(second, need.user))
            return left == right ? first.id < second.id : left > right
        }
    }

    /// Returns whether an account may be selected for this need.
    ///
    /// - Parameters:
    ///   - accounts: all accounts, among which is its processor, if it needs one.
    ///   - whateverAmount: true to ignore whether exactly this amount can be charged.
    package static func isAble(
        _ account: ConfiguredAccount, _ need: SelectionNeed, among accounts: [ConfiguredAccount],
        whateverAmount: Bool = false
    ) -> Bool {
        refusal(of: account, need, among: accounts, whateverAmount: whateverAmount) == nil
    }

    /// Returns the first reason why an account cannot be selected for this need; nil where it can.
    package static func refusal(
        of account: ConfiguredAccount, _ need: SelectionNeed, among accounts: [ConfiguredAccount],
        whateverAmount: Bool = false
    ) -> SelectionRefusal? {
        let routing = account.routing
        let manifest = account.manifest
        func allows<Element: Equatable>(_ list: [Element], _ element: Element) -> Bool {
            list.isEmpty || list.contains(element)
        }
        let isNamed =
            (need.provider.map { $0 == account.id.rawValue || $0 == manifest.kind } ?? true)
            && (need.account.map { $0 == account.id } ?? true)
        let isWithin = need.amount.value >= (routing.min ?? 0) && need.amount.value <= (routing.max ?? .max)
        let isCharged = whateverAmount || account.provider.amountFault(need.amount) == nil
        let charges = need.isManaged && chargesMandates(account.provider)
        let renews =
            switch need.renewer {
            case .store: manifest.recurring
            case .paydesk: !manifest.recurring && charges
            case nil: need.kind != .subscription || manifest.recurring || need.sellsOnePeriod || charges
            }
        let asked = account.provider.contractTypes.intersection(need.accepts)
        let fitting = asked.filter { $0.fits(need.platform) }
        let rules: [(SelectionRefusal, Bool)] = [
            (.provider, isNamed), (.disabled, account.enabled && routing.weight > 0),
            (.platform, allows(routing.platforms, need.platform) && (asked.isEmpty || !fitting.isEmpty)),
            (.environment, need.environment.map { $0 == account.environment } ?? true),
            (
                .currency,
                allows(routing.currencies, need.amount.currency) && allows(manifest.currencies, need.amount.currency)
            ),
            (
                .sku,
                allows(routing.skus, need.sku) && sellsGoods(manifest.goods, need)
                    && (fitting.isEmpty || fitting.contains(where: need.leaves))
            ),
            (.amount, isWithin && isCharged), (.notRecurring, renews),
            (.accept, !asked.isEmpty),
            (.unavailable, Self.isCharged(account, need, among: accounts, whateverAmount: whateverAmount)),
        ]
        return rules.first { !$0.1 }?.0
    }

    /// Returns the account's contract types that this need leaves, the one first that a checkout gets.
    package static func contractTypes(of account: ConfiguredAccount, for need: SelectionNeed) -> [ContractType] {
        account.provider.orderedContractTypes.filter { need.accepts.contains($0) && need.leaves($0) }
    }

    private static func chargesMandates(_ provider: any PaymentProvider) -> Bool {
        provider.manifest.mandates && (provider as? any MandateCharging)?.chargesMandates ?? false
    }

    /// Returns whether the account or its processor can charge exactly this amount in this currency.
    private static func isCharged(
        _ account: ConfiguredAccount, _ need: SelectionNeed, among accounts: [ConfiguredAccount], whateverAmount: Bool
    ) -> Bool {
        guard let wallet = account.provider as? any InstrumentVerifying else { return true }
        guard let processor = accounts.first(where: { $0.id == wallet.processor }), processor.enabled,
            processor.manifest.instruments.contains(wallet.tokenForm)
        else { return false }
        let currencies = processor.manifest.currencies
        return (currencies.isEmpty || currencies.contains(need.amount.currency))
            && (whateverAmount || processor.provider.amountFault(need.amount) == nil)
    }

    private static func sellsGoods(_ goods: ProviderManifest.Goods, _ need: SelectionNeed) -> Bool {
        switch goods {
        case .anything: true
        case .appleProducts:
            need.hasAppleProducts
                && (need.quantity == 1 || (need.kind == .consumable && need.quantity <= appleQuantityLimit))
        }
    }

    /// Returns `log(uniform) / weight`, the key of the weighted random order of Efraimidis and Spirakis, constant for a
    /// user: each account comes first in proportion to its weight.
    private static func share(_ account: ConfiguredAccount, _ user: String) -> Double {
        let uniform = Double(hash("\(user)|\(account.id.rawValue)") >> 11) / Double(1 << 53)
        return log(max(uniform, .leastNormalMagnitude)) / Double(account.routing.weight)
    }

    /// Computes FNV-1a with a final mixer, so that similar texts have different hashes.
    private static func hash(_ text: String) -> UInt64 {
        var value = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        value = (value ^ (value >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        value = (value ^ (value >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return value ^ (value >> 33)
    }
}
