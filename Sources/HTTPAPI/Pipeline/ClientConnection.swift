/// The connection of the request that is being answered, for an answer that lasts until its client is gone.
package struct ClientConnection: Sendable {
    /// nil where there is no connection, as in tests without a socket.
    @TaskLocal package static var current: ClientConnection?

    /// Calls a closure, once, when the client closes the connection or its side of it; nil ends the watch.
    package let whenEnded: @Sendable ((@Sendable () -> Void)?) -> Void

    package init(whenEnded: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) { self.whenEnded = whenEnded }
}
