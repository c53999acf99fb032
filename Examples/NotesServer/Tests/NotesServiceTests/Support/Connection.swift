import NIOCore
import NIOPosix

/// Connects to a server, for requests that no HTTP client would send.
func withConnection(
  port: Int,
  _ operation: (NIOAsyncChannelInboundStream<ByteBuffer>, NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws ->
    Void
) async throws {
  let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .connect(host: "localhost", port: port) { channel in
      channel.eventLoop.makeCompletedFuture {
        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
      }
    }
  try await channel.executeThenClose { inbound, outbound in try await operation(inbound, outbound) }
}

/// Reads what the other side sends until it closes the connection.
func readToEnd(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async throws -> String {
  var text = ""
  for try await part in inbound { text += String(buffer: part) }
  return text
}
