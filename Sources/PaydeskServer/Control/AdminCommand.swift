import Domain
import Foundation
import Gateway
import Store

/// A command that writes.
///
/// The process that owns the database runs it; where that is `serve`, it gets the command over the control socket.
enum AdminCommand: Codable, Sendable {
    case createKey(name: String, partner: String?, scopes: [String])
    case revokeKey(id: String)
    case importCatalogue([SKU])
    case importStoreKit(StoreKitImport)
    case backup(path: String)
    case reseal
    case rotateSigning
    case holdBilling(reason: String)
    case readClock
    case moveClock(ClockRequest)
    case trigger(TriggerRequest)
}

/// The result of an admin command.
enum AdminResult: Codable, Sendable {
    case key(id: String, key: String)
    case revoked(id: String)
    case imported(CatalogueImport)
    case importedStoreKit(StoreKitOutcome)
    case backedUp(path: String)
    case resealed(ResealedSecrets)
    case rotated(kid: String)
    case held
    case clock(ClockView)
    case triggered(TriggeredEvent)
    case refused(message: String, exitCode: Int32)
}

extension AdminCommand {
    func run(_ gateway: Gateway) async -> AdminResult {
        let context = CallContext(
            actor: .system("command line"), requestID: gateway.ids.make(Domain.Request.self).rawValue)
        do {
            switch self {
            case .createKey(let name, let partner, let scopes):
                let issued = try await gateway.keys.create(
                    name: name, partner: partner, scopes: scopes, context: context)
                return .key(id: issued.id.rawValue, key: issued.key)
            case .revokeKey(let id):
                try await gateway.keys.revoke(id, context: context)
                return .revoked(id: id)
            case .importCatalogue(let skus):
                return .imported(try await gateway.catalogue.merge(skus, context: context))
            case .importStoreKit(let file):
                return .importedStoreKit(try await gateway.catalogue.importStoreKit(file, context: context))
            case .readClock: return .clock(try await gateway.businessClock.read())
            case .moveClock(let request):
                return .clock(try await gateway.businessClock.move(request, context: context))
            case .trigger(let request):
                return .triggered(try await gateway.triggers.make(request, context: context))
            case .rotateSigning: return .rotated(kid: try await gateway.signedSnapshots.rotate(context: context))
            case .holdBilling(let reason):
                _ = try await gateway.billingHold.begin(reason: reason, context: context)
                return .held
            case .reseal: return .resealed(try await gateway.secrets.reseal())
            case .backup(let path):
                guard let engine = gateway.store.engine as? SQLiteEngine else {
                    return .refused(
                        message: "paydesk: this database is PostgreSQL; back it up with pg_dump", exitCode: 2)
                }
                try await engine.backup(to: path)
                return .backedUp(path: path)
            }
        } catch {
            return Self.refusal(error)
        }
    }

    private static func refusal(_ error: any Error) -> AdminResult {
        switch error {
        case GatewayError.invalidRequest(let field, let reason):
            return .refused(message: "paydesk: \(field): \(reason)", exitCode: 2)
        case GatewayError.conflict(let reason, _): return .refused(message: "paydesk: \(reason)", exitCode: 2)
        case let refusal as TriggerRefusal: return .refused(message: "paydesk: \(refusal)", exitCode: 2)
        case GatewayError.skuNotFound(let id):
            return .refused(message: "paydesk: there is no SKU \(id.shownOnOneLine)", exitCode: 2)
        case GatewayError.noProvider, GatewayError.noProviderAvailable:
            return .refused(message: "paydesk: no account can sell this SKU", exitCode: 2)
        case GatewayError.clockIsMoving:
            return .refused(message: "paydesk: the clock is being moved; try again when that is done", exitCode: 2)
        case GatewayError.notFound:
            return .refused(message: "paydesk: only development mode has a clock that can be moved", exitCode: 2)
        case GatewayError.unknown(.key, _): return .refused(message: "paydesk: there is no such key", exitCode: 2)
        default:
            let failure = CommandError.store(error)
            return .refused(message: failure.message, exitCode: failure.exitCode)
        }
    }
}
