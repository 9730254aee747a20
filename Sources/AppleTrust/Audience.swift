import RefusalReasons

/// The apps and environments that this installation accepts.
struct Audience: Sendable {
    let apps: [String: AppleApp]
    let environments: Set<AppleEnvironment>

    func checkApp(_ bundleID: String) throws(AppleRefusal) {
        guard apps[bundleID] != nil else {
            throw AppleRefusal(.wrongApp, "signed for \(bundleID), which is not configured")
        }
    }

    func environment(_ name: String) throws(AppleRefusal) -> AppleEnvironment {
        guard let environment = AppleEnvironment(appleName: name), environments.contains(environment) else {
            throw AppleRefusal(.wrongEnvironment, "signed in \(name), which is not accepted")
        }
        return environment
    }
}
