import Synchronization
import Testing

@testable import PaydeskServer

@Suite("Levels in the metrics")
struct PrometheusGaugeTests {
    @Test func `a level is asked for at each scrape, one series for each value of its label`() {
        let metrics = PrometheusMetrics()
        let levels = Mutex<[String: Int64]>(["stripe-main": 1, "a\"b": 0])
        metrics.observe(counter: "paydesk_z_total") { 7 }
        metrics.observe(gauge: "paydesk_account_health", by: "account") { levels.withLock { $0 } }
        let text = """
            # TYPE paydesk_z_total counter
            paydesk_z_total 7
            # TYPE paydesk_account_health gauge
            paydesk_account_health{account="a\\"b"} 0
            paydesk_account_health{account="stripe-main"} 1

            """
        #expect(metrics.text == text)
        levels.withLock { $0 = ["stripe-main": 0] }
        #expect(metrics.text.hasSuffix("paydesk_account_health{account=\"stripe-main\"} 0\n"))
    }
}
