import ProviderTesting
import Testing

struct PiggyConformanceTests {
    @Test func `piggy conforms`() async {
        let report = await ProviderConformance("piggy") { PiggyRehearsal() }.run()
        #expect(report.isGreen, "\(report)")
    }
}
