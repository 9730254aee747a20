import CoreMetrics
import Domain
import Testing

@testable import PaydeskServer

@Suite("Histograms in the metrics")
struct PrometheusHistogramTests {
    @Test func `a timer is a histogram, and one that counted nothing is left out`() throws {
        let metrics = PrometheusMetrics()
        let timer = metrics.makeTimer(label: "paydesk_http_request_seconds", dimensions: [("route", "/v1/x")])
        _ = metrics.makeTimer(label: "paydesk_http_request_seconds", dimensions: [("route", "/v1/unused")])
        for milliseconds in [1, 3, 3, 20_000] { timer.recordNanoseconds(Int64(milliseconds) * 1_000_000) }
        let lines = metrics.text.split(separator: "\n").map(String.init)
        #expect(lines.first == "# TYPE paydesk_http_request_seconds histogram")
        let buckets = lines.filter { $0.hasPrefix(#"paydesk_http_request_seconds_bucket{route="/v1/x",le=""#) }
        #expect(buckets.count == LatencyHistogram.bounds.count + 1)
        #expect(buckets[0].hasSuffix(#"le="0.0005"} 0"#) && buckets[1].hasSuffix(#"le="0.001"} 1"#))
        #expect(buckets[2].hasSuffix(#"le="0.0025"} 1"#) && buckets[3].hasSuffix(#"le="0.005"} 3"#))
        #expect(buckets[13].hasSuffix(#"le="10.0"} 3"#) && buckets[14].hasSuffix(#"le="+Inf"} 4"#))
        #expect(lines.contains(#"paydesk_http_request_seconds_sum{route="/v1/x"} 20.007"#))
        #expect(lines.contains(#"paydesk_http_request_seconds_count{route="/v1/x"} 4"#))
        #expect(!metrics.text.contains("unused"))
    }

    @Test func `a histogram that other code keeps is read at each scrape`() {
        let (metrics, histogram) = (PrometheusMetrics(), LatencyHistogram())
        metrics.observe(histogram: "paydesk_database_call_seconds", "operation", "read", histogram)
        #expect(!metrics.text.contains("_count"))
        histogram.observe(nanoseconds: 500_000_000)
        let text = metrics.text
        #expect(text.contains(#"paydesk_database_call_seconds_count{operation="read"} 1"#))
        #expect(text.contains(#"paydesk_database_call_seconds_sum{operation="read"} 0.5"#))
    }
}
