import AppStoreBox
import FoundationEssentials
import Gateway
import HTTPTypes

/// Routes of Apple's server API below `/dev/appstore`, in Apple's shapes; the bearer is checked by the box itself.
struct AppStoreBoxServerAPIRoutes {
    let api: ServerAPI

    var routes: [Route] {
        [
            route("readAppleTransaction", .get, "/inApps/v1/transactions/{id}"),
            route("listAppleHistory", .get, "/inApps/v2/history/{id}"),
            route("listAppleRefunds", .get, "/inApps/v2/refund/lookup/{id}"),
            route("listAppleSubscriptions", .get, "/inApps/v1/subscriptions/{id}"),
            route("findAppleOrder", .get, "/inApps/v1/lookup/{id}"),
            route("extendAppleSubscription", .put, "/inApps/v1/subscriptions/extend/{id}"),
            route("sendAppleConsumption", .put, "/inApps/v2/transactions/consumption/{id}"),
            route("requestAppleTest", .post, "/inApps/v1/notifications/test"),
            route("readAppleTest", .get, "/inApps/v1/notifications/test/{token}"),
            route("listAppleNotifications", .post, "/inApps/v1/notifications/history"),
            route("verifyReceiptInBox", .post, "/verifyReceipt"),
            route("sendAppleExternalReport", .put, "/externalPurchase/v1/reports"),
            route("readAppleExternalReport", .get, "/externalPurchase/v1/reports/{id}"),
        ]
    }

    private func route(_ id: String, _ method: HTTPRequest.Method, _ path: String) -> Route {
        Route(
            id, method, "/dev/appstore" + path, .anyone, nil, "A call of Apple's server API",
            bodyLimit: path == "/verifyReceipt" ? 2 << 20 : 256 << 10, answers: .json(.any), idempotency: .ignored,
            isLocal: true, errors: .bare
        ) { (call) async throws(GatewayError) in
            let given = call.request.path?.prefix { $0 != "?" } ?? ""
            let request = ServerAPIRequest(
                method: method.rawValue, path: String(given.dropFirst("/dev/appstore".count)), query: call.queryText,
                authorization: call.request.headerFields[.authorization], body: Array(call.body))
            let answer: ServerAPIAnswer
            do { answer = try await api.answer(request) } catch let error as GatewayError { throw error } catch {
                throw .internalError
            }
            return .raw(
                status: HTTPResponse.Status(code: answer.status),
                contentType: answer.headers["Content-Type"] ?? "application/json", body: Data(answer.body),
                headers: answer.headers.compactMap { name, value in
                    name == "Content-Type" ? nil : HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
                })
        }
    }
}
