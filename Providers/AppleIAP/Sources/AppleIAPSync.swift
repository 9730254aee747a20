import AppleTrust
public import Domain
public import ProviderKit

extension AppleIAPProvider: StoreSyncing {
    public var askedEnvironments: [Domain.Environment] {
        var known: [Domain.Environment] = []
        for environment in serverAPIs.flatMap(\.environments).map(Domain.Environment.init)
        where environment != .xcode && !known.contains(environment) {
            known.append(environment)
        }
        return known
    }

    public func keepsNotifications(in environment: Domain.Environment) -> Int64 {
        AppStoreServerAPI.notificationDays(AppleEnvironment(environment)) * 86_400
    }

    public func subscriptions(of purchase: StorePurchase) async throws(StoreSyncError) -> StoreAnswer {
        do throws(AppStoreServerError) {
            let found = try await api(purchase.bundleID).subscriptions(
                of: purchase.transactionID, in: .only(AppleEnvironment(purchase.environment)))
            let items = found.value.map { subscription in
                statement(
                    subscription.transaction, subscription.renewalInfo, of: purchase.bundleID,
                    status: AppleSubscriptionStatus(rawValue: subscription.status.rawValue))
            }
            return StoreAnswer(items: items.compactMap { $0 }, refused: items.count { $0 == nil }, cursor: nil)
        } catch {
            throw StoreSyncError(error)
        }
    }

    public func history(of purchase: StorePurchase, after cursor: String?) -> StorePages<StoreAnswer> {
        StorePages { [self] in
            var pages: AppStorePages<SignedText>.Iterator?
            return { () async throws(StoreSyncError) -> StoreAnswer? in
                do throws(AppStoreServerError) {
                    let app = try api(purchase.bundleID)
                    let place = AppStoreSearch.only(AppleEnvironment(purchase.environment))
                    var iterator =
                        pages
                        ?? app.history(of: purchase.transactionID, after: cursor, in: place).makeAsyncIterator()
                    let page = try await iterator.next(isolation: nil)
                    pages = iterator
                    return page.map { page in
                        let items = page.items.map { statement($0, nil, of: purchase.bundleID, status: nil) }
                        return StoreAnswer(
                            items: items.compactMap { $0 }, refused: items.count { $0 == nil }, cursor: page.cursor)
                    }
                } catch {
                    throw StoreSyncError(error)
                }
            }
        }
    }

    public func askedApps(in environment: Domain.Environment) -> [String] {
        serverAPIs.filter { $0.environments.contains(AppleEnvironment(environment)) }.map(\.bundleID)
    }

    public func notifications(
        of app: String, in environment: Domain.Environment, from: Timestamp, until: Timestamp
    ) -> StorePages<[RawNotification]> {
        StorePages { [self] in
            var pages: AppStorePages<AppStoreSentNotification>.Iterator?
            return { () async throws(StoreSyncError) -> [RawNotification]? in
                do throws(AppStoreServerError) {
                    let server = try api(app)
                    var iterator =
                        pages
                        ?? server.notifications(
                            from: from.rawValue * 1_000, until: until.rawValue * 1_000,
                            in: AppleEnvironment(environment)
                        ).makeAsyncIterator()
                    let page = try await iterator.next(isolation: nil)
                    pages = iterator
                    return page?.items.map {
                        RawNotification(
                            method: .post, headers: [("content-type", "application/json")],
                            body: $0.signed.notificationBody)
                    }
                } catch {
                    throw StoreSyncError(error)
                }
            }
        }
    }

    private func api(_ bundleID: String) throws(AppStoreServerError) -> AppStoreServerAPI {
        guard let api = serverAPIs.first(where: { $0.bundleID == bundleID }) else {
            throw .invalidRequest("no key of the app \(bundleID)")
        }
        return api
    }

    /// Returns the statement of two signed texts together; nil where either does not verify or they are of two
    /// subscriptions.
    ///
    /// - Parameter bundleID: the app that the API was asked about.
    func statement(
        _ transaction: SignedText, _ renewalInfo: SignedText?, of bundleID: String, status: AppleSubscriptionStatus?
    ) -> StoreAnswer.Item? {
        do throws(AppleRefusal) {
            let verified = try transaction.transaction(by: trust.verifier, of: bundleID)
            let renewal = try renewalInfo?.renewalInfo(by: trust.verifier)
            log.unread(verified.unreadFields + (renewal?.unreadFields ?? []))
            guard renewal.map({ $0.belongs(to: verified) }) ?? true else { return nil }
            return StoreAnswer.Item(
                statement: StoreStatement(
                    purchase: StorePurchase(verified), renewal: renewal.map { StoreRenewal($0, status: status) },
                    standing: status.map { StoreStanding(isRevoked: $0 == .revoked, at: verified.signedDate) }),
                evidence: transaction.evidence)
        } catch {
            return nil
        }
    }
}

extension AppleEnvironment {
    init(_ environment: Domain.Environment) {
        switch environment {
        case .production: self = .production
        case .sandbox: self = .sandbox
        case .xcode: self = .xcode
        }
    }
}

extension StoreSyncError {
    init(_ error: AppStoreServerError) {
        switch error {
        case .retryable(_, let after): self = .retryable(after: after.map { Timestamp(($0 + 999).flooredSeconds) })
        case .unknownTransactionYet: self = .unknownYet
        case .pagingExpired: self = .startAgain
        case .outcomeUnknown: self = .retryable(after: nil)
        case .notFound, .pagingLoop, .tooManyPages, .unauthorized, .permanent, .unexpectedReply, .invalidRequest,
            .environmentNotConfigured:
            self = .refused(error.description)
        }
    }
}
