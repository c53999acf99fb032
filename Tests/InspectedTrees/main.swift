import Foundation
import UDI
import UDIInspector

/// Trees for `.ci/inspector`, which looks at their pages in a browser.
///
///     InspectedTrees write TREE FOLDER
///
/// writes the page of a tree to a file.
///
///     InspectedTrees serve TREE
///
/// answers requests, one on each line of standard input. The answer is a line with the content type and the number of
/// bytes, and then these bytes; the line `404 0` stands for no answer. A line that begins with `!` changes the tree.
let words = CommandLine.arguments.dropFirst()

switch (words.first, words.dropFirst().first.flatMap(SampleTree.init(named:)), words.dropFirst(2).first) {
case ("write", let tree?, let folder?):
  try UDITreePage(tree.root).write(to: "\(folder)/\(tree.name).html")
case ("serve", let tree?, nil):
  let page = UDITreePage(tree.root)
  while let line = readLine() {
    if line.hasPrefix("!") {
      tree.change(String(line.dropFirst()))
      continue
    }
    let response = page.response(to: line)
    FileHandle.standardOutput.write(Data("\(response?.contentType ?? "404") \(response?.body.count ?? 0)\n".utf8))
    FileHandle.standardOutput.write(Data(response?.body ?? []))
  }
default:
  FileHandle.standardError.write(Data("usage: InspectedTrees write TREE FOLDER | serve TREE\n".utf8))
  exit(2)
}
