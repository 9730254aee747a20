import Domain

/// The address to which `paydesk listen` forwards events: a developer's own server.
struct ForwardTarget: Sendable, Equatable {
    let address: String

    /// - Throws: exit 2 for what is no address with http or https, and for another machine's where that is not allowed.
    init(_ text: String, allowsRemote: Bool) throws(CommandError) {
        guard let address = WebAddress(text), address.isWeb, !address.rest.contains("#") else {
            throw .usage(
                "paydesk: --forward-to is an address with http:// or https://, such as http://127.0.0.1:3000/hook")
        }
        guard allowsRemote || address.isLoopback else {
            throw .usage(
                "paydesk: \(address.host) is another machine, to which events go only with --allow-remote")
        }
        self.address = text
    }
}
