import Gateway
import Testing

/// Expects that a use case throws a not-found error, of whatever kind.
func expectNotFound<T>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> T
) async {
    do {
        _ = try await body()
        Issue.record("nothing was missed", sourceLocation: sourceLocation)
    } catch GatewayError.notFound, GatewayError.unknown {
        return
    } catch {
        Issue.record("\(error) instead of what is not found", sourceLocation: sourceLocation)
    }
}

/// Expects that a use case finds no account for the payment, for whatever reasons.
func expectNoProvider<T>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> T
) async {
    do {
        _ = try await body()
        Issue.record("somebody took it", sourceLocation: sourceLocation)
    } catch GatewayError.noProvider {
        return
    } catch {
        Issue.record("\(error) instead of no provider", sourceLocation: sourceLocation)
    }
}
