import ServiceLifecycle

/// Closes the store when everything that uses it has stopped.
struct StoreCloser: Service {
  let store: any NoteStore

  func run() async throws {
    // Where this throws, the server is not stopped but torn down, and requests may be using the store: it stays open then, and the
    // database's log brings it in order when it is opened next.
    try await gracefulShutdown()
    try store.close()
  }
}
