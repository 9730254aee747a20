// Not compiled where it was written: there is no Xcode there. The SDK that it uses is tested on Linux, and its Apple
// parts are type-checked (make sdk). docs/ios.md says how to make a project of these files.

import PaydeskApplePay
import PaydeskClient
import PaydeskStoreKit
import SwiftUI

@main
struct ExampleApp: App {
    @StateObject private var services = Services()

    var body: some Scene {
        WindowGroup {
            TabView {
                ChatView(services: services).tabItem { Label(words("Chat", "聊天"), systemImage: "message") }
                DeviceShopView(services: services)
                    .tabItem { Label(words("Devices", "设备"), systemImage: "antenna.radiowaves.left.and.right") }
                MembershipView(services: services)
                    .tabItem { Label(words("Membership", "会员"), systemImage: "crown") }
            }
            // The queue and the stream begin in the app's first moment, before anybody buys.
            .task { await services.run() }
        }
    }
}

/// Everything that lives as long as the app.
@MainActor
final class Services: ObservableObject {
    let desk: Paydesk
    let queue: PurchaseCoordinator<StoreKitStorefront>
    let entitlements: EntitlementStore
    let membership: MembershipModel<StoreKitStorefront>
    let shop: ShopModel<StoreKitStorefront>
    let limit: LimitModel

    init() {
        // The address of your server, and the token of your own login.
        let server = URL(string: "http://127.0.0.1:8080") ?? URL(fileURLWithPath: "/")
        desk = Paydesk(baseURL: server, token: { try Login.token() }, storage: .applicationSupport)
        queue = PurchaseCoordinator(desk: desk, storefront: StoreKitStorefront(scene: { Self.scene }))
        entitlements = EntitlementStore(desk: desk, verifier: CryptoKitVerifier())
        membership = MembershipModel(coordinator: queue, entitlements: entitlements)
        shop = ShopModel(coordinator: queue, entitlements: entitlements)
        limit = LimitModel(
            desk: desk, meter: "messages", unit: LimitUnit(english: "messages", chinese: "条消息"))
    }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.queue.run() }
            group.addTask { await self.entitlements.run() }
            group.addTask { await self.membership.run() }
            group.addTask { await self.shop.run() }
        }
    }

    /// To be called after a login, a logout, and when the app comes to the foreground.
    func userChanged() async {
        await queue.retryNow()
        await entitlements.retryNow()
        await membership.load()
        await limit.load()
    }

    private static var scene: UIWindowScene? {
        UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
            .first { $0.activationState == .foregroundActive }
    }
}

/// Your own login.
///
/// For a first try: `paydesk token --user demo`, stored under `token`.
enum Login {
    struct LoggedOut: Error {}

    static func token() throws -> String {
        guard let token = UserDefaults.standard.string(forKey: "token") else { throw LoggedOut() }
        return token
    }
}

/// The text in the device's language.
func words(_ english: String, _ chinese: String) -> String { ClientLanguage.preferred.choose(english, chinese) }

/// A model's state for SwiftUI.
@MainActor
final class Observed<State: Sendable>: ObservableObject {
    @Published private(set) var state: State
    private var following: Task<Void, Never>?

    init(_ state: State, _ updates: AsyncStream<State>) {
        self.state = state
        following = Task { [weak self] in
            for await next in updates { self?.state = next }
        }
    }

    deinit { following?.cancel() }
}
