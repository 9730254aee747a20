// Not compiled where it was written: there is no Xcode there. The SDK that it uses is tested on Linux, and its Apple
// parts are type-checked (make sdk). docs/ios.md says how to make a project of these files.

import PaydeskClient
import SwiftUI

/// A chat with a limit for those who are no members: the server counts, and says what lifts it.
struct ChatView: View {
    let services: Services
    @StateObject private var observed: Observed<LimitState>
    @State private var text = ""
    @State private var messages: [String] = []
    @State private var isMembershipShown = false

    init(services: Services) {
        self.services = services
        _observed = StateObject(wrappedValue: Observed(services.limit.state, services.limit.updates))
    }

    var body: some View {
        VStack {
            List(messages, id: \.self) { Text($0) }
            if let remaining = observed.state.usage?.remaining {
                Text(words("\(remaining) left today", "今天还可发送 \(remaining) 条")).font(.footnote)
            }
            if let prompt = observed.state.prompt ?? observed.state.message { Text(prompt).padding() }
            HStack {
                TextField(words("Message", "消息"), text: $text).textFieldStyle(.roundedBorder)
                Button(words("Send", "发送")) { Task { await send() } }.disabled(text.isEmpty)
            }
            .padding()
        }
        .sheet(isPresented: $isMembershipShown) { MembershipView(services: services) }
        .task { await services.limit.load() }
    }

    private func send() async {
        guard await services.limit.use() else {
            isMembershipShown = observed.state.isReached || services.limit.state.isReached
            return
        }
        messages.append(text)
        text = ""
    }
}
