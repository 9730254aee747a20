import Domain
import Foundation
import Gateway
import HTTPTypes
import ProviderKit
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("The OpenAPI document")
struct OpenAPITests {
    @Test
    func `every route is described`() async throws {
        try await withCounter(on: .sqlite, .development) { counter in
            let routes = counter.api.routes
            try #require(routes.count > 80)
            #expect(Set(routes.map { "\($0.method) \($0.path)" }).count == routes.count)
            #expect(Set(routes.map(\.id)).count == routes.count)
            let hidden = routes.filter { $0.description.tag == nil }.map(\.path)
            // Pages and their files are for browsers.
            let pages = ["/pay/", "/portal/", "/console", "/assets/", "/sdk/"]
            let rest = hidden.filter { path in !pages.contains { path.hasPrefix($0) } }
            let documentation = ["/openapi.json", "/docs", "/docs/{language}", "/docs/{language}/{page}"]
            #expect(rest == ["/robots.txt", "/favicon.ico", "/"] + documentation)
            let tags = Set(Route.Tag.all.map(\.name))
            for route in routes {
                #expect(route.path.matches(of: /\{([a-z_]+)\}/).map { String($0.1) }.count <= 2)
                let description = route.description
                #expect(description.tag.map { tags.contains($0.name) } ?? true, "\(route.id)")
                #expect(!description.summary.hasSuffix("."), "\(route.id)")
                // A GET has no body.
                #expect(route.method != .get || description.body == nil, "\(route.id)")
                for name in description.parameters.keys { #expect(route.path.contains("{\(name)}")) }
            }
        }
    }

    @Test
    func `the document is served, and every reference in it leads somewhere`() async throws {
        try await withCounter { counter in
            let reply = try await counter.get("/openapi.json")
            #expect(reply.status == 200 && reply.header("Content-Type") == "application/json; charset=utf-8")
            let document = try reply.json
            #expect(document.text("openapi") == "3.1.1")
            #expect(document["info"].text("version") == "0.0.0-test")
            let key = document["components"]["parameters"]["IdempotencyKey"]
            #expect(key.text("description").contains("30 days unless the operator says otherwise"))
            #expect(document == counter.documented.document)
            let answers = DocumentedAnswers(document: document)
            let references = Self.references(in: document)
            try #require(references.count > 50)
            for reference in references {
                #expect(answers.resolved(.object(["$ref": .string(reference)])) != .null, "\(reference)")
            }
            let used = Set(references)
            for (kind, components) in document["components"].members where kind != "securitySchemes" {
                for name in components.names { #expect(used.contains("#/components/\(kind)/\(name)"), "\(name)") }
            }
            let message = answers.resolved(.object(["$ref": .string("#/components/schemas/WebhookMessage")]))
            #expect(message["properties"].names == ["type", "timestamp", "seq", "sequence", "subject", "data"])
            let tags = Set(document["tags"].elements.map { $0["name"] })
            for operations in document["paths"].members.values {
                for operation in operations.members.values {
                    #expect(operation["tags"].elements.count == 1)
                    #expect(tags.isSuperset(of: operation["tags"].elements))
                }
            }
        }
    }

    /// Generated clients make a type for each unnamed schema, and the documentation shows the examples.
    @Test
    func `every body and answer has a name and an example that fits`() async throws {
        try await withCounter { counter in
            let answers = counter.documented
            let document = answers.document
            #expect(Set(["Error", "Money", "PaymentContract"]).isSubset(of: document["components"]["schemas"].names))
            for (name, schema) in document["components"]["schemas"].members {
                let named = schema["oneOf"].elements.filter { $0["$ref"] != .null }
                #expect(named.count < 2 || schema["discriminator"] != .null, "\(name)")
            }
            for (path, operations) in document["paths"].members {
                for (method, operation) in operations.members {
                    var contents = [("body", operation["requestBody"]["content"])]
                    for (status, response) in operation["responses"].members {
                        contents.append((status, answers.resolved(response)["content"]))
                    }
                    var hasExample = operation["parameters"].elements.contains { $0["example"] != .null }
                    for (place, content) in contents {
                        for (type, media) in content.members {
                            let examples =
                                [media["example"]].filter { $0 != .null }
                                + media["examples"].members.values.map { $0["value"] }
                            hasExample = hasExample || !examples.isEmpty
                            guard type == "application/json" else { continue }
                            if path.hasPrefix("/v1/") && place != "body" {
                                #expect(media["schema"]["properties"] == .null, "\(method) \(path) \(place)")
                            }
                            for example in examples {
                                let faults = answers.faults(example, media["schema"], isStrict: true, at: place)
                                #expect(faults.isEmpty, "\(method) \(path) \(place): \(faults)")
                            }
                        }
                    }
                    #expect(hasExample, "\(method) \(path)")
                }
            }
        }
    }

    @Test
    func `who may call, and what is refused, comes with the endpoint`() async throws {
        try await withCounter { counter in
            let paths = try await counter.get("/openapi.json").json["paths"]
            let checkout = paths["/v1/public/checkout"]["post"]
            let user = JSONValue.object(["user": .array([])])
            #expect(checkout["security"] == .array([user, .object(["session": .array([])])]))
            #expect(paths["/v1/public/sessions"]["post"]["security"] == .array([user]))
            let statuses: Set = [
                "200", "400", "401", "403", "404", "409", "413", "415", "422", "429", "431", "500", "502", "503",
            ]
            #expect(checkout["responses"].names == statuses)
            #expect(
                paths["/v1/public/orders"]["get"]["responses"].names == [
                    "200", "400", "401", "403", "429", "431", "500", "503",
                ])
            let orders = paths["/v1/partner/orders"]["get"]["security"]
            #expect(orders == .array([.object(["key": .array([.string("orders:read")])])]))
            let skus = paths["/v1/admin/skus"]["get"]["security"]
            #expect(skus.elements.count == 2)
            #expect(paths["/healthz"]["get"]["security"] == .array([]))
        }
    }

    /// Every call of a ``Counter`` is compared with the document; no other test calls these routes with success.
    @Test(arguments: TestEngine.allCases)
    func `the routes that are only read answer as described`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            try await apple.attach(apple.period("told", from: 0))
            let subscription = try #require(try await apple.subscriptions().first).id.rawValue
            let (alice, partner) = (try await counter.token(), try await counter.key("entitlements:read").key)
            for (path, bearer) in [
                ("/v1/public/subscriptions", alice), ("/v1/public/subscriptions/\(subscription)", alice),
                ("/v1/partner/users/alice/subscriptions", partner),
                ("/v1/admin/users/alice/subscriptions", counter.adminKey),
            ] {
                let reply = try await counter.get(path, bearer)
                #expect(reply.status == 200 && reply.text.contains(subscription), "\(path): \(reply)")
            }
        }
        try await withCounter(on: engine) { counter in
            let alice = try await counter.token()
            let order = try await counter.checkout(alice, #","provider":"box-qr""#).text("order_id")
            for (path, bearer) in [
                ("/v1/admin/providers", counter.adminKey), ("/v1/admin/api-keys", counter.adminKey),
                ("/v1/admin/skus/vip_month", counter.adminKey), ("/v1/public/usage/messages", alice),
                ("/v1/public/orders/\(order)/contract", alice),
            ] {
                let reply = try await counter.get(path, bearer)
                #expect(reply.status == 200, "\(path): \(reply)")
            }
            for (act, body) in [
                ("refresh", "{}"), ("checkout", #"{"platform":"web","accept":["url"],"return_url":null}"#),
                ("cancel", "{}"),
            ] {
                let reply = try await counter.post("/v1/public/orders/\(order)/\(act)", alice, body)
                #expect(reply.status == 200, "\(act): \(reply)")
            }
        }
    }

    /// Tests the comparison itself: it finds the faults that would break a client.
    @Test(arguments: [
        (#"{"code":200,"msg":"success","data":{"items":[],"next_cursor":null},"request_id":"r"}"#, 200, true),
        (#"{"code":200,"msg":"success","data":{"items":[]},"request_id":"r"}"#, 200, false),
        (#"{"code":200,"msg":"success","data":{"items":[],"next_cursor":7},"request_id":"r"}"#, 200, false),
        (#"{"code":200,"msg":"success","data":{"items":[],"next_cursor":null,"more":1},"request_id":"r"}"#, 200, false),
        (
            #"{"code":200,"msg":"success","data":{"items":[{"id":"x"}],"next_cursor":null},"request_id":"r"}"#, 200,
            false
        ),
        (#"{"code":401,"msg":"","error":"unauthenticated","details":{},"request_id":"r"}"#, 401, true),
        (#"{"code":401,"msg":"","error":"forbidden","details":{},"request_id":"r"}"#, 401, false),
        (#"{}"#, 418, false), ("text", 200, false),
    ])
    func `an answer that is not as described is found`(_ text: String, _ status: Int, _ fits: Bool) async throws {
        try await withCounter { counter in
            let answers = counter.documented
            let reply = Reply(status: status, headers: [:], text: text)
            #expect(answers.faults(.get, "/v1/public/orders?limit=2", sent: nil, reply).isEmpty == fits)
        }
    }

    private static func references(in value: JSONValue) -> [String] {
        switch value {
        case .object(let members):
            members.flatMap { name, member -> [String] in
                if name == "$ref", case .string(let reference) = member { return [reference] }
                return references(in: member)
            }
        case .array(let elements): elements.flatMap(references)
        default: []
        }
    }
}
