/// A path as all messages spell it: the tags from the root on.
func describePath(_ tags: [String]) -> String {
  tags.map(oneLine).joined(separator: " / ")
}
