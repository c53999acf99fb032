import GRDB

/// Opens the database.
///
/// - Parameter storage: Where the database is.
/// - Returns: The database. For a file it is a pool, whose readers need not wait for the writer; in memory it is a
///   single connection.
/// - Throws: An error if the database cannot be opened.
func openDatabase(_ storage: NotesConfiguration.Storage) throws -> any DatabaseWriter {
  var settings = Configuration()
  // Another process, such as a backup, may have the file open.
  settings.busyMode = .timeout(30)
  switch storage {
  case .memory: return try DatabaseQueue(configuration: settings)
  case .file(let path):
    do { return try DatabasePool(path: path, configuration: settings) } catch {
      throw UnusableFile(path: path, reason: "\(error)")
    }
  }
}
