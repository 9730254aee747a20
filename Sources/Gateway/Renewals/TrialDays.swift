import Domain
import Store

/// The trials that a user would have.
struct TrialDays {
    private let user: ID<User>?
    private let environment: Environment
    private let secrets: MandateSecrets
    private let db: any Database

    /// - Parameter user: nil for somebody who was never seen, and who may have every trial.
    init(of user: ID<User>?, _ environment: Environment, _ secrets: MandateSecrets, in db: any Database) {
        self.user = user
        self.environment = environment
        self.secrets = secrets
        self.db = db
    }

    /// Returns the days of the trial of each managed SKU that has one, by its id.
    func ofAll(_ skus: [SKU]) throws -> [String: Int64] {
        let trials = skus.filter { $0.renewal == .managed && $0.trialDays > 0 }
        guard !trials.isEmpty else { return [:] }
        var eligible: [String: Bool] = [:]
        for group in Set(trials.map(\.stackGroup)) { eligible[group] = try isEligible(for: group) }
        return Dictionary(
            uniqueKeysWithValues: trials.map { ($0.id, eligible[$0.stackGroup] == true ? $0.trialDays : 0) })
    }

    /// Returns whether no subscription, pass or trial of the group was ever the user's.
    func isEligible(for group: String) throws -> Bool {
        guard let user else { return true }
        let claim = TrialClaim(
            environment: environment, group: group, kind: .user, digests: secrets.digests(user.rawValue))
        return try !db.managedSubscriptions.hasBegun(of: user, environment, group: group)
            && !db.managedSubscriptions.isClaimed(claim)
            && !GroupHoldings(of: user, environment, in: db).hasHad(group)
    }
}
