import ServiceLifecycle

/// Closes the store when everything that uses it has stopped.
struct StoreCloser: Service {
  let store: any NoteStore

  func run() async throws {
    // If this throws, the server is not stopped gracefully but torn down, and requests may still be using the store.
    // The store then stays open, and the database recovers from its log when it is opened next.
    try await gracefulShutdown()
    try store.close()
  }
}
