/// Where a connection comes from, as the gateway found out: the peer of its socket, or what a trusted proxy says of it.
package struct RemoteAddress: Hashable, Sendable {
    /// The address as text, for the log; empty if it is not known.
    package var text: String
    /// What attempts are counted by: the address itself, or the first 64 bits of an IPv6 address, since one subscriber has
    /// all addresses behind them (RFC 6177 §2). Empty if the address is not known.
    package var network: String

    /// An address from its parts.
    package init(text: String, network: String) {
        self.text = text
        self.network = network
    }

    /// Nothing is known, for example of a connection that never was on a network.
    package static let unknown = RemoteAddress(text: "", network: "")
}
