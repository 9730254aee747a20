import Gateway
import Synchronization
import Testing

@testable import PaydeskServer

@Suite("The line that shows the progress of a command")
struct ProgressLineTests {
    @Test func `a part is shown at once, its counts ten times a second, and the end clears the line`() {
        let text = Mutex("")
        let now = Mutex(ContinuousClock.now)
        let line = ProgressLine(now: { now.withLock { $0 } }, write: { part in text.withLock { $0 += part } })
        func shown(after time: Duration = .zero, _ act: () -> Void) -> String {
            now.withLock { $0 += time }
            text.withLock { $0 = "" }
            act()
            return text.withLock { $0 }
        }
        #expect(shown { line.end() } == "")
        var orders = line.progress.begin("orders")
        #expect(text.withLock { $0 } == "\r\u{1B}[Korders: 0")
        #expect(shown { orders.add(200) } == "")
        #expect(shown(after: .milliseconds(100)) { orders.add(200) } == "\r\u{1B}[Korders: 400")
        #expect(shown { _ = line.progress.begin("users") } == "\r\u{1B}[Kusers: 0")
        #expect(shown { line.end() } == "\r\u{1B}[K")
        #expect(shown { line.end() } == "")
    }
}
