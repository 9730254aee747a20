package import Domain
import FoundationEssentials
import ProviderKit
import Store

/// Signs Apple's promotional offers for those who may have them, and the eligibility for introductory offers.
package struct SignedOffers: Sendable {
    let settlements: SettlementRunner
    let keyRing: KeyRing
    let random: RandomSource
    private let meter = OfferMeter()

    init(settlements: SettlementRunner, keyRing: KeyRing, random: RandomSource) {
        self.settlements = settlements
        self.keyRing = keyRing
        self.random = random
    }

    /// The days for which Apple takes a signature, and for which one answer lives where an offer is redeemed once.
    static let lifeDays: Int64 = 1

    /// Returns the context to which a stored answer is sealed.
    ///
    /// - Parameter key: the key of its row.
    static func place(_ key: [String]) -> String { "offer_signatures.answer/\(key.joined(separator: "/"))" }

    /// Signs a promotional offer; where it is redeemed once, the same answer is returned for a day.
    ///
    /// A signature is no redemption, because a buyer may close the sheet: only a verified transaction with the offer's id
    /// is.
    ///
    /// - Throws: `invalidRequest` for an app, `noProviderAvailable` without a key, `productNotSold`, `notFound` for an
    ///   offer or a transaction, `notEligible`.
    package func sign(
        _ request: OfferRequest, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> SignedOffer {
        let signer = try OfferSigner(of: request.bundleID, in: settlements.providers.registry)
        let (keyRing, time, ids) = (keyRing, settlements.time.real, settlements.ids)
        let (nonce, token, signedAt) = (random.uuid4(), random.uuid4(), time.milliseconds())
        let (signed, isNew) = try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            let sku = try Self.sku(of: request.productID, signer, in: tx)
            let offers = sku.offers.filter { $0.productID == request.productID }
            guard let offer = offers.first(where: { $0.id == request.offerID }) else {
                throw GatewayError.unknown(.offer, request.offerID)
            }
            let user = try tx.users.ensure(user, candidate: ids.make(), at: settlement.now)
            try tx.users.lock(user)
            let environment = try Self.environment(of: request.transactionID, user, in: tx)
            try Self.check(offer, of: sku, in: signer.bundleID, user, in: environment, settlement)
            let place = OfferPlace(
                user: user, account: signer.account, product: "\(signer.bundleID):\(request.productID)",
                offer: offer.id, format: request.format.rawValue)
            if offer.isOnce, let living = try Self.living(place, by: keyRing, at: time.now, in: tx) {
                return (living, false)
            }
            let statement = OfferStatement(
                bundleID: signer.bundleID, productID: request.productID, kind: .promotional(offer: offer.id),
                transactionID: request.transactionID, nonce: nonce, signedAt: signedAt)
            let signed: SignedOffer
            switch request.format {
            case .v2: signed = .token(try signer.token(statement))
            case .v1:
                let username = try tx.users.appAccountToken(of: user, candidate: token).lowercased()
                signed = .legacy(
                    SignedOffer.LegacySignature(try signer.signature(statement, for: username), statement, username))
            }
            if offer.isOnce {
                let answer = try keyRing.seal(Data(try signed.storedJSON().utf8), context: Self.place(place.key))
                try tx.offerSignatures.upsert(place, answer: answer, signedAt: time.now)
            }
            try settlement.log.audit(
                subject: user.rawValue, "offer.signed", before: "",
                after: "\(offer.id) of \(request.productID) in \(signer.bundleID), \(request.format.rawValue)",
                about: user)
            return (signed, true)
        }
        if isNew { meter.count(request.format == .v2 ? .promotional : .legacy) }
        return signed
    }

    /// Signs whether a user may have the introductory offer of a product: those who never had a subscription of its
    /// group may.
    ///
    /// - Throws: `invalidRequest` for an app and for a product of no subscription, `noProviderAvailable` without a key,
    ///   `productNotSold`, `notFound` for a transaction.
    package func signIntroductory(
        _ request: IntroductoryRequest, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> SignedIntroductory {
        let signer = try OfferSigner(of: request.bundleID, in: settlements.providers.registry)
        let (ids, nonce, signedAt) = (settlements.ids, random.uuid4(), settlements.time.real.milliseconds())
        let signed = try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            let sku = try Self.sku(of: request.productID, signer, in: tx)
            guard sku.kind == .subscription else {
                throw GatewayError.invalidRequest(field: "product_id", reason: "is no product of a subscription")
            }
            let user = try tx.users.ensure(user, candidate: ids.make(), at: settlement.now)
            try tx.users.lock(user)
            let environment = try Self.environment(of: request.transactionID, user, in: tx)
            let standing = try GroupStanding(
                of: user, group: sku.stackGroup, in: environment, from: tx, at: settlement.now)
            let jws = try signer.token(
                OfferStatement(
                    bundleID: signer.bundleID, productID: request.productID,
                    kind: .introductory(isAllowed: !standing.hasHad), transactionID: request.transactionID,
                    nonce: nonce, signedAt: signedAt))
            try settlement.log.audit(
                subject: user.rawValue, "offer.introductory_signed", before: "",
                after: "\(request.productID) in \(signer.bundleID), \(standing.hasHad ? "not allowed" : "allowed")",
                about: user)
            return SignedIntroductory(jws: jws, allow: !standing.hasHad)
        }
        meter.count(.introductory)
        return signed
    }

    /// Finds the SKU on sale that has a product in the signer's app.
    private static func sku(of product: String, _ signer: OfferSigner, in db: any Database) throws -> SKU {
        guard let sku = try db.skus.find(appleProduct: product, bundle: signer.bundleID)?.sku, sku.active else {
            throw GatewayError.productNotSold(product)
        }
        return sku
    }

    /// Finds the environment of a transaction of the user's; nil where none is named.
    private static func environment(
        of transaction: String?, _ user: ID<User>, in db: any Database
    ) throws -> Environment? {
        guard let transaction else { return nil }
        guard let found = try db.appTransactions.listEnvironments(of: transaction, user: user).first else {
            throw GatewayError.unknown(.purchase, transaction)
        }
        return found
    }

    /// - Throws: `notEligible` outside of the offer's audience, and where the user has redeemed it.
    private static func check(
        _ offer: PromotionalOffer, of sku: SKU, in bundle: String, _ user: ID<User>, in environment: Environment?,
        _ settlement: Settlement
    ) throws {
        let tx = settlement.tx
        if offer.audience != .any {
            let standing = try GroupStanding(
                of: user, group: sku.stackGroup, in: environment, from: tx, at: settlement.now)
            guard standing.isIn(offer.audience) else { throw GatewayError.notEligible }
        }
        guard offer.isOnce else { return }
        let isRedeemed = try tx.subscriptionHistory.hasRedeemed(
            offer.id, of: offer.productID, in: bundle, user, in: environment)
        if isRedeemed { throw GatewayError.notEligible }
    }

    /// Finds the answer that still lives.
    private static func living(
        _ place: OfferPlace, by keyRing: KeyRing, at now: Timestamp, in db: any Database
    ) throws -> SignedOffer? {
        let since = now.adding(seconds: -lifeDays * 86_400)
        guard let sealed = try db.offerSignatures.find(place, signedAfter: since) else { return nil }
        return try JSONDecoder().decode(
            SignedOffer.self, from: try keyRing.open(sealed, context: Self.place(place.key)))
    }
}

extension OfferPlace {
    /// The key of the row, for its seal.
    fileprivate var key: [String] { [user.rawValue, account.rawValue, product, offer, format] }
}

extension SignedOffer.LegacySignature {
    fileprivate init(_ signature: OfferSignature, _ statement: OfferStatement, _ username: String) {
        self.init(
            key_id: signature.keyID, nonce: statement.nonce, timestamp: statement.signedAt,
            signature: signature.signature, application_username: username)
    }
}
