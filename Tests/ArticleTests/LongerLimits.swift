/// The articles' limits, a hundred times as long.
///
/// Thousands of tests share the processors here, so what takes a moment in a program may take a minute.
extension Duration {
  nonisolated static func seconds(_ seconds: Int) -> Duration { .milliseconds(seconds * 100_000) }
}
