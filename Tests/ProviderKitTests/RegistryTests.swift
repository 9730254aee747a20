import Domain
import Foundation
import ProviderKit
import Testing

struct RegistryTests {
    @Test func `an override replaces what it names and nothing else`() {
        let box = account("box", AccountRouting(priority: 7))
        let routing = AccountRouting(priority: 9, weight: 2)
        #expect(box.applying(nil).enabled && box.applying(nil).routing.priority == 7)
        let off = box.applying(AccountOverride(enabled: false))
        #expect(!off.enabled && off.routing == box.routing && off.notifyToken == "token-box" && off.id == box.id)
        let moved = box.applying(AccountOverride(routing: routing))
        #expect(moved.enabled && moved.routing == routing)
        #expect(box.applying(AccountOverride()).routing == box.routing)
    }

    @Test func `accounts are found by id and by token`() {
        let registry = ProviderRegistry(
            kinds: [FakeProvider.self], accounts: [account("b"), account("a"), account("c")])
        #expect(registry.accounts.map(\.id.rawValue) == ["a", "b", "c"])
        #expect(registry[AccountID("b")!]?.id.rawValue == "b" && registry[AccountID("x")!] == nil)
        #expect(registry.account(notifyToken: "token-c")?.id.rawValue == "c")
        #expect(registry.account(notifyToken: "token") == nil && registry.account(notifyToken: "") == nil)
        #expect(Array(registry.kinds.keys) == ["fake"])
    }

    @Test func `an empty routing restricts nothing`() throws {
        let routing = try JSONDecoder().decode(AccountRouting.self, from: Data("{}".utf8))
        #expect(routing == AccountRouting())
        #expect(routing.weight == 1 && routing.priority == 0 && routing.min == nil && routing.platforms.isEmpty)
    }

    @Test func `routing survives its JSON`() throws {
        let routing = AccountRouting(
            platforms: [.ios], currencies: [Currency("CNY")!], priority: 3, weight: 0, min: 1, max: nil, skus: ["a"])
        #expect(try JSONDecoder().decode(AccountRouting.self, from: JSONEncoder().encode(routing)) == routing)
    }

    @Test(arguments: [
        #"{"platforms":["fridge"]}"#, #"{"currencies":["XXX"]}"#, #"{"weight":"much"}"#, #"{"priority":1.5}"#, "[]",
    ])
    func `routing of the wrong form is refused`(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(AccountRouting.self, from: Data(json.utf8)) }
    }
}
