import UDI
import UDIInspector

/// Writes a page that shows the tree as it is now.
///
/// - Parameter file: The path of the file to write.
@MainActor
func write(page file: String) {
  do {
    try UDITreePage(AppContext).write(to: file)
  } catch {
    terminal.complain("\(error)")
  }
}
